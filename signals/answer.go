package signals

import (
	"context"

	"go.temporal.io/sdk/client"

	"github.com/heddle-dev/heddle/signals/contract"
)

// Answer answers a question that a call asks, and waits for a worker's reply; its
// action is set here. Content that does not fit the question's schema is refused with
// [contract.ErrInvalid], which names the field, and the question stays open. Other
// refusals are [contract.ErrUnknownQuestion] and [contract.ErrAlreadyAnswered];
// answering alike once more is no error.
//
// Where no worker may run just now, the signal [contract.SignalAnswer] takes the same
// payload and waits for one.
func (c *Client) Answer(ctx context.Context, thread contract.ThreadRef, answer contract.Answer) (contract.Answered, error) {
	answer.Action = contract.Accept
	return c.answer(ctx, thread, answer)
}

// Decline refuses to answer a question; the comment tells the agent why. All else is
// as for [Client.Answer].
func (c *Client) Decline(ctx context.Context, thread contract.ThreadRef, answer contract.Answer) (contract.Answered, error) {
	answer.Action = contract.Decline
	return c.answer(ctx, thread, answer)
}

func (c *Client) answer(ctx context.Context, thread contract.ThreadRef, answer contract.Answer) (contract.Answered, error) {
	var answered contract.Answered
	if err := thread.Validate(); err != nil {
		return answered, invalid(err)
	}
	if err := answer.Validate(); err != nil {
		return answered, invalid(err)
	}
	err := c.insist(ctx, thread, func() error {
		handle, err := c.temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
			WorkflowID:   thread.WorkflowID(),
			UpdateName:   contract.UpdateAnswer,
			Args:         []any{answer},
			WaitForStage: client.WorkflowUpdateStageCompleted,
		})
		if err != nil {
			return err
		}
		return handle.Get(ctx, &answered)
	})
	return answered, in(string(answer.Action)+" a question of", thread, err)
}
