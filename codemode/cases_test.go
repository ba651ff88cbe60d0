package codemode_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/codemode"
	"github.com/heddle-dev/heddle/codemode/engine"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

// recorded is the snippets of a recorded case of what went wrong elsewhere: those of
// the folder of shared test data that HEDDLE_SHARED names, or ../shared beside the
// repository. Tools of a case are those of the test, by the names given.
func recorded(t *testing.T, name string, tools map[string]string) []string {
	t.Helper()
	root := os.Getenv("HEDDLE_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "shared")
	}
	text, err := os.ReadFile(filepath.Join(root, "cases", "inputs", "cm-"+name+".ts"))
	if err != nil {
		t.Skipf("no recorded cases (%v); set HEDDLE_SHARED to the folder of shared test data", err)
	}
	_, body, _ := bytes.Cut(text, []byte("\n")) // after the line that says what tool is
	names := ""
	for from, to := range tools {
		names += `"` + from + `": "test.` + to + `", `
	}
	prefix := `const tool = (name: string, input: any) => tools.call({ id: ({ ` + names + `} as any)[name] ?? name, input });` + "\n"
	var snippets []string
	for _, variant := range regexp.MustCompile(`(?m)^// variant .*$`).Split(string(body), -1) {
		if strings.TrimSpace(variant) != "" {
			snippets = append(snippets, prefix+variant)
		}
	}
	return snippets
}

// sound fails unless the next snippet works as ever.
func (w *world) sound() {
	w.t.Helper()
	r := w.end(w.run(stretch(`[await test.get({ name: "still" }), ({} as any).isAdmin === undefined]`)))
	if string(r.Result) != `["still",true]` {
		w.t.Errorf("the next snippet comes to %s, %v", r.Result, r.Error)
	}
}

func TestRecordedEndlessSnippetsEnd(t *testing.T) {
	w := newWorld(t)
	for i, source := range recorded(t, "infinite-loop", nil) {
		r := w.end(w.run(stretch(source)))
		if string(r.Result) == "false" { // a pattern that backtracks elsewhere
			continue
		}
		if r.Error == nil || (r.Error.Code != snippet.CodeCPU && r.Error.Code != snippet.CodeTime && r.Error.Code != snippet.CodeMemory && r.Error.Name != "RangeError") {
			t.Errorf("variant %d comes to %s, %v", i+1, r.Result, r.Error)
		}
		w.sound()
	}
}

func TestRecordedDeepSnippetsEnd(t *testing.T) {
	w := newWorld(t)
	for i, source := range recorded(t, "deep-nesting", map[string]string{"echo": "any"}) {
		came := w.run(stretch(source))
		if came.End == nil {
			t.Errorf("variant %d goes on: %+v", i+1, came)
			continue
		}
		if r := w.end(came); r.Error == nil && i != 3 && i != 2 { // which may be told in an outline, or be possible
			t.Errorf("variant %d comes to %s", i+1, r.Result)
		}
		w.sound()
	}
}

func TestRecordedPromiseThatNothingSettles(t *testing.T) {
	w := newWorld(t)
	r := w.end(w.run(stretch(recorded(t, "error-in-async-executor", nil)[0])))
	if r.Error == nil || r.Error.Code != snippet.CodeNeverSettles || !strings.Contains(r.Error.Message, "undefinedFn is not defined") {
		t.Errorf("it comes to %v", r.Error)
	}
}

func TestRecordedProbesOfTheSandbox(t *testing.T) {
	w := newWorld(t)
	r := w.end(w.run(stretch(recorded(t, "escape-probes", nil)[0])))
	const undefined = `"undefined",`
	if r.Error == nil && !strings.HasPrefix(string(r.Result), "["+strings.Repeat(undefined, 6)) {
		t.Errorf("the snippet finds %s", r.Result)
	}
	for _, leak := range []string{"Hidden", "execution", "snippet", "wire"} {
		if strings.Contains(string(r.Result), leak) {
			t.Errorf("the snippet finds %q: %s", leak, r.Result)
		}
	}
	w.sound()
}

