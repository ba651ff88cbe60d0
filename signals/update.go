package signals

import (
	"context"
	"errors"

	"github.com/heddle-dev/heddle/signals/contract"
)

// errAccepted is the type of the failure with which the server answers an update
// whose run ended before it did.
const errAccepted = "AcceptedUpdateCompletedWorkflow"

// insist repeats an update until it reaches the thread. A thread that is about to
// continue as new asks for that, and so does one that just came into being or
// passed to its next run under the update.
func (c *Client) insist(ctx context.Context, thread contract.ThreadRef, update func() error) error {
	var pause backoff
	for {
		err := update()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return unanswered(ctx, nil)
		case notFound(err):
			if gone := c.running(ctx, thread); gone != nil {
				return gone
			}
		case alreadyStarted(err), transient(err): // the same update again is safe
		default:
			if err = typed(err); !hasCode(err, contract.ErrRollingOver) && !hasCode(err, errAccepted) {
				return c.unlessGone(ctx, thread, err)
			}
		}
		if pause.wait(ctx) != nil {
			return unanswered(ctx, err)
		}
	}
}

// unlessGone puts why a thread has ended in the place of an error that only comes
// from it: a workflow that fails at its start knows no update and no query.
func (c *Client) unlessGone(ctx context.Context, thread contract.ThreadRef, err error) error {
	var refused *Error
	if err == nil || ctx.Err() != nil || errors.As(err, &refused) {
		return err
	}
	// That there is no thread explains nothing: the error may be why there is none.
	if gone := c.running(ctx, thread); errors.As(gone, &refused) && refused.Code != contract.ErrUnknownThread {
		return gone
	}
	return err
}
