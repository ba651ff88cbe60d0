package durability

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
	"github.com/heddle-dev/heddle/workflows"
)

var recordHistories = flag.Bool("record", false, "write the histories of TestHistories that are not there yet to workflows/testdata/histories")

// shortRuns makes threads continue as new soon.
const shortRuns = "limit.historyCount.suggestContinueAsNew=60"

// Each path through the thread workflow runs on a real server, and its history
// replays. With -record it becomes a golden history, unless there is one of that
// name: a golden history is never recorded again, since threads of that time
// live on.
func TestHistories(t *testing.T) {
	server := testkit.DevServer(t)
	paths := map[string]func(*bed){
		"plain_answer": func(b *bed) { b.wait(b.send("say:hello")) },
		"batch_read":   func(b *bed) { b.wait(b.send("read:a read:b read:c|read:d|say:done")) },
		"failing_call": func(b *bed) { b.wait(b.send("big:nan nosuch:x|say:done")) },
		"approved_write": func(b *bed) {
			turn := b.send("read:a|read:b write:w|say:done")
			b.approve(b.pending(1)[0])
			b.wait(turn)
		},
		"denied_write": func(b *bed) {
			turn := b.send("write:w|say:done")
			b.deny(b.pending(1)[0])
			b.wait(turn)
		},
		"expired_approval": func(b *bed) {
			b.start.Agent = "hasty"
			b.wait(b.send("write:w|say:done"))
		},
		"free_write": func(b *bed) { b.wait(b.send("free:w free:v|say:done")) },
		"approvals_out_of_order": func(b *bed) {
			turn := b.send("write:w write:v free:u|say:done")
			pending := b.pending(2)
			b.approve(pending[1])
			b.approve(b.pending(1)[0])
			b.wait(turn)
		},
		"cancelled_turn": func(b *bed) {
			turn := b.send("write:w read:a|say:done")
			b.pending(1)
			b.must(b.Cancel(b.ctx(), b.start.ThreadRef, contract.CancelTurn{Reason: "enough"}))
			b.wait(turn)
			b.wait(b.send("say:next"))
		},
		"cancelled_model_turn": func(b *bed) {
			turn := b.send("think:never|say:done")
			awaitGate(b.t, b.worker, "never")
			b.must(b.Cancel(b.ctx(), b.start.ThreadRef, contract.CancelTurn{Turn: turn}))
			b.wait(turn)
		},
		"failed_turn": func(b *bed) { b.wait(b.send("read:a")) }, // the script is over
		"queued_messages": func(b *bed) {
			turn := b.send("write:w|say:one")
			ap := b.pending(1)[0]
			b.send("say:two")
			last := b.send("say:three")
			b.approve(ap)
			b.wait(turn)
			b.wait(last)
		},
		"refused_signals": func(b *bed) {
			b.wait(b.send("say:hello"))
			b.signal(contract.SignalApproval, contract.Decision{Approval: "nope", Digest: "x", Verdict: contract.Approve})
			b.signal(contract.SignalSubmit, contract.Submission{ID: "", Text: "no id"})
			b.signal(contract.SignalCancelTurn, contract.CancelTurn{Turn: "t7"})
			b.wait(b.send("say:still here"))
		},
		"limited_thread": func(b *bed) {
			b.start.Agent = "coder"
			b.start.ThreadLimits = &contract.Limits{Calls: 3}
			b.wait(b.send(`await Promise.allSettled(["a", "b", "c"].map((name) => test.read({ name })))`))
			if turn := b.wait(b.send(`await test.read({ name: "d" })`)); turn.Problem == nil || turn.Problem.Code != contract.CodeLimit {
				b.t.Errorf("turn = %+v", turn)
			}
		},
		"called_tools": func(b *bed) {
			call := func(tool, input string) string {
				submitted, err := b.CallTool(b.ctx(), b.start, signals.ToolCall{ID: tool, Tool: tool, Input: json.RawMessage(input)})
				b.must(err)
				return submitted.Turn
			}
			if turn := b.wait(call("test.read", `{"name":"a"}`)); turn.Answer != `{"done":"a"}` {
				b.t.Errorf("turn = %+v", turn)
			}
			turn := call("test.write", `{"name":"w"}`)
			ap := b.pending(1)[0]
			b.restart()
			if again := call("test.write", `{"name":"w"}`); again != turn {
				b.t.Errorf("the same call again is turn %s, it was %s", again, turn)
			}
			b.approve(ap)
			if turn := b.wait(turn); turn.Answer != `{"done":"w"}` || b.effects() != "w" {
				b.t.Errorf("turn = %+v, effects %q", turn, b.effects())
			}
			if turn := b.wait(call("test.nosuch", "")); !strings.Contains(turn.Answer, `{"error":{"code":"tool_not_found"`) {
				b.t.Errorf("turn = %+v", turn)
			}
			_, err := b.CallTool(b.ctx(), b.start, signals.ToolCall{ID: "test.read", Tool: "test.free", Input: json.RawMessage(`{"name":"a"}`)})
			if !hasCode(err, contract.ErrSubmissionConflict) {
				b.t.Errorf("another call under an id that was used: %v", err)
			}
			if turn := b.wait(b.send("say:on")); turn.Answer != "on" { // a model sees them as made
				b.t.Errorf("turn = %+v, problem %v", turn, turn.Problem)
			}
		},
		"snippet_reads": func(b *bed) {
			b.start.Agent = "coder"
			b.wait(b.send(`(await Promise.all([test.read({ name: "a" }), test.read({ name: "b" })])).length`))
		},
		"snippet_refused": func(b *bed) {
			b.start.Agent = "coder"
			b.wait(b.send(`await test.nosuch({ name: "a" })`))
		},
		"snippet_effects": func(b *bed) {
			b.start.Agent = "coder"
			turn := b.send(`
				const asked = [test.write({ name: "w" }), test.write({ name: "v" })];
				await test.free({ name: "u" });
				return (await Promise.allSettled(asked)).map((s) => s.status)`)
			pending := b.pending(2)
			b.deny(pending[1])
			b.approve(pending[0])
			b.wait(turn)
		},
		"snippet_sleeps": func(b *bed) {
			b.start.Agent = "coder"
			b.wait(b.send(`await Promise.race([sleep(1500), sleep(3000)]); await test.read({ name: "a" })`))
		},
		"snippet_cut": func(b *bed) {
			b.start.Agent = "coder"
			turn := b.send(`const slow = test.gate({ name: "slow" }); await test.free({ name: "w" }); (await slow).done`)
			b.until("the write is made", func() bool { return b.effects() == "w" })
			openGate(b.t, b.worker, "slow")
			b.wait(turn)
		},
		"snippet_cancelled": func(b *bed) {
			b.start.Agent = "coder"
			turn := b.send(`await Promise.all([test.gate({ name: "slow" }), test.write({ name: "w" })])`)
			b.pending(1)
			b.must(b.Cancel(b.ctx(), b.start.ThreadRef, contract.CancelTurn{Turn: turn}))
			b.wait(turn)
		},
		"gateway": func(b *bed) {
			b.start.Agent = "broker"
			turn := b.send(`search:{"query":"read"} describe:{"ids":["test.read"]} call:{"id":"test.read","input":{"name":"a"}}` +
				`|batch:{"calls":[{"id":"test.read","input":{"name":"b"}},{"id":"test.write","input":{"name":"w"}}]} call:{}|say:done`)
			b.approve(b.pending(1)[0])
			b.wait(turn)
			if got := b.effects(); got != "w" {
				b.t.Errorf("effects %q, want the one", got)
			}
		},
		"scripts": func(b *bed) {
			turn := b.script("twice", `{"name":"w"}`)
			pending := b.pending(2)
			b.approve(pending[0])
			b.deny(b.pending(1)[0])
			b.wait(turn)
		},
		"closed_while_waiting": func(b *bed) {
			b.send("write:w|say:done")
			b.pending(1)
			b.send("say:never")
		},
	}
	maps.Copy(paths, governed)
	maps.Copy(paths, asking)
	for name, path := range paths {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, server)
			path(b)
			b.must(b.Close(b.ctx(), b.start.ThreadRef, contract.Close{Reason: "the test is over"}))
			b.must(b.client.GetWorkflow(b.ctx(), b.start.WorkflowID(), "").Get(b.ctx(), nil))
			b.replay(name, "")
		})
	}
}

