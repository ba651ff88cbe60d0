package workflows

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// execution is a snippet that a call of the model runs. It moves in segments, each
// an activity; in between, the thread carries out what the snippet asks of it.
type execution struct {
	call *call
	// now is the snippet's clock when it began.
	now time.Time
	// stored, records and outcomes are what is known of it. Of the outcomes, given
	// were handed to a segment.
	stored   *contract.Ref
	records  []json.RawMessage
	outcomes []contract.Outcome
	given    int
	// effects are the calls that the thread carries out for it, naps the times that
	// it lets pass.
	effects []*call
	naps    []*nap
	// segments counts them; segment is the one in flight, cut says that the next is
	// due at once.
	segments int
	segment  workflow.Future
	cut      bool
	spent    time.Duration
	shown    ShownCalls
	over     bool
}

// nap is a time that a snippet lets pass.
type nap struct {
	number int
	until  time.Time
	timer  workflow.Future
	stop   workflow.CancelFunc
}

// advance takes in what a segment came to, and begins the next when there is
// something to tell it. It returns the effects that are new.
func (t *thread) advance(turn *turn, x *execution) []*call {
	if x.over {
		return nil
	}
	x.wake(workflow.Now(t.ctx))
	var effects []*call
	if x.segment != nil && x.segment.IsReady() {
		effects = t.takeSegment(turn, x)
	}
	if x.due() && !t.mayRest() {
		t.startSegment(turn, x)
	}
	return effects
}

// due reports whether there is something to tell the next segment.
func (x *execution) due() bool {
	return !x.over && x.segment == nil && (x.segments == 0 || x.cut || x.given < len(x.outcomes))
}

func (t *thread) startSegment(turn *turn, x *execution) {
	if x.segments == 0 {
		x.now = workflow.Now(t.ctx)
	}
	x.segments++
	x.given, x.cut = len(x.outcomes), false
	near := t.near()
	page := t.executionPage(x, contract.ExecutionQuery{Call: x.call.planned.ID, To: x.given})
	near.Execution = &page
	in := activities.SegmentInput{
		Thread: t.governed(), Root: t.info.FirstRunID, Call: x.call.planned.ID, Segment: x.segments,
		Now: x.now, Outcomes: x.given, Spent: x.spent, Dry: turn.run == contract.RunDry, Nested: x.call.execution != nil, Near: near,
		Allowed: activities.Allow(t.bounds(turn)),
	}
	summary := fmt.Sprintf("snippet %s, segment %d", x.call.planned.ID, x.segments)
	x.segment = workflow.ExecuteActivity(workflow.WithActivityOptions(turn.ctx, segmentOptions(summary)), a.Segment, in)
}

// takeSegment takes in what a segment came to.
func (t *thread) takeSegment(turn *turn, x *execution) []*call {
	var result activities.SegmentResult
	err := x.segment.Get(t.ctx, &result)
	x.segment = nil
	if err != nil {
		if turn.ctx.Err() == nil { // else the end of the turn speaks for itself
			t.endExecution(x, activities.CallResult{ID: x.call.planned.ID, Problem: failure(x.call, err)}, nil)
		}
		return nil
	}
	x.spent += result.Spent
	x.cut = result.Cut
	t.count(result.Used)
	t.showServed(turn, x, result)
	if result.End != nil {
		t.report(x, result.End)
		return nil
	}
	if result.Stored != nil {
		x.stored, x.records = result.Stored, nil
		x.outcomes, x.given = slices.Clone(x.outcomes[x.given:]), 0
	} else {
		x.records = append(x.records, result.Record)
	}
	for _, number := range result.Cancelled {
		x.callOff(number)
	}
	for _, sleep := range result.Sleeps {
		t.nap(turn, x, sleep)
	}
	return t.takeEffects(turn, x, result.Effects)
}

// takeEffects makes the planned effects of a snippet calls of the thread.
func (t *thread) takeEffects(turn *turn, x *execution, planned []activities.PlannedCall) []*call {
	effects := make([]*call, len(planned))
	for i, p := range planned {
		c := &call{planned: p, execution: x}
		effects[i] = c
		t.open = append(t.open, p.Call)
		t.showCall(turn, c)
		if c.planned.Kind == activities.CallExecute && c.depth() > maxDepth {
			t.settle(c, refusedCall(c, contract.CodeLimit, fmt.Sprintf("scripts call one another %d deep, at most %d are allowed", c.depth(), maxDepth)))
		}
	}
	x.effects = append(x.effects, effects...)
	t.askFor(turn, effects)
	for _, c := range effects {
		if c.planned.Problem != nil {
			t.settle(c, activities.CallResult{ID: c.planned.ID, Problem: c.planned.Problem})
		}
	}
	t.askFirst(turn, effects)
	return effects
}

// gave records the outcome of an effect, for the next segment.
func (x *execution) gave(c *call, now time.Time) {
	r := c.result
	x.outcomes = append(x.outcomes, contract.Outcome{
		Number: c.planned.Number, Result: r.Result, Body: r.Body, Problem: r.Problem, At: now,
	})
	x.spent += time.Duration(r.DurationMS) * time.Millisecond
}

func (t *thread) nap(turn *turn, x *execution, sleep activities.Sleep) {
	n := &nap{number: sleep.Number, until: workflow.Now(t.ctx).Add(sleep.For)}
	t.startNap(turn, x, n)
	x.naps = append(x.naps, n)
}

