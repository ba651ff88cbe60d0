package durability

import (
	"context"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals/contract"
)

// Who watches a thread goes on seeing it when an operator resets the workflow to
// an earlier event, although the timeline's numbers go back with it.
func TestWatchOutlivesAReset(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	b.wait(b.send("read:a|read:b|read:c|say:one"))
	state, err := b.State(b.ctx(), b.start.ThreadRef)
	b.must(err)

	watching, stop := context.WithCancel(b.ctx())
	defer stop()
	approvals := make(chan contract.Part, 10)
	watched := make(chan error, 1)
	go func() {
		for part, err := range b.Watch(watching, b.start.ThreadRef, state.Cursor) {
			if err != nil {
				watched <- err
				return
			}
			if part.Kind == contract.KindApproval && part.Status == contract.PartWaiting {
				approvals <- part
			}
		}
		watched <- nil
	}()
	const firstTask = 4 // the first workflow task's completion
	_, err = b.client.ResetWorkflowExecution(b.ctx(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace:         "default",
		WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: b.start.WorkflowID()},
		Reason:            "test", RequestId: b.start.Thread, WorkflowTaskFinishEventId: firstTask,
	})
	b.must(err)
	turn := b.send("write:w|say:two")
	select {
	case part := <-approvals:
		b.approve(*part.Approval)
	case err := <-watched:
		t.Fatalf("the watch ended: %v", err)
	}
	if ended := b.wait(turn); ended.Status != contract.StatusCompleted {
		t.Errorf("turn = %+v, problem %v", ended, ended.Problem)
	}
}