func TestRecordedReentryOfTheHost(t *testing.T) {
	w := newWorld(t)
	source := recorded(t, "host-reentry", map[string]string{"echo": "any"})[0]
	r := w.end(w.run(stretch(source)))
	if r.Error == nil || !strings.Contains(r.Error.Message, "getter") {
		t.Errorf("a getter that throws comes to %v", r.Error)
	}
	lines := strings.Split(strings.TrimSpace(source), "\n")
	for i, line := range lines {
		switch {
		case strings.Contains(line, "ownKeys"):
			if r := w.end(w.run(stretch(lines[0] + "\n" + line))); r.Error == nil || r.Error.Code != snippet.CodeCPU {
				t.Errorf("a Proxy that never answers comes to %v", r.Error)
			}
		case strings.Contains(line, "toJSON"):
			if r := w.end(w.run(stretch(lines[0] + "\nreturn " + line))); string(r.Result) != `{"n":2}` {
				t.Errorf("line %d comes to %s, %v", i+1, r.Result, r.Error)
			}
		case strings.Contains(line, "then("):
			if r := w.end(w.run(stretch(lines[0] + "\nreturn " + line))); r.Error == nil || r.Error.Code != snippet.CodeInvalidInput {
				t.Errorf("line %d comes to %s, %v", i+1, r.Result, r.Error)
			}
		}
	}
	w.sound()
}

func TestRecordedAliasesOfACall(t *testing.T) {
	w := newWorld(t)
	r := w.end(w.run(stretch(recorded(t, "silent-empty-result", map[string]string{"get_step": "any"})[0])))
	if want := `{"a":{"n":1},"b":{"n":2},"c":{"n":3},"nope":"undefined"}`; string(r.Result) != want {
		t.Errorf("it comes to %s, %v, want %s", r.Result, r.Error, want)
	}
}

func TestRecordedEnvelopeIsTakenOff(t *testing.T) {
	w := newWorld(t)
	r := w.end(w.run(stretch(recorded(t, "mcp-unwrapped", map[string]string{"list_items": "items"})[0])))
	if string(r.Result) != `{"isArray":true,"n":1}` {
		t.Errorf("it comes to %s, %v", r.Result, r.Error)
	}
}

func TestRecordedSourceMapIsNotRead(t *testing.T) {
	w := newWorld(t)
	if r := w.end(w.run(stretch(recorded(t, "source-map-read", nil)[0]))); string(r.Result) != "1" {
		t.Errorf("it comes to %s, %v", r.Result, r.Error)
	}
}

func TestRecordedOutputIsBounded(t *testing.T) {
	// A hundred thousand lines take time and memory under the race detector.
	w := newWorld(t, func(o *codemode.Options) {
		e, err := engine.New(engine.Options{AllowUnhardened: true, Limits: snippet.Limits{CPU: 30 * time.Second, Wall: time.Minute, Memory: 2 << 30}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		o.Engine = e
	})
	came := w.run(stretch(recorded(t, "output-limits", nil)[0]))
	r := w.end(came)
	if r.Error != nil || len(came.End.Report) > 64<<10 || len(r.Console) == 0 || r.Dropped < 90_000 {
		t.Errorf("it comes to a report of %d bytes with %d lines and %d dropped, %v", len(came.End.Report), len(r.Console), r.Dropped, r.Error)
	}
	told := string(r.Outline) + string(r.Result)
	for _, want := range []string{`"keep":1`, "[Function fn]", "[Symbol s]", "1970-01-01", `"big2":10`} {
		if !strings.Contains(told, want) {
			t.Errorf("the outline lacks %q: %s", want, told[max(len(told)-400, 0):])
		}
	}
}

// The snippet is the recorded one; that it outlives a restart while a person thinks,
// TestSnippetOutlivesKills in test/durability shows.
func TestRecordedPauseInsideASnippet(t *testing.T) {
	w := newWorld(t)
	in := stretch(recorded(t, "pause-inside-script", map[string]string{"read": "any", "charge": "charge"})[0])
	came := w.run(in)
	if len(came.Effects) != 1 || !came.Effects[0].Plan.NeedsApproval {
		t.Fatalf("it comes to %+v", came)
	}
	before := len(w.made())
	r := w.end(w.run(next(in, came, result(2, `{"charged":true}`))))
	if r.Error != nil || len(w.made()) != before+1 {
		t.Errorf("after the approval it comes to %s, %v, and %d reads more", r.Result, r.Error, len(w.made())-before)
	}
	if r := w.end(w.run(next(in, came, problem(2, "approval_denied")))); r.Error == nil || r.Error.Code != "approval_denied" {
		t.Errorf("after the denial it comes to %s, %v", r.Result, r.Error)
	}
}
