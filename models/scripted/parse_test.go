package scripted_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/models/scripted"
)

func TestParseErrors(t *testing.T) {
	step := func(rest string) string { return "turns:\n  - steps:\n      - text: Hi.\n        " + rest + "\n" }
	tests := []struct {
		name, script string
		want         []string
	}{
		{"empty", "", []string{"demo.yaml:1:1: turns: there are none"}},
		{"only a comment", "# nothing\n", []string{"demo.yaml:1:1: turns: there are none"}},
		{"a list", "- text: Hi.\n", []string{"demo.yaml:1:"}},
		{"a word", "hello\n", []string{"demo.yaml:1:1: "}},
		{"no turns", "turns: []\n", []string{"demo.yaml:1:8: turns: there are none"}},
		{"two documents", "turns: []\n---\nturns: []\n", []string{"demo.yaml: holds 2 documents"}},
		{"not YAML", "turns:\n  - steps: [\n", []string{"demo.yaml:2:"}},
		{"a tab", "turns:\n\t- steps: []\n", []string{"demo.yaml:2:1: "}},
		{"unknown field at the top", "turns: []\nversion: 1\n", []string{`demo.yaml:2:1: unknown field "version"`}},
		{"unknown field of a turn", "turns:\n  - steps: []\n    user: x\n", []string{`demo.yaml:3:5: unknown field "user"`}},
		{"unknown field of a step", step("tekst: x"), []string{`demo.yaml:4:9: unknown field "tekst"`}},
		{"unknown field of a call", step("calls: [{tool: a.b, inputs: {}}]"), []string{`demo.yaml:4:29: unknown field "inputs"`}},
		{"unknown field of a condition", step("expect: {result: {tool: a.b}}"), []string{`demo.yaml:4:18: unknown field "result"`}},
		{"unknown field of a result", step("expect: {results: [{tool: a.b, has: c}]}"), []string{`demo.yaml:4:40: unknown field "has"`}},
		{"a field twice", step("text: Ho."), []string{`demo.yaml:4:9: `, `"text"`}},
		{"wrong type", step("usage: {input: many}"), []string{"demo.yaml:4:24: "}},
		{"no steps", "turns:\n  - when: {contains: x}\n", []string{"demo.yaml:2:5: turns[0]: has no steps"}},
		{"a null turn", "turns:\n  - null\n", []string{"demo.yaml:2:5: turns[0]: has no steps"}},
		{"a null step", "turns:\n  - steps:\n      -\n", []string{"demo.yaml:3:", "turns[0].steps[0]: has neither text, calls nor error"}},
		{"only reasoning", "turns:\n  - steps:\n      - reasoning: Hm.\n", []string{"demo.yaml:3:9: turns[0].steps[0]: has neither"}},
		{"text beside an error", step("error: {kind: unavailable}"), []string{"demo.yaml:4:", "turns[0].steps[0].error: a step with an error says nothing else"}},
		{"unknown kind", "turns:\n  - steps:\n      - error:\n          kind: overloaded\n", []string{"demo.yaml:4:17: ", `"overloaded" is no kind; want rate_limited, unavailable, unauthorized or invalid_request`}},
		{"no kind", "turns:\n  - steps:\n      - error: {status: 500}\n", []string{"demo.yaml:3:", `"" is no kind`}},
		{"status of a success", "turns:\n  - steps:\n      - error: {kind: unavailable, status: 200}\n", []string{"demo.yaml:3:44: ", "200 is no HTTP status of an error"}},
		{"negative retry", "turns:\n  - steps:\n      - error: {kind: unavailable, retry_after: -1s}\n", []string{"demo.yaml:3:", "retry_after: is negative"}},
		{"negative delay", step("delay: -1s"), []string{"demo.yaml:4:16: turns[0].steps[0].delay: is negative"}},
		{"no duration", step("delay: soon"), []string{`demo.yaml:4:16: turns[0].steps[0].delay: "soon" is no duration such as 1.5s or 2m`}},
		{"duration without a unit", step("delay: 5"), []string{`demo.yaml:4:16: `, `"5" is no duration`}},
		{"negative usage", step("usage: {output: -1}"), []string{"demo.yaml:4:", "usage: is negative"}},
		{"a call of nothing", step("calls: [{input: {a: 1}}]"), []string{"demo.yaml:4:", "turns[0].steps[0].calls[0]: names no tool"}},
		{"an input that is a list", step("calls: [{tool: a.b, input: [1]}]"), []string{"demo.yaml:4:36: "}},
		{"an input that is no JSON", step("calls: [{tool: a.b, input: {a: .nan}}]"), []string{"demo.yaml:4:", "calls[0].input: json: unsupported value: NaN"}},
		{"open reference", step(`reasoning: "see ${orders.search"`), []string{"demo.yaml:4:20: turns[0].steps[0].reasoning: a ${ has no }"}},
		{"reference without a tool", step(`reasoning: "${#/a}"`), []string{"want ${tool#pointer}"}},
		{"reference without a slash", step(`calls: [{tool: a.b, input: {c: [{d: "${a.b#c}"}]}}]`), []string{"calls[0].input: ${a.b#c}: a JSON pointer begins with /"}},
		{"empty condition", step("when: {}"), []string{"demo.yaml:4:", "turns[0].steps[0].when: asks for nothing"}},
		{"empty words", "turns:\n  - when: {}\n    steps: [{text: Hi.}]\n", []string{"turns[0].when: asks for nothing; want contains or regex"}},
		{"bad regex of a turn", "turns:\n  - when: {regex: \"(\"}\n    steps: [{text: Hi.}]\n", []string{"demo.yaml:2:19: turns[0].when.regex: ", "missing closing )"}},
		{"bad regex of a result", step(`expect: {results: [{regex: "["}]}`), []string{"demo.yaml:4:36: turns[0].steps[0].expect.results[0].regex: "}},
		{"negative count", step("expect: {messages: -1}"), []string{"demo.yaml:4:28: turns[0].steps[0].expect.messages: is negative"}},
		{"several at once", step("delay: -1s") + "        when: {}\n        expect: {}\n", []string{"delay: is negative"}},
		{"an anchor", "turns: &all\n  - steps: [{text: Hi.}]\n", []string{"demo.yaml:1:8: a script has no anchors and aliases"}},
		{"a tag", "turns:\n  - steps: [{text: !!binary Hi.}]\n", []string{"demo.yaml:2:20: a script has no tags"}},
		{"deep brackets", "turns: " + strings.Repeat("[", 200_000), []string{"demo.yaml:1:108: is nested more than 100 levels deep"}},
		{"deep mappings", "turns: " + strings.Repeat("{a: ", 200_000), []string{"is nested more than 100 levels deep"}},
		{"deep entries", strings.Repeat("- ", 200_000), []string{"is nested more than 100 levels deep"}},
		{"too large", strings.Repeat("#", scripted.MaxScript+1), []string{"demo.yaml: is larger than"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			model, err := scripted.Parse("demo.yaml", []byte(test.script))
			if err == nil || model != nil {
				t.Fatalf("model %v, error %v", model, err)
			}
			for _, want := range append(test.want, "scripted: demo.yaml") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

func TestLoad(t *testing.T) {
	if _, err := scripted.Load("testdata/refund.yaml"); err != nil {
		t.Error(err)
	}
	if _, err := scripted.Load("testdata/none.yaml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want one that says that the file is missing", err)
	}
	path := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(path, []byte("turns: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := scripted.Load(path); err == nil || !strings.Contains(err.Error(), path+":1:8: ") {
		t.Errorf("error %v, want one that names the place in %s", err, path)
	}
}

func FuzzParse(f *testing.F) {
	demo, err := os.ReadFile("testdata/refund.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(demo)
	for _, seed := range []string{
		"", "turns: [{steps: [{text: Hi.}]}]", "a: &x [*x, *x]\nturns: *x", "turns: [{steps: [{calls: [{tool: a, input: {b: '${c#/d~1/0}'}}]}]}]",
		"turns:\n- steps:\n  - error: {kind: unavailable, retry_after: 1e9h}\n", "? [a]: b", "%YAML 1.2\n---\n!!binary x", "turns: [{steps: [{text: '$${'}]}]",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		model, err := scripted.Parse("fuzz.yaml", script)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "scripted: fuzz.yaml") {
				t.Errorf("error %q does not begin with the name", err)
			}
			return
		}
		// A script that is accepted plays without a panic, whatever it says. Its
		// delays are cut short.
		playAll(t, model)
	})
}