// A thread that continues as new is one thread to all who look at it.
func TestContinueAsNew(t *testing.T) {
	b := newBed(t, testkit.StartServer(t, shortRuns))
	var turns []string
	for range 4 {
		turn := b.send("read:a read:b|read:c|read:d|free:w|say:done")
		turns = append(turns, turn)
		if ended := b.wait(turn); ended.Status != contract.StatusCompleted {
			t.Fatalf("turn %s = %+v, problem %v", turn, ended, ended.Problem)
		}
	}
	ref := b.start.ThreadRef
	state, err := b.State(b.ctx(), ref)
	b.must(err)
	if state.Runs < 3 || state.FirstRunID == "" {
		t.Fatalf("%d runs, want several; the settings of the server have no effect", state.Runs)
	}
	messages, err := b.Transcript(b.ctx(), ref, 0, 0)
	b.must(err)
	const perTurn = 1 + 4 + 5 + 1 // the user's, calling, results, the answer
	if len(messages) != 4*perTurn || state.Messages != len(messages) {
		t.Errorf("%d messages, want %d", len(messages), 4*perTurn)
	}
	for i, m := range messages {
		if m.Index != i {
			t.Fatalf("message %d stands at %d", m.Index, i)
		}
	}
	b.must(b.Close(b.ctx(), ref, contract.Close{}))
	b.watchedWhole(turns)
	for _, turn := range turns {
		if ended := b.wait(turn); ended.ID != turn || ended.Status != contract.StatusCompleted {
			t.Errorf("turn of an earlier run = %+v", ended)
		}
	}
	if got := b.effects(); got != "w w w w" {
		t.Errorf("effects %q", got)
	}
	described, err := b.client.DescribeWorkflow(b.ctx(), b.start.WorkflowID(), "")
	b.must(err)
	attributes := described.TypedSearchAttributes
	for _, key := range []string{contract.AttributeTenant, contract.AttributeAgent, contract.AttributeStatus} {
		if value, ok := attributes.GetKeyword(temporal.NewSearchAttributeKeyKeyword(key)); !ok || value == "" {
			t.Errorf("the last run has no search attribute %s", key)
		}
	}
	b.replay("continue_as_new_first", state.FirstRunID)
	b.replay("continue_as_new_last", "")
}

