package workflows

import (
	"errors"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// runEffect carries out one effect and waits for its end, also when the turn is
// cancelled meanwhile: what was sent has an outcome, and it is recorded.
func (t *thread) runEffect(turn *turn, c *call) {
	plan := c.planned.Plan
	ctx := workflow.WithActivityOptions(t.ctx, writeOptions(c.planned.Tool, plan.Timeout))
	in := activities.WriteInput{Thread: t.start, Root: t.info.FirstRunID, Call: c.ref(), Near: t.near()}
	var result activities.CallResult
	for attempt := 1; ; attempt++ {
		err := workflow.ExecuteActivity(ctx, a.Write, in).Get(t.ctx, &result)
		if err == nil {
			break
		}
		if turn.ctx.Err() == nil && (neverStarted(err) || notSent(err) && attempt < maxWriteAttempts) {
			_ = workflow.Sleep(turn.ctx, time.Duration(attempt)*time.Second) // a cancelled turn goes on to its end
			continue
		}
		result = activities.CallResult{ID: c.planned.ID, Problem: failure(c, err)}
		break
	}
	t.settle(c, result)
}

// maxWriteAttempts bounds how often a write is scheduled that was not sent.
const maxWriteAttempts = 5

// notSent reports whether the activity gave up before it called the tool.
func notSent(err error) bool {
	var app *temporal.ApplicationError
	return errors.As(err, &app) && (app.Type() == contract.ErrUnknownAgent || app.Type() == activities.ErrTypeThread)
}

// neverStarted reports whether no worker can have begun the activity.
func neverStarted(err error) bool {
	var timeout *temporal.TimeoutError
	return errors.As(err, &timeout) && timeout.TimeoutType() == enums.TIMEOUT_TYPE_SCHEDULE_TO_START
}

// failure is what is known of a call whose activity did not come back with a
// result.
func failure(c *call, err error) *contract.Problem {
	var canceled *temporal.CanceledError
	switch {
	case neverStarted(err):
		return &contract.Problem{Code: contract.CodeCancelled, Message: "the call was not made: the turn was cancelled"}
	case errors.As(err, &canceled):
		return &contract.Problem{Code: contract.CodeCancelled, Message: "the call was stopped: the turn was cancelled"}
	case notSent(err):
		return &contract.Problem{Code: contract.CodeInternal, Message: cut("the call was not made: "+cause(err), contract.MaxPartText)}
	case c.planned.Plan.Operation == catalog.Write:
		return &contract.Problem{
			Code: contract.CodeOutcomeUnknown,
			Message: cut("the worker was lost during the call ("+cause(err)+"): it may or may not have been applied. "+
				"Do not repeat it; find out, or tell the user", contract.MaxPartText),
		}
	default:
		return &contract.Problem{Code: contract.CodeInternal, Message: cut(cause(err), contract.MaxPartText)}
	}
}
