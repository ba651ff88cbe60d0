package durability

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// script runs a saved script and returns its turn.
func (b *bed) script(name, input string) (turn string) {
	b.t.Helper()
	submitted, err := b.RunScript(b.ctx(), b.start, signals.ScriptRun{Script: name, Input: json.RawMessage(input)})
	b.must(err)
	return submitted.Turn
}

// A saved script is run by a backend, with a script that it calls, approvals, and
// failures that it catches.
func TestRunScript(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	turn := b.script("twice", `{"name":"w"}`)
	pending := b.pending(2)
	b.approve(pending[slices.IndexFunc(pending, func(ap contract.Approval) bool { return strings.Contains(string(ap.Preview), "w1") })])
	b.made(1, "test.write")
	b.restart()
	b.deny(b.pending(1)[0])
	if answer := b.answer(turn); string(answer.Result) != `["w1","approval_denied","invalid_input"]` || b.effects() != "w1" {
		t.Errorf("told %s, effects %q", asJSON(answer), b.effects())
	}
	var executes, writes int
	for part, err := range b.Watch(b.ctx(), b.start.ThreadRef, 0) {
		if b.must(err); part.ID == turn && part.EndedAt != nil {
			break
		}
		switch {
		case part.EndedAt == nil:
		case part.Kind == contract.KindExecute:
			executes++
		case part.Tool == "test.write" && part.Kind == contract.KindCall:
			writes++
			if !strings.HasPrefix(part.Parent, turn+"-s1-c1.") {
				t.Errorf("the write is below %q, want the script that called it", part.Parent)
			}
		}
	}
	if executes < 3 || writes != 2 {
		t.Errorf("%d executions and %d writes in the timeline, want the script, two that it called, and their writes", executes, writes)
	}
	if answer := b.answer(b.script("deep", "{}")); answer.Error == nil || answer.Error.Code != contract.CodeLimit {
		t.Errorf("scripts without end came to %s", asJSON(answer))
	}
}

// A model calls a script like a tool, and what is no input of it is refused.
func TestModelCallsAScript(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	turn := b.send(`scripts__both:{"name":"w"} scripts__both:{"title":"w"} read:a|say:done`)
	b.approve(b.pending(1)[0])
	b.wait(turn)
	messages, err := b.Transcript(b.ctx(), b.start.ThreadRef, 0, 0)
	b.must(err)
	if text := messages[2].Text; !strings.Contains(text, `"result":{"done":"w","list":["w"]}`) {
		t.Errorf("the model is told %s", text)
	}
	if p := messages[3].Problem; p == nil || p.Code != catalog.CodeInvalidInput {
		t.Errorf("an input that does not fit came to %+v", messages[3])
	}
	ended := b.wait(b.script("none", "{}"))
	if !strings.Contains(ended.Answer, catalog.CodeToolNotFound) {
		t.Errorf("a script that there is not came to %+v", ended)
	}
}

// A script goes on as it was when it began, whatever becomes of the file.
func TestScriptThatRunsStaysAsItWas(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	turn := b.script("both", `{"name":"w"}`)
	ap := b.pending(1)[0]
	b.configure(strings.Replace(config, "return { done: input.name", `return { done: "other"`, 1))
	b.approve(ap)
	if answer := b.answer(turn); !strings.Contains(string(answer.Result), `"done":"w"`) {
		t.Errorf("told %s", asJSON(answer))
	}
	turn = b.script("both", `{"name":"v"}`)
	b.approve(b.pending(1)[0])
	if answer := b.answer(turn); !strings.Contains(string(answer.Result), `"done":"other"`) {
		t.Errorf("the next run is told %s", asJSON(answer))
	}
}

// A worker with a script that cannot work does not start, and says where.
func TestBrokenScriptKeepsAWorkerFromStarting(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	b.worker.Kill()
	broken := strings.Replace(config, "await test.write({ name: r.done });", "await test.wrote({ name: r.done }); let x = ;", 1)
	for _, c := range []struct{ code, want string }{
		{broken, "heddle.yaml:10:"},
		{strings.Replace(broken, " let x = ;", "", 1), "heddle.yaml:10:13: scripts.both.code: test.wrote"},
	} {
		b.must(os.WriteFile(filepath.Join(b.worker.Dir, "heddle.yaml"), []byte(c.code), 0o600))
		if said := b.worker.Refused(t); !strings.Contains(said, c.want) {
			t.Errorf("the worker said %q, want %q", said, c.want)
		}
	}
}
