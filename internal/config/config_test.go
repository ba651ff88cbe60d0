package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/secrets"
)

const full = `
temporal:
  address: ${ADDRESS:-temporal:7233}
  namespace: prod
  profile: eu
task_queue: agents
stop_timeout: 45s
blobs: ${BUCKET}
models:
  large:
    provider: openai
    model: gpt-4.1
    base_url: https://models.example/v1
    api_key_env: OPENAI_API_KEY
    price: {input_per_million_usd: 2, output_per_million_usd: 8.25}
  play:
    provider: scripted
    script: play.yaml
agents:
  support:
    model: large
    instructions: |
      Be kind.
      Use ${NOTHING} as it is.
    max_output_tokens: 4096
    tools: [orders, docs.search]
    exposure: code
    eager: [orders.get]
    limits: {steps: 20, calls: 40, tokens: 90000, cost_usd: 0.5, time: 10m, approval_expiry: 24h}
  tester:
    model: ${TESTER:-play}
    instructions_file: tester.md
scripts:
  greet:
    description: Greets.
    code: |
      ` + "`hi ${input.name}`" + `
    input: {type: object}
  now: {description: Tells the time., file: now.ts}
`

func env(pairs map[string]string) Lookup {
	return func(name string) (string, bool) {
		value, ok := pairs[name]
		return value, ok
	}
}

