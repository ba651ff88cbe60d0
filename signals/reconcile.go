package signals

import (
	"context"
	"fmt"
	"iter"

	"github.com/heddle-dev/heddle/signals/contract"
)

// Reconcile says what became of a write that may or may not have been applied.
//
// It is a signal: the server keeps it until a worker takes it, so it may be sent
// while none runs. If a worker answers, an answer that the thread would refuse is
// refused at once, with [contract.ErrUnknownReconciliation] or
// [contract.ErrAlreadyDecided]; answering alike once more is no error. Else such an
// answer shows as a part of kind error in the timeline.
func (c *Client) Reconcile(ctx context.Context, thread contract.ThreadRef, answer contract.Reconcile) error {
	if err := thread.Validate(); err != nil {
		return invalid(err)
	}
	if err := answer.Validate(); err != nil {
		return invalid(err)
	}
	answered, err := c.foreseeAnswer(ctx, thread, answer)
	if err == nil && !answered {
		err = c.signal(ctx, thread, contract.SignalReconcile, answer)
	}
	return in("reconcile a write of", thread, err)
}

// foreseeAnswer says what the thread would answer, as far as it can be seen in time.
func (c *Client) foreseeAnswer(ctx context.Context, thread contract.ThreadRef, answer contract.Reconcile) (answered bool, err error) {
	part, missing := c.foresee(ctx, thread, contract.KindReconciliation, answer.Reconciliation)
	switch {
	case missing:
		return false, refuse(contract.ErrUnknownReconciliation, "reconciliation: the thread has no reconciliation %q", answer.Reconciliation)
	case part == nil:
		return false, nil
	}
	return compareAnswer(*part, answer)
}

// compareAnswer compares an answer with what the timeline shows, which is all but
// the result: whether that is another is for the thread to say.
func compareAnswer(part contract.Part, answer contract.Reconcile) (answered bool, err error) {
	switch {
	case part.Status == contract.PartWaiting:
		return false, nil
	case part.EndedAt == nil:
		return false, refuse(contract.ErrInvalid, "reconciliation: %s: the tool itself is finding out; a person is not asked yet", part.ID)
	case part.Finding != nil && part.Finding.Finding == answer.Finding:
		return answer.Finding != contract.FindingApplied, nil
	}
	return false, refuse(contract.ErrAlreadyDecided, "reconciliation: %s is over: %s", part.ID, part.Title)
}

// Reconciliation is one that is open, and whose.
type Reconciliation struct {
	contract.ThreadRef
	contract.Reconciliation
}

// Reconciliations yields the open reconciliations of the threads that fit, in the
// order of [Client.List]. The filter's Pending is set here. Those are found that a
// person is asked about; each thread that has some is asked for them, which needs a
// worker. A thread that cannot be read is yielded as an error and does not end the
// list; an error of the list itself does.
func (c *Client) Reconciliations(ctx context.Context, filter Filter) iter.Seq2[Reconciliation, error] {
	filter.Pending = contract.KindReconciliation
	return func(yield func(Reconciliation, error) bool) {
		for thread, err := range c.List(ctx, filter) {
			if err != nil {
				yield(Reconciliation{}, err)
				return
			}
			state, err := c.State(ctx, thread.ThreadRef)
			if hasCode(err, contract.ErrUnknownThread) || hasCode(err, contract.ErrThreadClosed) {
				continue // it ended since
			}
			if err != nil && !yield(Reconciliation{ThreadRef: thread.ThreadRef}, fmt.Errorf("reconciliations of %s: %w", thread.ThreadRef, err)) {
				return
			}
			for _, r := range state.Reconciliations {
				if !yield(Reconciliation{ThreadRef: thread.ThreadRef, Reconciliation: r}, nil) {
					return
				}
			}
		}
	}
}
