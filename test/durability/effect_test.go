package durability

import (
	"os"
	"path/filepath"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// scheduled is the end of the workflow task in which the thread first scheduled an
// activity of a type, or 0.
func (b *bed) scheduled(activity string) int64 {
	b.t.Helper()
	history := b.client.GetWorkflowHistory(b.ctx(), b.start.WorkflowID(), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		event, err := history.Next()
		b.must(err)
		if scheduled := event.GetActivityTaskScheduledEventAttributes(); scheduled.GetActivityType().GetName() == activity {
			return scheduled.GetWorkflowTaskCompletedEventId()
		}
	}
	return 0
}

// resetBefore resets the thread to before it first scheduled an activity.
func (b *bed) resetBefore(activity string) {
	b.t.Helper()
	_, err := b.client.ResetWorkflowExecution(b.ctx(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace:         "default",
		WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: b.start.WorkflowID()},
		Reason:            "test", RequestId: b.start.Thread + activity, WorkflowTaskFinishEventId: b.scheduled(activity),
	})
	b.must(err)
}

// file puts a file into the worker's folder.
func (b *bed) file(name, text string) {
	b.t.Helper()
	b.must(os.WriteFile(filepath.Join(b.worker.Dir, name), []byte(text), 0o600))
}

// told is what the agent was told of the last call of a tool.
func (b *bed) told(tool string) (text string, problem *contract.Problem) {
	b.t.Helper()
	messages, err := b.Transcript(b.ctx(), b.start.ThreadRef, 0, 0)
	b.must(err)
	for _, m := range messages {
		if m.Tool == tool {
			text, problem = m.Text, m.Problem
		}
	}
	return text, problem
}

// A thread that is reset to before a write does not make it again: the result
// that it had is given once more.
func TestResetDoesNotRepeatAWrite(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	turn := b.send("write:w|say:done")
	b.approve(b.pending(1)[0])
	b.wait(turn)
	b.resetBefore("Write")
	if ended := b.wait(turn); ended.Status != contract.StatusCompleted || ended.Answer != "done" {
		t.Errorf("turn = %+v, problem %v", ended, ended.Problem)
	}
	if text, problem := b.told("test.write"); text != `{"done":"w"}` || problem != nil {
		t.Errorf("the agent was told %s, %v", text, problem)
	}
	if got := b.effects(); got != "w" {
		t.Errorf("effects %q, want one", got)
	}
	b.replay("reset_after_write", "")
}

// After a reset the model may ask for something else: an approval that was given
// for the call of before does not count for it.
func TestResetReusesNoApprovalForAnotherInput(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	b.file("v", "one")
	turn := b.send("write:@v|say:done")
	first := b.pending(1)[0]
	b.approve(first)
	b.wait(turn)
	b.file("v", "two")
	b.resetBefore("ModelTurn")
	second := b.pending(1)[0]
	if second.ID != first.ID || second.Digest == first.Digest {
		t.Errorf("the second approval %+v, the first was %+v", second, first)
	}
	if got := b.effects(); got != "one" {
		t.Errorf("effects %q before the second approval", got)
	}
	b.approve(second)
	if ended := b.wait(turn); ended.Status != contract.StatusCompleted || b.effects() != "one two" {
		t.Errorf("turn = %+v, effects %q", ended, b.effects())
	}
}

// A worker that is lost before it has told the server of its intent has sent
// nothing, so another makes the write.
func TestWriteIsMadeWhereNoneWasSent(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	turn := b.send("held:w|say:done")
	ap := b.pending(1)[0]
	b.file("hold", "")
	b.approve(ap)
	awaitGate(t, b.worker, "listing")
	b.must(os.Remove(filepath.Join(b.worker.Dir, "hold")))
	b.restart()
	if ended := b.wait(turn); ended.Status != contract.StatusCompleted || b.effects() != "w" {
		t.Errorf("turn = %+v, effects %q", ended, b.effects())
	}
	if text, problem := b.told("test.held"); problem != nil {
		t.Errorf("the agent was told %s, %v", text, problem)
	}
	b.replay("write_lost_before_intent", "")
}

// A target that honours keys is sent a write again whose outcome is unknown.
func TestKeyedWriteIsSentAgainUnderItsKey(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	turn := b.lose("keyed:w|say:done", "w")
	if ended := b.wait(turn); ended.Status != contract.StatusCompleted {
		t.Errorf("turn = %+v, problem %v", ended, ended.Problem)
	}
	writes := lines(t, b.worker, "writes")
	if len(writes) != 2 || writes[0] != writes[1] {
		t.Errorf("the target got %v, want the same key twice", writes)
	}
	if text, problem := b.told("test.keyed"); problem != nil || text != `{"done":"w"}` {
		t.Errorf("the agent was told %s, %v", text, problem)
	}
	b.replay("keyed_write_sent_again", "")
}

// A write that says that nothing was applied is made again.
func TestUnreachedTargetIsTriedAgain(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	if ended := b.wait(b.send("unreached:w|say:done")); ended.Status != contract.StatusCompleted || b.effects() != "w" {
		t.Errorf("turn = %+v, effects %q", ended, b.effects())
	}
	if tries := lines(t, b.worker, "tries"); len(tries) != 3 {
		t.Errorf("%d tries", len(tries))
	}
	b.replay("write_not_sent", "")
}

// A reset goes to the beginning of a turn, or to an event; what is not there is
// refused.
func TestResetOfAThread(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	b.wait(b.send("free:a|say:one"))
	turn := b.send("free:b|say:two")
	b.wait(turn)
	ref := b.start.ThreadRef
	for code, to := range map[string]signals.ResetTo{
		contract.ErrUnknownTurn: {Turn: "t9"},
		contract.ErrInvalid:     {Event: 2},
	} {
		if _, err := b.Reset(b.ctx(), ref, to); !hasCode(err, code) {
			t.Errorf("reset to %+v: %v, want %s", to, err, code)
		}
	}
	if _, err := b.Reset(b.ctx(), ref, signals.ResetTo{}); !hasCode(err, contract.ErrInvalid) {
		t.Errorf("reset to nothing: %v", err)
	}
	for _, to := range []signals.ResetTo{{Turn: turn, Reason: "once more"}, {Turn: "t1"}} {
		before := b.runID()
		done, err := b.Reset(b.ctx(), ref, to)
		b.must(err)
		if done.Run == before || done.From != before || done.Writes == 0 || done.Event == 0 {
			t.Errorf("reset to %+v: %+v", to, done)
		}
		if ended := b.wait(turn); ended.Status != contract.StatusCompleted || ended.Answer != "two" {
			t.Errorf("turn = %+v, problem %v", ended, ended.Problem)
		}
		if got := b.effects(); got != "a b" {
			t.Errorf("effects %q", got)
		}
	}
}

func (b *bed) runID() string {
	b.t.Helper()
	described, err := b.client.DescribeWorkflow(b.ctx(), b.start.WorkflowID(), "")
	b.must(err)
	return described.WorkflowExecution.RunID
}
