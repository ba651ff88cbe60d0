package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// place is an effect's place at the lock of its resource. The write activity gets
// and releases the lock; the thread comes in when there is something to wait for, and
// when the activity could not release it.
type place struct {
	// taken says that the lock may have the effect down as its owner, or as one that
	// waits.
	taken bool
	// granted and refused are what the lock has said since the effect last asked for
	// it. It may say so before the answer of the activity that asked is here.
	granted bool
	refused *contract.Lock
	// lock is set while the effect waits, and says who has the lock.
	lock *contract.Lock
	// again is when the lock is asked again, in case that it was lost.
	again     workflow.Future
	stopTimer workflow.CancelFunc
}

// askLockAgain is how long an effect waits to be told that the lock is its own before
// it asks again. A lock tells it: this is for one that an operator has terminated.
const askLockAgain = 5 * time.Minute

// changeResourceLock is the change by which writes with a resource key got locks.
const changeResourceLock = "resource-lock"

// waits reports whether the effect waits for its resource.
func (c *call) waits() bool {
	p := &c.place
	return !c.settled() && p.lock != nil && p.refused == nil && !p.granted && !p.again.IsReady()
}

// moved reports whether an effect that waited for its resource need not any longer.
func (c *call) moved() bool { return !c.settled() && c.place.lock != nil && !c.waits() }

// approach prepares an effect for what the lock of its resource may say.
func (t *thread) approach(c *call) {
	t.leaveLine(c)
	c.place.granted, c.place.refused = false, nil
	if c.planned.Plan.ResourceKey != "" && !slices.Contains(t.keyed, c) {
		t.keyed = append(t.keyed, c)
	}
}

// standInLine has an effect wait for its resource. Others go on meanwhile.
func (t *thread) standInLine(c *call, taken contract.Lock) {
	c.place.lock = &taken
	var ctx workflow.Context
	ctx, c.place.stopTimer = workflow.WithCancel(t.ctx)
	c.place.again = workflow.NewTimerWithOptions(ctx, askLockAgain, workflow.TimerOptions{
		Summary: "ask again for the resource of " + c.planned.ID,
	})
	t.update(c.planned.ID, func(p *contract.Part) { p.Status, p.Lock = contract.PartWaiting, &taken })
}

// leaveLine ends the waiting of an effect, if it waited.
func (t *thread) leaveLine(c *call) {
	if c.place.lock == nil {
		return
	}
	c.place.stopTimer()
	c.place.lock = nil
	t.update(c.planned.ID, func(p *contract.Part) { p.Status, p.Lock = contract.PartRunning, nil })
}

// settleRefused ends the effects that wait for a lock that nobody gets now.
func (t *thread) settleRefused(effects []*call) {
	for _, c := range effects {
		if c.moved() && c.place.refused != nil {
			c.place.taken = false
			t.settle(c, c.left(activities.ResourceBlocked(*c.place.refused)))
		}
	}
}

// notePlace takes in what an attempt says of the effect's place.
func (t *thread) notePlace(c *call, result activities.CallResult, err error) {
	switch {
	case c.planned.Plan.ResourceKey == "":
	case err == nil:
		c.place.taken = result.Held || result.Waits != nil
	case neverStarted(err) || withdrawn(err) || c.place.taken:
	default: // it may have got the lock before it was lost
		c.place.taken = workflow.GetVersion(t.ctx, changeResourceLock, workflow.DefaultVersion, 1) >= 1
	}
}

// giveUpPlace releases the lock of an effect that is over, or its place there.
func (t *thread) giveUpPlace(c *call) {
	t.leaveLine(c)
	if c.place.taken {
		c.place.taken = false
		t.release(c.planned.Plan.ResourceKey, t.ownerOf(c.ref()))
	}
}

func (t *thread) ownerOf(ref activities.CallRef) contract.LockOwner {
	return contract.LockOwner{
		Key:       activities.IdempotencyKey(t.info.FirstRunID, ref),
		ThreadRef: t.start.ThreadRef, Call: ref.ID, Tool: ref.Tool,
	}
}

// release tells a lock that a write needs it no longer. Nobody waits for that: a
// lock that is not told asks after its owner by itself.
func (t *thread) release(resource string, owner contract.LockOwner) {
	workflow.SignalExternalWorkflow(t.ctx, contract.LockID(t.start.Tenant, resource), "", contract.SignalRelease, owner)
}

// takeLock takes a lock's word that a write need not wait for it any longer.
func (t *thread) takeLock(n contract.LockNotice) error {
	i := slices.IndexFunc(t.keyed, func(c *call) bool {
		return c.planned.Plan.ResourceKey == n.Resource && t.ownerOf(c.ref()).Key == n.Key
	})
	switch {
	case n.Status == contract.LockGranted && i < 0: // nobody waits for it any longer
		t.release(n.Resource, contract.LockOwner{Key: n.Key, ThreadRef: t.start.ThreadRef})
	case n.Status == contract.LockGranted:
		t.keyed[i].place.granted = true
	case n.Status != contract.LockRefused:
		return refuse(contract.ErrInvalid, "status: %q, want %q or %q", n.Status, contract.LockGranted, contract.LockRefused)
	case n.Lock == nil:
		return refuse(contract.ErrInvalid, "lock: is missing")
	case i >= 0:
		t.keyed[i].place.refused = n.Lock
	}
	return nil
}

// holdLock tells the lock of a write that a person is asked whether it was applied, so
// that nobody waits for the lock.
func (t *thread) holdLock(r *reconciliation) {
	if r.locked {
		workflow.SignalExternalWorkflow(t.ctx, contract.LockID(t.start.Tenant, r.Resource), "", contract.SignalHold, t.ownerOf(r.ref))
	}
}

// freeLock releases the lock of a write when it is known whether it was applied, or
// nobody will find out.
func (t *thread) freeLock(r *reconciliation) {
	if r.locked {
		r.locked = false
		t.release(r.Resource, t.ownerOf(r.ref))
	}
}
