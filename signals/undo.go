package signals

import (
	"cmp"
	"context"

	"go.temporal.io/sdk/client"

	"github.com/heddle-dev/heddle/signals/contract"
)

// Undo asks a thread to undo the writes of a turn that has ended, the last one first,
// and returns the turn in which that happens: [Client.Wait] waits for it, and its
// approvals are decided like any others. What the turn of the undo answers says what
// was undone and what cannot be.
//
// The id makes it idempotent, as that of a submission does. Empty is
// [contract.UndoID], under which a turn is undone once; after an undo that failed,
// another id goes on with what is left. User is who asks.
func (c *Client) Undo(ctx context.Context, thread contract.ThreadRef, turn, id, user string) (contract.Submitted, error) {
	var submitted contract.Submitted
	submission := contract.Submission{ID: cmp.Or(id, contract.UndoID(turn)), Text: turn, User: user, Run: contract.RunUndo}
	if err := thread.Validate(); err != nil {
		return submitted, invalid(err)
	}
	if err := submission.Validate(); err != nil {
		return submitted, invalid(err)
	}
	err := c.insist(ctx, thread, func() error {
		handle, err := c.temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
			WorkflowID:   thread.WorkflowID(),
			UpdateID:     updateID(submission),
			UpdateName:   contract.UpdateSubmit,
			Args:         []any{submission},
			WaitForStage: client.WorkflowUpdateStageCompleted,
		})
		if err != nil {
			return err
		}
		return handle.Get(ctx, &submitted)
	})
	return submitted, in("undo a turn of", thread, err)
}
