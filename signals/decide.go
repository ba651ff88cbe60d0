package signals

import (
	"context"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/heddle-dev/heddle/signals/contract"
)

// checkTimeout bounds the look at an approval before a decision is sent: without
// a worker there is nothing to look at. One that is busy may take a while.
const checkTimeout = 5 * time.Second

// Approve agrees to a call that waits for a person. The decision must quote the
// digest of the approval that the person was shown; its verdict is set here.
//
// It is a signal: the server keeps it until a worker takes it, so it may be sent
// while none runs. If a worker answers, a decision that the thread would refuse is
// refused at once, with [contract.ErrUnknownApproval], [contract.ErrDigestMismatch]
// or [contract.ErrAlreadyDecided]; deciding alike once more is no error. Else such
// a decision shows as a part of kind error in the timeline. [Client.Decide] always
// knows.
func (c *Client) Approve(ctx context.Context, thread contract.ThreadRef, decision contract.Decision) error {
	decision.Verdict = contract.Approve
	return c.decide(ctx, thread, decision)
}

// Deny refuses a call that waits for a person; the comment tells the agent why.
// All else is as for [Client.Approve].
func (c *Client) Deny(ctx context.Context, thread contract.ThreadRef, decision contract.Decision) error {
	decision.Verdict = contract.Deny
	return c.decide(ctx, thread, decision)
}

// Decide takes the same decision as [Client.Approve] and [Client.Deny], as its
// verdict says, and waits for a worker's answer.
func (c *Client) Decide(ctx context.Context, thread contract.ThreadRef, decision contract.Decision) (contract.Decided, error) {
	var decided contract.Decided
	if err := validDecision(thread, decision); err != nil {
		return decided, err
	}
	err := c.insist(ctx, thread, func() error {
		handle, err := c.temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
			WorkflowID:   thread.WorkflowID(),
			UpdateName:   contract.UpdateDecide,
			Args:         []any{decision},
			WaitForStage: client.WorkflowUpdateStageCompleted,
		})
		if err != nil {
			return err
		}
		return handle.Get(ctx, &decided)
	})
	return decided, in("decide in", thread, err)
}

func (c *Client) decide(ctx context.Context, thread contract.ThreadRef, decision contract.Decision) error {
	if err := validDecision(thread, decision); err != nil {
		return err
	}
	decided, err := c.foreseeDecision(ctx, thread, decision)
	if err == nil && !decided {
		err = c.signal(ctx, thread, contract.SignalApproval, decision)
	}
	return in(string(decision.Verdict)+" in", thread, err)
}

func validDecision(thread contract.ThreadRef, decision contract.Decision) error {
	if err := thread.Validate(); err != nil {
		return invalid(err)
	}
	return invalid(decision.Validate())
}

// foreseeDecision says what the thread would answer: a refusal, or that it was decided
// so before.
func (c *Client) foreseeDecision(ctx context.Context, thread contract.ThreadRef, decision contract.Decision) (decided bool, err error) {
	part, missing := c.foresee(ctx, thread, contract.KindApproval, decision.Approval)
	switch {
	case missing:
		return false, refuse(contract.ErrUnknownApproval, "approval: the thread has no approval %q", decision.Approval)
	case part == nil:
		return false, nil
	}
	return compareDecision(*part, decision)
}

func compareDecision(part contract.Part, decision contract.Decision) (decided bool, err error) {
	switch {
	case part.Decision != nil && part.Decision.Verdict == decision.Verdict && part.Decision.Digest == decision.Digest:
		return true, nil
	case part.Approval != nil && part.Approval.Digest != decision.Digest:
		return false, refuse(contract.ErrDigestMismatch,
			"digest: approval %s has digest %s; look at it again", part.ID, part.Approval.Digest)
	case part.Status == contract.PartWaiting:
		return false, nil
	}
	return false, refuse(contract.ErrAlreadyDecided, "approval: %s is over: %s", part.ID, part.Status)
}
