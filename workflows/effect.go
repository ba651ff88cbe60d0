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

// runEffect carries out one effect and waits for its end, or for a question that it
// asks, also when the turn is cancelled meanwhile: what was sent has an outcome, and it
// is recorded. One that no worker has begun by then is withdrawn. One that
// is known not to have been sent is tried again under the same key. Once an attempt
// may have been applied, only a result tells more: that a later one failed says
// nothing of it.
//
// One whose resource another write has is left to wait for its turn there.
func (t *thread) runEffect(turn *turn, c *call) {
	for attempt := 1; ; attempt++ {
		c.attempts++
		result, known := t.attempt(turn, c, c.attempts, c.unknown != nil)
		if result.Asks != nil && c.unknown == nil {
			if turn.ctx.Err() == nil { // else the end of the turn speaks for itself
				t.askPerson(turn, c, result.Asks)
			}
			return
		}
		t.noteChange(c, result)
		if c.unknown == nil && known == outcomeUnknown {
			c.unknown = &result
		}
		goesOn := turn.ctx.Err() == nil
		more := goesOn && attempt < maxWriteAttempts
		switch {
		case known == resourceTaken && goesOn:
			t.standInLine(c, *result.Waits)
			return
		case known == notBegun && goesOn, known == outcomeNone && more:
		case known == outcomeUnknown && more && c.planned.Plan.HonoursKeys:
		default:
			t.giveUp(turn, c, result)
			return
		}
		err := workflow.Sleep(turn.ctx, pause(attempt))
		if t.catchUp(); err == nil {
			err = turn.ctx.Err()
		}
		if err != nil && workflow.GetVersion(t.ctx, changeCancelledPause, workflow.DefaultVersion, 1) >= 1 {
			t.giveUp(turn, c, result)
			return
		}
	}
}

// giveUp makes no further attempt at an effect. The last one came to a result.
func (t *thread) giveUp(turn *turn, c *call, last activities.CallResult) {
	if c.unknown == nil || last.Problem == nil {
		t.settle(c, last)
		return
	}
	unknown := *c.unknown
	c.unknown = nil
	t.doubt(turn, c, unknown)
}

// knowledge is what is known of an attempt's outcome.
type knowledge int

const (
	// outcomeKnown: the call has its result, or the target refused it.
	outcomeKnown knowledge = iota
	// outcomeNone: nothing was sent, and another attempt may go better.
	outcomeNone
	// notBegun: no worker has taken it up.
	notBegun
	// resourceTaken: another write works on its resource, and nothing was sent.
	resourceTaken
	// outcomeUnknown: it may or may not have been applied.
	outcomeUnknown
)

// attempt makes one attempt at an effect and says what is known of its outcome.
func (t *thread) attempt(turn *turn, c *call, n int, again bool) (activities.CallResult, knowledge) {
	plan := c.planned.Plan
	ctx, withdraw := workflow.WithCancel(workflow.WithActivityOptions(t.ctx, writeOptions(c.planned.Tool, plan.Timeout)))
	defer withdraw()
	in := activities.WriteInput{
		Thread: t.governed(), Root: t.info.FirstRunID, Call: c.ref(), Attempt: n, Again: again, Answer: c.question.input(), Near: t.near(),
		Resource: plan.ResourceKey, Waited: c.place.taken,
	}
	t.approach(c)
	var result activities.CallResult
	future := workflow.ExecuteActivity(ctx, a.Write, in)
	_ = workflow.Await(t.ctx, func() bool { return future.IsReady() || turn.ctx.Err() != nil }) // t.ctx is never cancelled
	if !future.IsReady() && workflow.GetVersion(t.ctx, changeWithdraw, workflow.DefaultVersion, 1) >= 1 {
		withdraw()
	}
	err := future.Get(t.ctx, &result)
	t.notePlace(c, result, err)
	switch {
	case err == nil && result.Waits != nil:
		return result, resourceTaken
	case err == nil && result.NotSent:
		return result, outcomeNone
	case err == nil && result.Problem != nil && result.Problem.Code == contract.CodeOutcomeUnknown:
		return result, outcomeUnknown
	case err == nil:
		return result, outcomeKnown
	}
	result = activities.CallResult{ID: c.planned.ID, Problem: failure(c, err)}
	switch {
	case neverStarted(err), withdrawn(err):
		return result, notBegun
	case notSent(err):
		return result, outcomeNone
	case t.withoutIntent(err):
		result.Problem = &contract.Problem{Code: contract.CodeInternal, Message: "the call was not made: its worker was lost before it sent anything"}
		return result, outcomeNone
	case result.Problem.Code == contract.CodeOutcomeUnknown:
		return result, outcomeUnknown
	}
	return result, outcomeKnown
}

// pause is how long to wait before another attempt.
func pause(attempt int) time.Duration { return time.Duration(attempt) * time.Second }

// maxWriteAttempts bounds how often a write is scheduled that was not sent.
const maxWriteAttempts = 5

// changeIntent is the change by which a write that was lost before it had recorded
// an intent is known not to have been sent.
const changeIntent = "write-intent"

// changeWithdraw is the change by which a write of a cancelled turn is withdrawn. The
// server drops one that no worker has begun. A worker that has begun it learns so from
// a heartbeat: it sends nothing unless it has sent already, and then the write goes on to
// its end.
const changeWithdraw = "withdraw-write"

// changeCancelledPause is the change by which a write of a cancelled turn is not
// tried again.
const changeCancelledPause = "cancelled-pause"

// withoutIntent reports whether the worker was lost before it told the server that
// it is about to send.
func (t *thread) withoutIntent(err error) bool {
	var timeout *temporal.TimeoutError
	return errors.As(err, &timeout) && !timeout.HasLastHeartbeatDetails() &&
		workflow.GetVersion(t.ctx, changeIntent, workflow.DefaultVersion, 1) >= 1
}

// notSent reports whether the activity gave up before it called the tool.
func notSent(err error) bool {
	var app *temporal.ApplicationError
	if !errors.As(err, &app) {
		return false
	}
	switch app.Type() {
	case contract.ErrUnknownAgent, activities.ErrTypeThread, activities.ErrTypeNotSent:
		return true
	}
	return false
}

// withdrawn reports whether an activity was cancelled: of a write, before a worker had
// begun it, since it is not told of it otherwise.
func withdrawn(err error) bool {
	var canceled *temporal.CanceledError
	return errors.As(err, &canceled)
}

// neverStarted reports whether no worker can have begun the activity.
func neverStarted(err error) bool {
	var timeout *temporal.TimeoutError
	return errors.As(err, &timeout) && timeout.TimeoutType() == enums.TIMEOUT_TYPE_SCHEDULE_TO_START
}

// failure is what is known of a call whose activity did not come back with a
// result.
func failure(c *call, err error) *contract.Problem {
	switch {
	case neverStarted(err), withdrawn(err) && c.planned.Plan.Operation == catalog.Write:
		return &contract.Problem{Code: contract.CodeCancelled, Message: "the call was not made: the turn was cancelled"}
	case withdrawn(err): // a read
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
