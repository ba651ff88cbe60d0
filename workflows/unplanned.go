package workflows

import (
	"encoding/json"

	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// askFirst opens the questions of calls that have asked before they were handed over.
func (t *thread) askFirst(turn *turn, effects []*call) {
	for _, c := range effects {
		if c.planned.Asks != nil && !c.settled() {
			t.askPerson(turn, c, c.planned.Asks)
		}
	}
}

// connected is what an agent is told when a person has connected a source.
var connected = json.RawMessage(`{"connected":true}`)

// unplanned reports whether nothing was known of the call's tool when it was asked for:
// the tools of a server that nobody has connected, say.
func (c *call) unplanned() bool {
	return c.planned.Asks != nil && c.planned.Plan.DescriptorDigest == ""
}

// planAnew plans a call that could not be planned before a person had answered. What
// still stands in the way is its problem, and is not asked for again.
func (t *thread) planAnew(turn *turn, c *call) {
	c.planned.Asks, c.question = nil, nil
	t.planAgain(turn, c, nil)
}

// planAgain has a call planned as things are now. It is then like any other: it may need
// an approval, and may ask something itself. Before is what it was planned with.
func (t *thread) planAgain(turn *turn, c *call, before *contract.Ref) {
	in := activities.ReplanInput{
		Thread: t.governed(), Call: c.planned.ID, Tool: c.planned.Tool, Input: c.planned.Input, Body: c.planned.Body, Before: before,
	}
	ctx := workflow.WithActivityOptions(turn.ctx, planOptions("plan "+c.planned.ID))
	var planned activities.ReplanResult
	if err := workflow.ExecuteActivity(ctx, a.Replan, in).Get(ctx, &planned); err != nil {
		t.settle(c, refusedCall(c, contract.CodeInternal, cut("the call was not made, since it cannot be planned: "+cause(err), contract.MaxPartText)))
		return
	}
	c.planned.Plan, c.planned.Kind, c.planned.Source = planned.Plan, planned.Kind, planned.Source
	c.planned.Described, c.planned.Changed = planned.Described, planned.Changed
	if planned.Problem != nil {
		t.settle(c, activities.CallResult{ID: c.planned.ID, Problem: planned.Problem})
		return
	}
	t.showPlan(c)
	t.askFor(turn, []*call{c})
}
