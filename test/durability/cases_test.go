package durability

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// recorded reads the input of a case: a fault that a tool like this one has had. It is
// in the folder cases below the one that HEDDLE_SHARED names, or ../shared beside the
// repository.
func recorded[T any](t *testing.T, name string) (input T) {
	t.Helper()
	root := os.Getenv("HEDDLE_SHARED")
	if root == "" {
		root = filepath.Join(testkit.Root(t), "..", "shared")
	}
	text, err := os.ReadFile(filepath.Join(root, "cases", "inputs", name+".yaml"))
	if err != nil {
		t.Skipf("no folder of recorded cases (%v); set HEDDLE_SHARED to it", err)
	}
	if err := yaml.Unmarshal(text, &input); err != nil {
		t.Fatal(err)
	}
	return input
}

// results are what the agent was told, by call.
func (b *bed) results() map[string]string {
	b.t.Helper()
	messages, err := b.Transcript(b.ctx(), b.start.ThreadRef, 0, 0)
	b.must(err)
	told := map[string]string{}
	for _, m := range messages {
		switch {
		case m.Role != contract.RoleTool:
		case told[m.Call] != "":
			b.t.Errorf("call %s has two results", m.Call)
		case m.Problem != nil:
			told[m.Call] = m.Problem.Code
		default:
			told[m.Call] = m.Text
		}
	}
	return told
}

func (b *bed) wantResults(want map[string]string) {
	b.t.Helper()
	if got := b.results(); asJSON(got) != asJSON(want) {
		b.t.Errorf("the agent was told %s, want %s", asJSON(got), asJSON(want))
	}
}

// Pending approvals outlive the worker and whoever asked for them.
func TestCaseRestartWhilePending(t *testing.T) {
	recorded[map[string]any](t, "ap-restart-while-pending")
	b := newBed(t, testkit.StartServer(t))
	turn := b.send("write:charge|say:done")
	before := b.pending(1)
	b.worker.Kill()
	b.server.Kill()
	b.server.Restart(t)
	b.worker.Start(t)
	b.client = b.server.Client(t) // another replica of the backend answers
	b.Client = signals.NewClient(b.client, &signals.Options{TaskQueue: b.worker.TaskQueue})
	after := b.pending(1)
	if asJSON(before) != asJSON(after) {
		t.Errorf("the approvals are %s, before they were %s", asJSON(after), asJSON(before))
	}
	b.approve(after[0])
	if b.wait(turn); b.effects() != "charge" {
		t.Errorf("effects %q", b.effects())
	}
}

// Of several calls in one model turn only some need approval: each has one result.
func TestCaseParallelBatch(t *testing.T) {
	input := recorded[struct {
		Turn    []struct{ ID, Tool, Needs string }
		Answers []struct{ ID, Decision string }
	}](t, "ap-parallel-batch")
	words := map[string]string{"read": "read:c1", "delete": "write:c2", "pay": "write:c3"}
	var script []string
	for _, call := range input.Turn {
		script = append(script, words[call.Tool])
	}
	b := newBed(t, testkit.DevServer(t))
	turn := b.send(strings.Join(script, " ") + "|say:done")
	pending := map[string]contract.Approval{}
	for i, ap := range b.pending(2) {
		pending[fmt.Sprint("c", i+2)] = ap
	}
	b.done("t1-s1-c1") // it does not wait for the people
	codes := map[string]string{}
	for i, answer := range input.Answers {
		ap, known := pending[answer.ID]
		if !known {
			ap = contract.Approval{ID: answer.ID, Digest: "sha256:0"}
		}
		_, err := b.Decide(b.ctx(), b.start.ThreadRef, contract.Decision{Approval: ap.ID, Digest: ap.Digest, Verdict: contract.Verdict(answer.Decision)})
		for _, code := range []string{contract.ErrAlreadyDecided, contract.ErrUnknownApproval} {
			if hasCode(err, code) {
				codes[fmt.Sprint(i)], err = code, nil
			}
		}
		b.must(err)
	}
	b.wait(turn)
	if want := map[string]string{"2": contract.ErrAlreadyDecided, "3": contract.ErrUnknownApproval}; asJSON(codes) != asJSON(want) {
		t.Errorf("refused answers %v, want %v", codes, want)
	}
	b.wantResults(map[string]string{"t1-s1-c1": `{"done":"c1"}`, "t1-s1-c2": contract.CodeApprovalDenied, "t1-s1-c3": `{"done":"c3"}`})
	if b.effects() != "c3" {
		t.Errorf("effects %q", b.effects())
	}
}

