package signals

import (
	"context"

	"go.temporal.io/sdk/client"

	"github.com/heddle-dev/heddle/signals/contract"
)

// SetMode puts a thread into a mode and waits for a worker's answer. Refused are
// [contract.ErrUnknownMode] and [contract.ErrThreadClosed]. What has not begun is
// bound by the new mode, be it planned or approved.
func (c *Client) SetMode(ctx context.Context, thread contract.ThreadRef, mode contract.SetMode) (contract.ModeSet, error) {
	var set contract.ModeSet
	if err := thread.Validate(); err != nil {
		return set, invalid(err)
	}
	if err := mode.Validate(); err != nil {
		return set, invalid(err)
	}
	err := c.insist(ctx, thread, func() error {
		handle, err := c.temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
			WorkflowID:   thread.WorkflowID(),
			UpdateName:   contract.UpdateSetMode,
			Args:         []any{mode},
			WaitForStage: client.WorkflowUpdateStageCompleted,
		})
		if err != nil {
			return err
		}
		return handle.Get(ctx, &set)
	})
	return set, in("set the mode of", thread, err)
}

// Revoke ends a grant, once a worker takes the request. That there is no such grant
// shows in the timeline.
func (c *Client) Revoke(ctx context.Context, thread contract.ThreadRef, revoke contract.RevokeGrant) error {
	if err := thread.Validate(); err != nil {
		return invalid(err)
	}
	if err := revoke.Validate(); err != nil {
		return invalid(err)
	}
	return in("revoke a grant of", thread, c.signal(ctx, thread, contract.SignalRevokeGrant, revoke))
}