// watchedWhole checks that a follower who begins at the start sees each part, each
// in order, and the end of each turn.
func (b *bed) watchedWhole(turns []string) {
	b.t.Helper()
	var last int64
	ended := map[string]bool{}
	models := 0
	for part, err := range b.Watch(b.ctx(), b.start.ThreadRef, 0) {
		b.must(err)
		if part.Seq <= last {
			b.t.Errorf("part %s has sequence number %d after %d", part.ID, part.Seq, last)
		}
		last = part.Seq
		if part.Kind == contract.KindMilestone && part.EndedAt != nil {
			ended[part.ID] = true
		}
		if part.Kind == contract.KindModel && part.Status == contract.PartDone {
			models++
		}
	}
	for _, turn := range turns {
		if !ended[turn] {
			b.t.Errorf("the timeline does not show the end of turn %s", turn)
		}
	}
	if want := 5 * len(turns); models != want {
		b.t.Errorf("the timeline shows %d model turns, want %d", models, want)
	}
}

// A turn of 3 model turns, 2 batches of reads and 1 approved write is cheap.
func TestEventsOfATypicalTurn(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	const script = "read:a read:b|read:c read:d write:w|say:done"
	var events [2]int
	for i := range events {
		turn := b.send(script)
		b.approve(b.pending(1)[0])
		b.wait(turn)
		events[i] = b.events(b.start.WorkflowID())
	}
	if cost := events[1] - events[0]; cost > 50 {
		t.Errorf("the turn costs %d events, want at most 50", cost)
	}
	if events[0] > 53 { // with the start of the thread
		t.Errorf("the first turn costs %d events", events[0])
	}
}

// events is how many events the history of a workflow's run has, but for those of workflow
// tasks that came to nothing, since a worker stood still for seconds.
func (b *bed) events(id string) int {
	b.t.Helper()
	count := 0
	history := b.client.GetWorkflowHistory(b.ctx(), id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		event, err := history.Next()
		b.must(err)
		count++
		switch event.GetEventType() { //nolint:exhaustive // all others count
		case enums.EVENT_TYPE_WORKFLOW_TASK_FAILED:
			count -= 3
		case enums.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT:
			count -= 2
			if event.GetWorkflowTaskTimedOutEventAttributes().GetStartedEventId() > 0 {
				count--
			}
		}
	}
	return count
}

// replay replays the history of a run with the workflow as it is now, and records
// it if that is asked for.
func (b *bed) replay(name, run string) {
	b.t.Helper()
	b.replayOf(b.start.WorkflowID(), name, run)
}

// replayOf is replay for any workflow.
func (b *bed) replayOf(id, name, run string) {
	b.t.Helper()
	var events history.History
	iterator := b.client.GetWorkflowHistory(b.ctx(), id, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for iterator.HasNext() {
		event, err := iterator.Next()
		b.must(err)
		events.Events = append(events.Events, event)
	}
	// On a machine that is busy a workflow that gets no processor for a second is no deadlock.
	replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DisableDeadlockDetection: true})
	b.must(err)
	threads := &workflows.Worker{} // knows no agent: a replay must not ask
	replayer.RegisterWorkflowWithOptions(threads.AgentThread, workflow.RegisterOptions{Name: contract.WorkflowType})
	replayer.RegisterWorkflowWithOptions(workflows.Lock, workflow.RegisterOptions{Name: contract.LockType})
	replayer.RegisterWorkflowWithOptions(workflows.TenantUsage, workflow.RegisterOptions{Name: contract.UsageType})
	if err := replayer.ReplayWorkflowHistory(nil, &events); err != nil {
		b.t.Errorf("the history does not replay: %v", err)
	}
	path := filepath.Join("..", "..", "workflows", "testdata", "histories", name+".json")
	if _, err := os.Stat(path); err == nil || !*recordHistories {
		return
	}
	encoded, err := protojson.MarshalOptions{Indent: " "}.Marshal(&events)
	b.must(err)
	b.must(os.MkdirAll(filepath.Dir(path), 0o755))
	b.must(os.WriteFile(path, encoded, 0o644))
}

func (b *bed) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bed) deny(ap contract.Approval) {
	b.t.Helper()
	b.must(b.Deny(b.ctx(), b.start.ThreadRef, contract.Decision{Approval: ap.ID, Digest: ap.Digest, By: "bob", Comment: "too much", Verdict: contract.Deny}))
}

func (b *bed) signal(name string, payload any) {
	b.t.Helper()
	b.must(b.client.SignalWorkflow(b.ctx(), b.start.WorkflowID(), "", name, payload))
}