// What is known of a call whose connection broke decides what comes next.
func TestCaseWriteOutcomeUnknown(t *testing.T) {
	input := recorded[struct {
		Cases []struct{ Tool, Fault string }
	}](t, "ap-write-outcome-unknown")
	server := testkit.DevServer(t)
	for _, c := range input.Cases {
		t.Run(c.Tool+", "+c.Fault, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, server)
			kind, sent, unknown := "", "w", true
			switch {
			case c.Tool == "read":
				kind, sent, unknown = "cutread", "", false
			case strings.Contains(c.Fault, "refused"):
				kind, unknown = "unreached", false
			case strings.Contains(c.Tool, "idempotency"):
				kind, sent, unknown = "cutkeyed", "w w", false
			case strings.Contains(c.Fault, "killed"):
				kind = "early"
			default:
				kind = "cut"
			}
			script := kind + ":w|say:done"
			var turn string
			if kind == "early" {
				turn = b.lose(script, "w")
			} else {
				turn = b.send(script)
			}
			if unknown {
				r := b.doubt() // a person is told, and nothing is sent again
				b.find(r, contract.FindingAbandoned, "")
			}
			b.wait(turn)
			want := `{"done":"w"}`
			if unknown {
				want = contract.CodeOutcomeUnknown
			}
			b.wantResults(map[string]string{"t1-s1-c1": want})
			if got := b.effects(); got != sent {
				t.Errorf("sent %q, want %q", got, sent)
			}
			if keys := lines(t, b.worker, "writes"); len(keys) == 2 && keys[0] != keys[1] {
				t.Errorf("two keys: %v", keys)
			}
		})
	}
}

// A result of any size ends its call, by reference or with a named error.
func TestCaseOversizeResult(t *testing.T) {
	input := recorded[struct {
		Bytes []int `yaml:"result_bytes"`
	}](t, "ap-oversize-result")
	b := newBed(t, testkit.DevServer(t))
	for _, size := range input.Bytes {
		if ended := b.wait(b.send(fmt.Sprintf("big:%d|say:done", size))); ended.Status != contract.StatusCompleted {
			t.Errorf("%d bytes: turn = %+v, problem %v", size, ended, ended.Problem)
		}
	}
	messages, err := b.Transcript(b.ctx(), b.start.ThreadRef, 0, 0)
	b.must(err)
	i := 0
	for _, m := range messages {
		if m.Role != contract.RoleTool {
			continue
		}
		whole := m.Body != nil && m.Body.Size >= int64(input.Bytes[i])
		if refused := m.Problem != nil && m.Problem.Code == "too_large"; !whole && !refused {
			t.Errorf("of %d bytes the agent got %d, body %v, problem %v", input.Bytes[i], len(m.Text), m.Body, m.Problem)
		}
		i++
	}
	if i != len(input.Bytes) {
		t.Errorf("%d results, want %d", i, len(input.Bytes))
	}
}

// What a person was shown is what runs, defaults and edits included.
func TestCaseArgumentsShownAreArgumentsRun(t *testing.T) {
	input := recorded[struct {
		Args map[string]int `yaml:"model_args"`
		Edit map[string]int `yaml:"edit_on_approve"`
	}](t, "ap-args-shown-are-args-run")
	b := newBed(t, testkit.DevServer(t))
	turn := b.send(fmt.Sprintf(`pay:{"amount":%d}|pay:{"amount":50}|say:done`, input.Args["amount"]))
	ap := b.pending(1)[0] // of the second: the first is out of bounds
	if string(ap.Preview) != `{"amount":50,"currency":"EUR"}` {
		t.Errorf("shown %s", ap.Preview)
	}
	edit := contract.Decision{Approval: ap.ID, Digest: ap.Digest, Verdict: contract.Edit, By: "bob"}
	edit.Input = json.RawMessage(`{"amount":51}`)
	if _, err := b.Decide(b.ctx(), b.start.ThreadRef, edit); !hasCode(err, contract.ErrInvalid) {
		t.Errorf("an edit out of bounds: %v", err)
	}
	edit.Input = json.RawMessage(fmt.Sprintf(`{"amount":%d}`, input.Edit["amount"]))
	_, err := b.Decide(b.ctx(), b.start.ThreadRef, edit)
	b.must(err)
	b.wait(turn)
	if got := lines(t, b.worker, "payments"); asJSON(got) != asJSON([]string{fmt.Sprintf("%dEUR", input.Edit["amount"])}) {
		t.Errorf("ran with %v", got)
	}
}