func (t *thread) startNap(turn *turn, x *execution, n *nap) {
	var ctx workflow.Context
	ctx, n.stop = workflow.WithCancel(turn.ctx)
	left := max(n.until.Sub(workflow.Now(t.ctx)), 0)
	n.timer = workflow.NewTimerWithOptions(ctx, left, workflow.TimerOptions{Summary: "snippet " + x.call.planned.ID + " sleeps"})
}

// wake records the end of the naps that are over.
func (x *execution) wake(now time.Time) {
	x.naps = slices.DeleteFunc(x.naps, func(n *nap) bool {
		if n.timer.IsReady() {
			x.outcomes = append(x.outcomes, contract.Outcome{Number: n.number, At: now})
		}
		return n.timer.IsReady()
	})
}

func (x *execution) callOff(number int) {
	x.naps = slices.DeleteFunc(x.naps, func(n *nap) bool {
		if n.number == number {
			n.stop()
		}
		return n.number == number
	})
}

// stirs reports whether something has happened that advance acts upon.
func (x *execution) stirs() bool {
	return !x.over && (x.segment != nil && x.segment.IsReady() ||
		x.due() || // a script that it called has ended
		slices.ContainsFunc(x.naps, func(n *nap) bool { return n.timer.IsReady() }))
}

// busy reports whether more than people is waited for.
func (x *execution) busy() bool { return !x.over && (x.segment != nil || len(x.naps) > 0) }

// report ends an execution whose snippet has ended.
func (t *thread) report(x *execution, end *activities.SegmentEnd) {
	result := activities.CallResult{ID: x.call.planned.ID, Result: end.Report}
	switch {
	case x.call.execution != nil: // which gets the value or the problem
		result.Body, result.Problem = end.Whole, end.Problem
	case end.Whole != nil:
		t.keep(contract.KeptResult{Call: x.call.planned.ID, Ref: *end.Whole})
	}
	t.endExecution(x, result, end.Problem)
}

// endExecution gives the call that ran a snippet its result. Effects that were not
// begun are not made, and the agent is told which those were.
func (t *thread) endExecution(x *execution, result activities.CallResult, failed *contract.Problem) {
	x.over = true
	t.withdraw(x.effects)
	t.leaveInDoubt(x.effects)
	for _, n := range x.naps {
		n.stop()
	}
	x.naps = nil
	result.Warning = cut(x.leftOver(), contract.MaxPartText)
	for _, c := range x.effects {
		switch {
		case c.settled():
		case c.begun:
			t.abandonExecution(t.executionOf(c), refusedCall(c, contract.CodeCancelled, "the snippet that called the script ended first").Problem)
		default:
			t.settle(c, c.left(&contract.Problem{Code: contract.CodeCancelled, Message: "the snippet ended first; the call was not made"}))
		}
	}
	x.call.result = &result
	if caller := x.call.execution; caller != nil {
		caller.gave(x.call, workflow.Now(t.ctx))
	}
	t.finishExecution(x, failed)
}

// leftOver says what became of the effects whose outcomes the snippet has not
// seen: they may have been carried out while it came to its end.
func (x *execution) leftOver() string {
	text := ""
	unseen := x.outcomes[x.given:]
	for _, c := range x.effects {
		seen := !slices.ContainsFunc(unseen, func(o contract.Outcome) bool { return o.Number == c.planned.Number })
		switch {
		case !c.settled():
			text += fmt.Sprintf("call %d (%s) was not made, since the snippet ended first. ", c.planned.Number, c.planned.Tool)
		case !seen && c.result.Problem == nil:
			text += fmt.Sprintf("call %d (%s) was carried out while the snippet ended. ", c.planned.Number, c.planned.Tool)
		case !seen:
			text += fmt.Sprintf("call %d (%s) came to %s while the snippet ended. ", c.planned.Number, c.planned.Tool, c.result.Problem.Code)
		}
	}
	return text
}

// abandonExecution ends an execution with the turn.
func (t *thread) abandonExecution(x *execution, problem *contract.Problem) {
	if !x.over {
		t.endExecution(x, activities.CallResult{ID: x.call.planned.ID, Problem: problem}, problem)
	}
}

// maxKeptResults bounds the large results that a thread keeps for tools.result.
const maxKeptResults = 64

// keep remembers a large result.
func (t *thread) keep(kept contract.KeptResult) {
	t.kept = append(t.kept, kept)
	if len(t.kept) > maxKeptResults {
		t.kept = t.kept[len(t.kept)-maxKeptResults:]
	}
}

// executionPage answers a query for an execution with as many outcomes as fit.
func (t *thread) executionPage(x *execution, q contract.ExecutionQuery) contract.ExecutionPage {
	page := contract.ExecutionPage{
		Call: x.call.planned.Call, Source: x.call.planned.Source, Stored: x.stored, Records: slices.Clip(x.records), Results: slices.Clip(t.kept),
	}
	size := 0
	for i := max(q.From, 0); i < min(q.To, len(x.outcomes)); i++ {
		if size += escaped(string(x.outcomes[i].Result)); size > maxPage/2 && i > q.From {
			page.Next = i
			break
		}
		page.Outcomes = append(page.Outcomes, x.outcomes[i])
	}
	return page
}

// ofExecution answers the query for an execution that runs.
func (t *thread) ofExecution(q contract.ExecutionQuery) (contract.ExecutionPage, error) {
	for _, x := range t.executions {
		if x.call.planned.ID == q.Call {
			return t.executionPage(x, q), nil
		}
	}
	return contract.ExecutionPage{}, refuse(contract.ErrInvalid, "call: the thread executes no snippet %q", q.Call)
}
