package signals

import (
	"context"

	"github.com/heddle-dev/heddle/signals/contract"
)

// Cancel ends a turn. The server keeps the request until a worker takes it; that
// there is no such turn shows in the timeline.
func (c *Client) Cancel(ctx context.Context, thread contract.ThreadRef, cancel contract.CancelTurn) error {
	if err := thread.Validate(); err != nil {
		return invalid(err)
	}
	if err := cancel.Validate(); err != nil {
		return invalid(err)
	}
	return in("cancel a turn of", thread, c.signal(ctx, thread, contract.SignalCancelTurn, cancel))
}

// Close ends a thread, once a worker takes the request. A thread that has ended
// already is fine.
func (c *Client) Close(ctx context.Context, thread contract.ThreadRef, closing contract.Close) error {
	if err := thread.Validate(); err != nil {
		return invalid(err)
	}
	if err := closing.Validate(); err != nil {
		return invalid(err)
	}
	err := c.signal(ctx, thread, contract.SignalClose, closing)
	if hasCode(err, contract.ErrThreadClosed) {
		return nil
	}
	return in("close", thread, err)
}

func (c *Client) signal(ctx context.Context, thread contract.ThreadRef, name string, payload any) error {
	err := c.temporal.SignalWorkflow(ctx, thread.WorkflowID(), "", name, payload)
	if notFound(err) {
		if gone := c.running(ctx, thread); gone != nil {
			return gone
		}
	}
	return typed(err)
}
