package heddle_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle"
	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
)

// mute is a model that is never asked.
type mute struct{}

func (mute) Generate(context.Context, activities.ModelRequest, func(activities.ModelDelta)) (activities.ModelResponse, error) {
	panic("asked")
}

func echo(_ context.Context, in struct{ Text string }) (string, error) { return in.Text, nil }

func configFile(t *testing.T, text string) heddle.Option {
	t.Helper()
	dir := t.TempDir()
	script := "turns:\n  - steps: [{text: hi}]\n"
	for name, content := range map[string]string{"heddle.yaml": text, "script.yaml": script} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return heddle.ConfigFile(filepath.Join(dir, "heddle.yaml"))
}

const sound = `
models: {play: {provider: scripted, script: script.yaml}}
agents:
  a: {model: play, instructions: hi, tools: ["test.*"]}
`

func TestNewPutsProgramAndFileTogether(t *testing.T) {
	_, err := heddle.New(
		configFile(t, sound+"  b: {model: mine, instructions: hi}\n"),
		heddle.Tool("test.echo", "Echoes.", echo),
		heddle.Model("mine", mute{}),
		heddle.Agent{Name: "c", Instructions: "hi", Model: "play"},
	)
	if err != nil {
		t.Errorf("New: %v", err)
	}
}

func TestNewNeedsNoFile(t *testing.T) {
	_, err := heddle.New(heddle.Model("mine", mute{}), heddle.Agent{Name: "a", Instructions: "hi", Model: "mine"})
	if err != nil {
		t.Errorf("New: %v", err)
	}
}

func TestNewNamesEveryProblem(t *testing.T) {
	t.Setenv("NO_SUCH_KEY", "")
	agent := heddle.Agent{Name: "x", Instructions: "hi", Model: "mine"}
	model := heddle.Model("mine", mute{})
	with := func(change func(*heddle.Agent)) heddle.Option {
		changed := agent
		change(&changed)
		return changed
	}
	file := func(text string) heddle.Option { return configFile(t, text) }
	tests := []struct {
		name    string
		options []heddle.Option
		want    []string
	}{
		{"nothing", nil, []string{"there is no agent"}},
		{"no such file", []heddle.Option{heddle.ConfigFile("none.yaml")}, []string{"none.yaml: file does not exist"}},
		{
			"a broken file hides nothing else",
			[]heddle.Option{
				file("task_queue: 7\nzebra: 1\n"), heddle.Tool("bad id", "x", echo),
				with(func(a *heddle.Agent) { a.Name, a.Model = "a b", "in-the-file" }),
			},
			[]string{"heddle.yaml:1:1: task_queue: want text", "heddle.yaml:2:1: zebra: unknown field", `tool "bad id"`, `agent "a b"`},
		},
		{
			"unknown model in the file",
			[]heddle.Option{file(strings.Replace(sound, "model: play", "model: large", 1)), model},
			[]string{`heddle.yaml:4:7: agents.a.model: there is no model "large"; there are mine, play`},
		},
		{
			"unknown model in the program",
			[]heddle.Option{with(func(a *heddle.Agent) { a.Model = "large" })},
			[]string{`agent "x": there is no model "large"; there are none`},
		},
		{
			"a script that is not there",
			[]heddle.Option{file(strings.Replace(sound, "script: script.yaml", "script: none.yaml", 1))},
			[]string{`agents.a.model: model "play": `},
		},
		{
			"a key that is not set",
			[]heddle.Option{file(strings.Replace(sound, "provider: scripted, script: script.yaml", "provider: openai, model: m, api_key_env: NO_SUCH_KEY", 1))},
			[]string{`agents.a.model: model "play": needs a key: set the environment variable NO_SUCH_KEY`},
		},
		{
			"twice by the program",
			[]heddle.Option{model, model, agent, agent},
			[]string{`model "mine": is added twice`, `agent "x": is added twice`},
		},
		{
			"in the program and in the file",
			[]heddle.Option{
				file(sound), heddle.Model("play", mute{}),
				heddle.Agent{Name: "a", Instructions: "hi", Model: "play"},
			},
			[]string{
				"models.play: the program adds a model of that name too",
				"agents.a: the program adds an agent of that name too",
			},
		},
		{
			"an agent that cannot be",
			[]heddle.Option{model, with(func(a *heddle.Agent) {
				a.Instructions, a.MaxOutputTokens, a.Tools, a.Limits.Steps = "", -1, []string{"*.x"}, -1
			})},
			[]string{"has no instructions", "max output tokens are -1", "glob over tools", "a limit is negative"},
		},
		{"nil", []heddle.Option{heddle.Model("mine", nil), agent, heddle.Source(nil)}, []string{`model "mine": is nil`, "a source of tools is nil"}},
		{
			"one tool id twice",
			[]heddle.Option{model, agent, heddle.Tool("test.echo", "Echoes.", echo), heddle.Tool("test.echo", "Echoes.", echo)},
			[]string{`tool id "test.echo" is used twice: at app_test.go:`},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			app, err := heddle.New(test.options...)
			if err == nil || app != nil {
				t.Fatalf("New = %v, %v; want an error alone", app, err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not say %q:\n%v", want, err)
				}
			}
		})
	}
}

func TestAnUnusedModelNeedsNoKey(t *testing.T) {
	_, err := heddle.New(configFile(t, strings.Replace(sound, "models: {", "models: {live: {provider: openai, model: m, api_key_env: NO_SUCH_KEY}, ", 1)))
	if err != nil {
		t.Errorf("New: %v", err)
	}
}

func TestAServerOfOnesOwnNeedsNoKey(t *testing.T) {
	text := strings.Replace(sound, "provider: scripted, script: script.yaml", "provider: openai, model: m, base_url: 'http://localhost:11434/v1'", 1)
	if _, err := heddle.New(configFile(t, text)); err != nil {
		t.Errorf("New: %v", err)
	}
}

// hidden is a source that cannot be read now.
type hidden struct{}

func (hidden) Name() string { return "hidden" }

func (hidden) Tools(context.Context) ([]catalog.Tool, error) { return nil, context.DeadlineExceeded }

func TestASourceThatCannotBeReadIsNoMisconfiguration(t *testing.T) {
	if _, err := heddle.New(configFile(t, sound), heddle.Source(hidden{})); err != nil {
		t.Errorf("New: %v", err)
	}
}