// While a person thinks, the time of the call does not run.
func TestCaseWaitIsNotCounted(t *testing.T) {
	recorded[map[string]any](t, "ap-wait-not-counted")
	b := newBed(t, testkit.DevServer(t))
	turn := b.send("hasty:w hasty:v|say:done")
	pending := b.pending(2)
	time.Sleep(6 * time.Second) // twice what the call may take
	b.approve(pending[0])
	b.deny(pending[1])
	b.wait(turn)
	b.wantResults(map[string]string{"t1-s1-c1": `{"done":"w"}`, "t1-s1-c2": contract.CodeApprovalDenied})
}

// No cache of a worker decides about commands: a cold worker replays alike.
func TestCaseCacheDoesNotChangeCommands(t *testing.T) {
	recorded[map[string]any](t, "ap-tools-cache-replay")
	b := newBed(t, testkit.DevServer(t))
	b.wait(b.send("read:a|free:w|say:one"))
	b.wait(b.send("read:b|free:v|say:two"))
	b.restart()
	if ended := b.wait(b.send("read:c|say:three")); ended.Status != contract.StatusCompleted {
		t.Errorf("turn = %+v, problem %v", ended, ended.Problem)
	}
	b.replay("none", "")
}

// A workflow-level retry policy begins nothing anew: a turn fails, the thread does not.
func TestCaseWholeWorkflowRetry(t *testing.T) {
	recorded[map[string]any](t, "ap-whole-workflow-retry")
	b := newBed(t, testkit.DevServer(t))
	_, err := b.client.SignalWithStartWorkflow(b.ctx(), b.start.WorkflowID(), contract.SignalSubmit,
		contract.Submission{ID: "m1", Text: "free:w"}, // after the write the model refuses: the script is over
		client.StartWorkflowOptions{TaskQueue: b.worker.TaskQueue, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 3, InitialInterval: time.Second}},
		contract.WorkflowType, b.start)
	b.must(err)
	if ended := b.wait("t1"); ended.Status != contract.StatusFailed || ended.Problem.Code != contract.CodeModel {
		t.Errorf("turn = %+v, problem %v", ended, ended.Problem)
	}
	if ended := b.wait(b.send("say:on")); ended.Status != contract.StatusCompleted || b.effects() != "w" {
		t.Errorf("turn = %+v, effects %q", ended, b.effects())
	}
}

// What cannot be answered ends a call with a named cause, and the thread goes on.
func TestCaseFaultsOfHooks(t *testing.T) {
	recorded[map[string]any](t, "ap-hook-timeout-in-workflow")
	b := newBed(t, testkit.DevServer(t))
	turn := b.send("odd:error odd:late odd:channel odd:nan odd:panic odd:text|say:done")
	if ended := b.wait(turn); ended.Status != contract.StatusCompleted {
		t.Errorf("turn = %+v, problem %v", ended, ended.Problem)
	}
	told := b.results()
	for i := range 5 {
		if code := told[fmt.Sprintf("t1-s1-c%d", i+1)]; code != "tool_failed" && code != "timeout" && code != "invalid_output" {
			t.Errorf("call %d: %s", i+1, code)
		}
	}
	if len(told) != 6 {
		t.Errorf("%d results, want 6", len(told))
	}
}

// A call may take longer than a list of tools, and than a heartbeat may be missing.
func TestCaseSlowCall(t *testing.T) {
	recorded[map[string]any](t, "ap-discovery-vs-exec-timeout")
	b := newBed(t, testkit.DevServer(t))
	b.wait(b.send("slow:w|say:done"))
	b.wantResults(map[string]string{"t1-s1-c1": `{"done":"w"}`})
}