func TestParse(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"tester.md": "\nTest it.\n", "now.ts": "Date.now()"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Parse(filepath.Join(dir, "heddle.yaml"), []byte(full), env(map[string]string{"BUCKET": "s3://blobs"}))
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		Temporal:    Temporal{Address: "temporal:7233", Namespace: "prod", Profile: "eu"},
		TaskQueue:   "agents",
		StopTimeout: 45 * time.Second,
		Blobs:       "s3://blobs",
		Secrets:     []secrets.Location{{Kind: secrets.KindEnv}},
		Models: []Model{
			{
				Name: "large", Provider: OpenAI, Model: "gpt-4.1", BaseURL: "https://models.example/v1",
				APIKeyEnv: "OPENAI_API_KEY", Price: activities.Price{Input: 2_000_000, Output: 8_250_000},
			},
			{Name: "play", Provider: Scripted, Script: filepath.Join(dir, "play.yaml")},
		},
		Agents: []Agent{
			{
				Name: "support", Model: "large", Instructions: "Be kind.\nUse ${NOTHING} as it is.\n",
				MaxOutputTokens: 4096, Tools: []string{"orders.*", "docs.search"}, Exposure: activities.ExposureCode, Eager: []string{"orders.get"},
				Limits: activities.Limits{
					Steps: 20, Calls: 40, Tokens: 90_000, CostMicros: 500_000,
					Time: 10 * time.Minute, ApprovalExpiry: 24 * time.Hour, ReconcileExpiry: 72 * time.Hour,
				},
			},
			{Name: "tester", Model: "play", Instructions: "Test it.", Limits: activities.DefaultLimits},
		},
		Scripts: []Script{
			{Name: "greet", Description: "Greets.", Code: "`hi ${input.name}`\n", Input: json.RawMessage(`{"type":"object"}`)},
			{Name: "now", Description: "Tells the time.", Code: "Date.now()", Input: json.RawMessage(noInput), File: "now.ts"},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}

func TestParseFillsInDefaults(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "comment": "# nothing\n", "null": "null\n", "spaces": "  \n\n"} {
		t.Run(name, func(t *testing.T) {
			got, err := Parse("/srv/app/heddle.yaml", []byte(text), env(nil))
			if err != nil {
				t.Fatal(err)
			}
			want := &Config{TaskQueue: "heddle", StopTimeout: 30 * time.Second, Blobs: "/srv/app/.heddle/blobs", Secrets: []secrets.Location{{Kind: secrets.KindEnv}}}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Config{})); diff != "" {
				t.Errorf("configuration (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseNamesThePlace(t *testing.T) {
	agent := "agents: {a: {model: m, instructions: hi, %s}}"
	with := func(field string) string { return strings.Replace(agent, "%s", field, 1) }
	tests := []struct {
		name, text string
		want       []string // each is the beginning of a line, in order
	}{
		{"unknown field", "task_queues: x", []string{"c.yaml:1:1: task_queues: unknown field; did you mean task_queue?"}},
		{"unknown field of another kind", "zebra: x", []string{"c.yaml:1:1: zebra: unknown field; known are temporal, task_queue,"}},
		{"unknown nested field", "agents:\n  a:\n    model: m\n    instructions: hi\n    tool: []\n", []string{
			"c.yaml:5:5: agents.a.tool: unknown field; did you mean tools?",
		}},
		{"wrong type", "task_queue: 7", []string{"c.yaml:1:1: task_queue: want text, found a whole number"}},
		{"mapping as text", "task_queue: {a: b}", []string{"c.yaml:1:1: task_queue: want text, found a mapping"}},
		{"list as mapping", "agents: [a]", []string{"c.yaml:1:1: agents: want a mapping, found a list"}},
		{"text as list", with("tools: orders.get"), []string{"c.yaml:1:42: agents.a.tools: want a list, found text"}},
		{"nothing", "blobs:", []string{"c.yaml:1:1: blobs: want text, found nothing"}},
		{"blank", `blobs: "  "`, []string{"c.yaml:1:1: blobs: is empty"}},
		{"scalar as document", "hello", []string{"c.yaml:1:1: want a mapping, found text"}},
		{"bad glob", with(`tools: ["orders.*", "*.get"]`), []string{"c.yaml:1:62: agents.a.tools[1]: "}},
		{"missing fields", "agents:\n  a: {}\n", []string{
			"c.yaml:2:3: agents.a: the field model is missing",
			"c.yaml:2:3: agents.a: want either instructions or instructions_file",
		}},
		{"both instructions", with("instructions_file: x.md"), []string{
			"c.yaml:1:10: agents.a: want either instructions or instructions_file",
			"c.yaml:1:42: agents.a.instructions_file: testdata/x.md: file does not exist",
		}},
		{"bad name", "models: {a b: {provider: scripted, script: x}}", []string{`c.yaml:1:10: models.a b: the name "a b" holds ' '`}},
		{"number as name", "models: {7: {provider: scripted, script: x}}", []string{"c.yaml:1:10: models.7: want a name as key"}},
		{"unknown provider", "models: {m: {provider: acme}}", []string{`c.yaml:1:14: models.m.provider: unknown provider "acme"; known are openai and scripted`}},
		{"openai without model", "models: {m: {provider: openai}}", []string{"c.yaml:1:10: models.m: the field model is missing"}},
		{"openai with script", "models: {m: {provider: openai, model: x, script: y}}", []string{"c.yaml:1:42: models.m.script: a model of provider openai has no such field"}},
		{"scripted without script", "models: {m: {provider: scripted}}", []string{"c.yaml:1:10: models.m: the field script is missing"}},
		{"empty model", "models: {m: {provider: openai, model: \"${NONE:-}\"}}", []string{"c.yaml:1:32: models.m.model: is empty"}},
		{"half a price", "models: {m: {provider: scripted, script: x, price: {input_per_million_usd: 1}}}", []string{
			"c.yaml:1:45: models.m.price: the field output_per_million_usd is missing",
		}},
		{"base url", "models: {m: {provider: openai, model: x, base_url: localhost}}", []string{"c.yaml:1:42: models.m.base_url: want a URL such as https://host/v1"}},
		{"credential in url", "models: {m: {provider: openai, model: x, base_url: 'https://u:hunter2@h/v1'}}", []string{"c.yaml:1:42: models.m.base_url: holds a credential"}},
		{"unknown sandbox", "sandbox: none", []string{`c.yaml:1:1: sandbox: unknown mode "none"`}},
		{"unknown exposure", with("exposure: magic"), []string{`c.yaml:1:42: agents.a.exposure: unknown exposure "magic"`}},
		{"eager without need", with("eager: [orders.*]"), []string{"c.yaml:1:42: agents.a.eager: has no effect: with exposure direct"}},
		{"bad eager glob", with("exposure: code, eager: ['a b']"), []string{"c.yaml:1:66: agents.a.eager[0]: "}},
		{"script without code", "scripts: {s: {description: d}}", []string{"c.yaml:1:11: scripts.s: want either code or file"}},
		{"script of both", "scripts: {s: {description: d, code: '1', file: x.ts}}", []string{
			"c.yaml:1:11: scripts.s: want either code or file", "c.yaml:1:42: scripts.s.file: testdata/x.ts: file does not exist",
		}},
		{"script of a bad name", "scripts: {a..b: {description: d, code: '1', input: 7}}", []string{"c.yaml:1:11: scripts.a..b: ", "c.yaml:1:45: scripts.a..b.input: want a mapping"}},
		{"zero steps", with("limits: {steps: 0}"), []string{"c.yaml:1:51: agents.a.limits.steps: 0 is out of range, want 1 to 10000"}},
		{"negative calls", with("limits: {calls: -1}"), []string{"c.yaml:1:51: agents.a.limits.calls: -1 is out of range"}},
		{"huge tokens", with("limits: {tokens: 99999999999999999999999}"), []string{"c.yaml:1:51: agents.a.limits.tokens: "}},
		{"fraction", with("limits: {steps: 1.5}"), []string{"c.yaml:1:51: agents.a.limits.steps: want a whole number, found a number"}},
		{"number as duration", with("limits: {time: 30}"), []string{"c.yaml:1:51: agents.a.limits.time: want a duration such as 30s or 1h30m, found a whole number"}},
		{"bad duration", with("limits: {time: soon}"), []string{`c.yaml:1:51: agents.a.limits.time: "soon" is no duration`}},
		{"negative duration", "stop_timeout: -1s", []string{"c.yaml:1:1: stop_timeout: -1s is out of range"}},
		{"tiny cost", with("limits: {cost_usd: 0.0000001}"), []string{"c.yaml:1:51: agents.a.limits.cost_usd: 1e-07 is out of range"}},
		{"infinite cost", with("limits: {cost_usd: .inf}"), []string{"c.yaml:1:51: agents.a.limits.cost_usd: want an amount in US dollars"}},
		{"unset variable", "task_queue: ${NONE}", []string{"c.yaml:1:1: task_queue: the environment variable NONE is not set"}},
		{"open variable", "task_queue: ${NONE", []string{"c.yaml:1:1: task_queue: ${ is not closed by }"}},
		{"bad variable", "task_queue: ${NO NE}", []string{"c.yaml:1:1: task_queue: ${NO NE} names no environment variable"}},
		{"alias", "task_queue: &a x\nblobs: *a\n", []string{
			"c.yaml:1:1: task_queue: want text, found an anchor or an alias",
			"c.yaml:2:1: blobs: want text, found an anchor or an alias",
		}},
		{"duplicate", "blobs: a\nblobs: b\n", []string{`c.yaml:2:1: mapping key "blobs" already defined at [1:1]`}},
		{"two documents", "blobs: a\n---\nblobs: b\n", []string{"c.yaml:3:6: is a second YAML document"}},
		{"no YAML", "a: b: c", []string{"c.yaml:1:"}},
		{"tab", "agents:\n\ta: b\n", []string{"c.yaml:2:"}},
		{"all at once", "task_queue: 7\nblobs: 8\nzebra: 9\n", []string{
			"c.yaml:1:1: task_queue: ", "c.yaml:2:1: blobs: ", "c.yaml:3:1: zebra: ",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse("testdata/c.yaml", []byte(test.text), env(nil))
			if err == nil {
				t.Fatal("no error")
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(test.want) {
				t.Fatalf("got %d problems, want %d:\n%s", len(lines), len(test.want), err)
			}
			for i, want := range test.want {
				if !strings.HasPrefix(lines[i], "testdata/"+want) {
					t.Errorf("problem %d:\n got %s\nwant testdata/%s...", i, lines[i], want)
				}
			}
		})
	}
}

func TestParseNeverRepeatsAKey(t *testing.T) {
	key := "sk-proj-1234567890"
	_, err := Parse("c.yaml", []byte("models: {m: {provider: openai, model: x, api_key_env: "+key+"}}"), env(nil))
	if err == nil || strings.Contains(err.Error(), key) {
		t.Errorf("got %v, want a problem that does not repeat the value", err)
	}
}

func TestExpand(t *testing.T) {
	vars := env(map[string]string{"HOST": "h", "EMPTY": "", "BRACE": "${HOST}"})
	tests := []struct{ text, want string }{
		{"plain", "plain"},
		{"${HOST}:1", "h:1"},
		{"${HOST}${HOST}", "hh"},
		{"${EMPTY}", ""},
		{"${EMPTY:-x}", "x"},
		{"${NONE:-a:-b}", "a:-b"},
		{"${NONE:-}", ""},
		{"$${HOST}", "${HOST}"},
		{"$HOST", "$HOST"},
		{"${BRACE}", "${HOST}"}, // a value is not expanded again
		{"日本 ${HOST} ü", "日本 h ü"},
	}
	for _, test := range tests {
		if got, err := expand(test.text, vars); err != nil || got != test.want {
			t.Errorf("expand(%q) = %q, %v; want %q", test.text, got, err, test.want)
		}
	}
}

func TestLoadRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	huge := filepath.Join(dir, "huge.yaml")
	if err := os.WriteFile(huge, make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none.yaml"): "file does not exist",
		dir:                             "is a folder",
		huge:                            "at most 1048576 are allowed",
	} {
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Load(%s) = %v, want %q", path, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{full, "", "a", "agents: {a: {}}", "models:\n- x", "? a\n: b", "<<: *x", "a: !!binary x", "\xff", "{", "- - -", "\ufeffa: b"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("c.yaml", data, env(nil))
		if (c == nil) == (err == nil) {
			t.Errorf("Parse = %v, %v; want one of the two", c, err)
		}
	})
}
