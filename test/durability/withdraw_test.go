package durability

import (
	"slices"
	"testing"

	enums "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals/contract"
	"github.com/heddle-dev/heddle/workflows"
)

// threadsOnly kills the worker and runs one in its place that takes no activity.
func (b *bed) threadsOnly() (stop func()) {
	b.t.Helper()
	b.worker.Kill()
	w := worker.New(b.client, b.worker.TaskQueue, worker.Options{LocalActivityWorkerOnly: true})
	threads := &workflows.Worker{Agents: []string{b.start.Agent}}
	w.RegisterWorkflowWithOptions(threads.AgentThread, workflow.RegisterOptions{Name: contract.WorkflowType})
	b.must(w.Start())
	return w.Stop
}

// cancel ends the turn that runs.
func (b *bed) cancel(turn string) {
	b.t.Helper()
	b.must(b.Cancel(b.ctx(), b.start.ThreadRef, contract.CancelTurn{Turn: turn}))
}

// awaitCancelRequest waits until the server knows that the activity under way is not
// wanted any more.
func (b *bed) awaitCancelRequest() {
	b.t.Helper()
	b.until("the activity is to be cancelled", func() bool {
		return slices.ContainsFunc(b.underWay(), func(a *workflowpb.PendingActivityInfo) bool {
			return a.GetState() == enums.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED
		})
	})
}

// underWay are the activities that the thread has scheduled and that have not ended.
func (b *bed) underWay() []*workflowpb.PendingActivityInfo {
	b.t.Helper()
	described, err := b.client.DescribeWorkflow(b.ctx(), b.start.WorkflowID(), "")
	b.must(err)
	return described.RawResponse.GetPendingActivities()
}

// A write that no worker has begun is withdrawn when its turn is cancelled.
func TestCancelledTurnWithdrawsAWriteThatWasNotBegun(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	turn := b.send("write:w|say:done")
	ap := b.pending(1)[0]
	stop := b.threadsOnly()
	b.approve(ap)
	b.until("the write is scheduled", func() bool { return b.scheduled("Write") > 0 })
	b.cancel(turn)
	ended := b.wait(turn)
	stop()
	b.worker.Start(t)
	if p := b.problemOf("t1-s1-c1"); ended.Status != contract.StatusCancelled || p == nil || p.Code != contract.CodeCancelled ||
		p.Message != "the call was not made: the turn was cancelled" {
		t.Errorf("turn = %+v, the call ended with %v", ended, p)
	}
	b.wait(b.send("say:on"))
	if b.effects() != "" {
		t.Errorf("effects %q of a write that was withdrawn", b.effects())
	}
	b.replay("write_withdrawn", "")
}

// A write that its worker has begun and not sent is not sent after its turn was
// cancelled, and the turn does not wait for what holds it up.
func TestCancelledTurnKeepsABegunWriteFromBeingSent(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	turn := b.send("held:w|say:done")
	ap := b.pending(1)[0]
	b.file("hold", "")
	b.approve(ap)
	awaitGate(t, b.worker, "listing")
	b.cancel(turn)
	b.awaitCancelRequest()
	openGate(t, b.worker, "listing")
	if ended := b.wait(turn); ended.Status != contract.StatusCancelled || b.effects() != "" {
		t.Errorf("turn = %+v, effects %q", ended, b.effects())
	}
	if p := b.problemOf("t1-s1-c1"); p == nil || p.Code == contract.CodeOutcomeUnknown {
		t.Errorf("the call ended with %v", p)
	}
}

// A write that was sent when its turn is cancelled, and whose worker is lost then, is
// known to be unknown.
func TestCancelledTurnWithALostWrite(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	turn := b.send("early:w|say:done")
	awaitGate(t, b.worker, "w")
	b.cancel(turn)
	b.awaitCancelRequest()
	b.worker.Kill()
	openGate(t, b.worker, "w")
	b.worker.Start(t)
	if ended := b.wait(turn); ended.Status != contract.StatusCancelled {
		t.Errorf("turn = %+v", ended)
	}
	if p := b.problemOf("t1-s1-c1"); p == nil || p.Code != contract.CodeOutcomeUnknown {
		t.Errorf("the call ended with %v", p)
	}
	b.find(b.doubt(), contract.FindingApplied, `{"done":"w"}`)
	b.wait(b.send("say:on"))
	if b.effects() != "w" {
		t.Errorf("effects %q", b.effects())
	}
	b.replay("cancelled_and_lost", "")
}
