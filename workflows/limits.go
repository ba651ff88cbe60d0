package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// active is how long the turn has gone on, waits for people not counted.
func (t *thread) active(turn *turn) time.Duration {
	return workflow.Now(t.ctx).Sub(*turn.StartedAt) - turn.waited
}

// bounds are all limits that a turn runs within, with what is used of them. Old
// histories have the first alone: of the others nothing is set.
func (t *thread) bounds(turn *turn) []activities.Bounds {
	ofTurn := activities.Used{Usage: turn.Usage, Steps: turn.Steps, Time: t.active(turn)}
	ofThread := t.used()
	ofThread.Steps, ofThread.Time = ofThread.Steps+turn.Steps, ofThread.Time+ofTurn.Time
	all := []activities.Bounds{
		{Limits: turn.limits.OfTurn(), Used: ofTurn, At: "limits", SetBy: activities.SetByAgent, Whose: "turn"},
		{Limits: turn.limits.Thread, Used: ofThread, At: "limits.thread", SetBy: activities.SetByAgent, Whose: "thread"},
	}
	if l := t.start.TurnLimits; l != nil {
		all = append(all, activities.Bounds{Limits: *l, Used: ofTurn, At: "turn_limits", SetBy: activities.SetByThread, Whose: "turn"})
	}
	if l := t.start.ThreadLimits; l != nil {
		all = append(all, activities.Bounds{Limits: *l, Used: ofThread, At: "thread_limits", SetBy: activities.SetByThread, Whose: "thread"})
	}
	return all
}

// used is what the thread has used: all tokens, calls and cost, and the steps and
// the time of turns that have ended.
func (t *thread) used() activities.Used {
	return activities.Used{Usage: t.usage, Steps: t.steps, Time: t.spent}
}

// usedBefore is what the thread has used before the turn, for the turn's first step:
// the agent's own limits of a thread are known to the activity alone.
func (t *thread) usedBefore(turn *turn) *activities.Used {
	if turn.Steps > 1 {
		return nil
	}
	used := t.used()
	return &used
}

// overLimit says which limit keeps a turn from going on.
func (t *thread) overLimit(turn *turn) *contract.Problem {
	if err := turn.ctx.Err(); err != nil {
		return turn.problem(contract.CodeCancelled, err)
	}
	for _, b := range t.bounds(turn) {
		if e := b.Over(); e != nil {
			return b.Problem(t.start.Agent, e)
		}
	}
	return nil
}

// overCalls says which limit the calls of a model turn go past.
func (t *thread) overCalls(turn *turn) *contract.Problem {
	for _, b := range t.bounds(turn) {
		if e := b.OverCalls(); e != nil {
			return b.Problem(t.start.Agent, e)
		}
	}
	return nil
}

// count adds to what the turn that runs, and the thread, have used.
func (t *thread) count(used contract.Usage) {
	t.usage = t.usage.Add(used)
	if t.current != nil {
		t.current.Usage = t.current.Usage.Add(used)
	}
}

// inputBytes are the bytes of the inputs of calls.
func inputBytes(calls []activities.PlannedCall) (n int64) {
	for _, c := range calls {
		n += bytesOf(c.Input, c.Body)
	}
	return n
}

// bytesOf is the length of a value that may have been stored.
func bytesOf(inline []byte, stored *contract.Ref) int64 {
	if stored != nil {
		return stored.Size
	}
	return int64(len(inline))
}
