package workflows

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// changeRest is the change by which a run gives way to the next within a snippet.
const changeRest = "rest-within-snippet"

// mayRest reports whether the run is to give way to the next as soon as nothing is
// in flight.
func (t *thread) mayRest() bool {
	return t.full() && workflow.GetVersion(t.ctx, changeRest, workflow.DefaultVersion, 1) >= 1
}

// rests reports whether nothing is in flight: each snippet that runs has the
// outcomes of all that it asked for, but for the times that it lets pass.
func (r *round) rests() bool {
	return r.batch.done() &&
		!slices.ContainsFunc(r.effects, func(c *call) bool { return !c.settled() }) &&
		!slices.ContainsFunc(r.executions, func(x *execution) bool {
			return !x.over && (x.segment != nil || x.call.execution != nil)
		})
}

// rest leaves the snippets that run to the next run. The calls beside them are over.
func (t *thread) rest(turn *turn, r *round) {
	for _, x := range r.executions {
		if !x.over {
			turn.resting = append(turn.resting, x)
		}
	}
}

// putExecutionsAside stores what is known of the snippets that rest.
func (t *thread) putExecutionsAside() error {
	if t.current == nil {
		return nil
	}
	ctx := workflow.WithActivityOptions(t.ctx, archiveOptions())
	for _, x := range t.current.resting {
		in := activities.StoreExecutionInput{Call: x.call.planned.ID, Outcomes: len(x.outcomes)}
		var stored activities.StoreExecutionResult
		if err := workflow.ExecuteActivity(ctx, a.StoreExecution, in).Get(t.ctx, &stored); err != nil {
			return fmt.Errorf("store the snippet of call %s: %w", in.Call, err)
		}
		x.stored, x.records, x.outcomes, x.given = &stored.Execution, nil, nil, 0
		if stored.Input != nil {
			x.call.planned.Input, x.call.planned.Body = nil, stored.Input
		}
	}
	return nil
}

// CarriedExecution is a snippet that goes on in the next run.
type CarriedExecution struct {
	Call   activities.PlannedCall `json:"call"`
	Now    time.Time              `json:"now"`
	Stored *contract.Ref          `json:"stored"`
	Spent  time.Duration          `json:"spent,omitempty"`
	// Segments counts those that there were.
	Segments int          `json:"segments"`
	Naps     []CarriedNap `json:"naps,omitempty"`
	Shown    ShownCalls   `json:"shown"`
}

// CarriedNap is a time that a snippet lets pass.
type CarriedNap struct {
	Number int       `json:"n"`
	Until  time.Time `json:"until"`
}

func (x *execution) carry() CarriedExecution {
	c := CarriedExecution{
		Call: x.call.planned, Now: x.now, Stored: x.stored, Spent: x.spent, Segments: x.segments, Shown: x.shown.with(x.effects),
	}
	c.Call.Plan.Preview = nil // nobody is asked about it any more
	for _, n := range x.naps {
		c.Naps = append(c.Naps, CarriedNap{n.number, n.until})
	}
	return c
}

// resumeExecution takes up a snippet of the run before. Its next segment is due.
func resumeExecution(c CarriedExecution) *execution {
	x := &execution{
		call: &call{planned: c.Call}, now: c.Now, stored: c.Stored, spent: c.Spent, segments: c.Segments, shown: c.Shown, cut: true,
	}
	for _, n := range c.Naps {
		x.naps = append(x.naps, &nap{number: n.Number, until: n.Until})
	}
	return x
}

// goOn takes the snippets of the run before to their end, as runCalls does.
func (t *thread) goOn(turn *turn) *contract.Problem {
	r := &round{batch: &readBatch{}, executions: turn.resting}
	turn.resting = nil
	calls := make([]*call, len(r.executions))
	for i, x := range r.executions {
		calls[i] = x.call
		t.open = append(t.open, x.call.planned.Call)
		for _, n := range x.naps {
			t.startNap(turn, x, n)
		}
	}
	t.executions = r.executions
	t.carryOn(turn, r)
	return t.conclude(turn, calls, nil)
}
