package durability

import (
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	updatepb "go.temporal.io/api/update/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals/contract"
)

// meanwhile gives the thread a signal and then an update while no worker runs, so that
// both come to the next one in the same task. The update's answer is waited for.
func (b *bed) meanwhile(signal string, payload any, update string, of, answer any) {
	b.t.Helper()
	b.worker.Kill()
	b.signal(signal, payload)
	id, answered := b.start.WorkflowID(), make(chan error, 1)
	go func() {
		handle, err := b.client.UpdateWorkflow(b.ctx(), client.UpdateWorkflowOptions{
			WorkflowID: id, UpdateID: update, UpdateName: update, Args: []any{of}, WaitForStage: client.WorkflowUpdateStageCompleted,
		})
		if err == nil {
			err = handle.Get(b.ctx(), answer)
		}
		answered <- err
	}()
	b.until("the server has the update", func() bool {
		_, err := b.client.WorkflowService().PollWorkflowExecutionUpdate(b.ctx(), &workflowservice.PollWorkflowExecutionUpdateRequest{
			Namespace: "default", WaitPolicy: &updatepb.WaitPolicy{}, // answers at once
			UpdateRef: &updatepb.UpdateRef{WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: id}, UpdateId: update},
		})
		return err == nil
	})
	b.worker.Start(b.t)
	b.must(<-answered)
}

// say gives the thread a message meanwhile, and returns its turn.
func (b *bed) say(text, signal string, payload any) (turn string) {
	b.t.Helper()
	var submitted contract.Submitted
	b.meanwhile(signal, payload, contract.UpdateSubmit, contract.Submission{ID: "later", Text: text}, &submitted)
	return submitted.Turn
}

// agree approves a call meanwhile.
func (b *bed) agree(ap contract.Approval, signal string, payload any) {
	b.t.Helper()
	var decided contract.Decided
	decision := contract.Decision{Approval: ap.ID, Digest: ap.Digest, Verdict: contract.Approve, By: "bob"}
	b.meanwhile(signal, payload, contract.UpdateDecide, decision, &decided)
}

// What came as a signal holds for an update that came after it, although a worker is
// given both at once and runs the update first.
func TestSignalsHoldForLaterUpdates(t *testing.T) {
	for name, play := range map[string]func(*bed){
		"mode_before_message": func(b *bed) {
			b.wait(b.send("say:ready"))
			b.wait(b.say("free:w|say:done", contract.SignalSetMode, contract.SetMode{Mode: "plan", By: "bob"}))
			if p := b.problemOf("t2-s1-c1"); p == nil || p.Code != catalog.CodeModeDenied || b.effects() != "" {
				b.t.Errorf("the call ended with %v, effects %q", p, b.effects())
			}
			// The model was asked in the new mode, so that the call was not even planned.
			if b.scheduled("Write") != 0 {
				b.t.Error("the turn began before the mode was set")
			}
		},
		"mode_before_decision": func(b *bed) {
			turn := b.send("write:w|say:done")
			ap := b.pending(1)[0]
			b.agree(ap, contract.SignalSetMode, contract.SetMode{Mode: "plan", By: "bob"})
			b.wait(turn)
			if p := b.problemOf("t1-s1-c1"); p == nil || p.Code != catalog.CodeModeDenied || b.effects() != "" {
				b.t.Errorf("the call ended with %v, effects %q", p, b.effects())
			}
		},
		"cancel_before_decision": func(b *bed) {
			turn := b.send("write:w|say:done")
			ap := b.pending(1)[0]
			b.agree(ap, contract.SignalCancelTurn, contract.CancelTurn{Turn: turn, Reason: "no"})
			if ended := b.wait(turn); ended.Status != contract.StatusCancelled || b.effects() != "" {
				b.t.Errorf("the turn %+v, effects %q", ended, b.effects())
			}
		},
		"close_before_message": func(b *bed) {
			b.wait(b.send("say:ready"))
			turn := b.say("free:w|say:done", contract.SignalClose, contract.Close{Reason: "enough"})
			if ended := b.wait(turn); ended.Status != contract.StatusCancelled || b.effects() != "" {
				b.t.Errorf("the turn %+v, effects %q", ended, b.effects())
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, testkit.DevServer(t))
			play(b)
			b.replay(name, "")
		})
	}
}
