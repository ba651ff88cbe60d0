package workflows

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// Lock has the writes to one resource of a tenant go one after the other, in the
// order in which they came. A write asks for it with an update, which is answered
// at once; one that must wait is sent a signal when the lock is its own. It ends when
// nobody has wanted it for a while.
//
// An owner releases its lock, as a rule. One that has not done so by the end of its
// lease is asked after, and what is asked is not the owner, which may be gone, but
// the claim of its write:
//
//   - there is none: nothing was sent. The lock goes on to the next. Should the
//     owner's worker wake up after that, it sends nothing: to send it would need to
//     have begun within half a lease, see [activities.Activities.Write];
//   - the claim has an outcome: the write is over. The lock goes on;
//   - the claim is open, and so is the thread: the write is under way, or its
//     outcome is not known and the thread is about to find out. The lease is
//     renewed. The thread releases the lock when it has found out or gives up, and
//     with [contract.SignalHold] it says that a person is asked: from then on nobody
//     waits for the lock, and who asks for it is refused;
//   - the claim is open and the thread is not, since an operator terminated it:
//     nobody will ever find out. The lock goes on.
func Lock(ctx workflow.Context, in activities.LockInput) error {
	l := &lock{ctx: ctx, tenant: in.Tenant, state: contract.LockState{Resource: in.Resource}}
	if in.Carried != nil {
		l.state = *in.Carried
		l.state.Queue = slices.Clone(l.state.Queue)
		l.renew()
	}
	return l.run()
}

type lock struct {
	ctx    workflow.Context
	tenant string
	state  contract.LockState
	// until is the end of the holder's lease, renewals how often it was renewed.
	until    time.Time
	renewals int

	timer     workflow.Future
	timerAt   time.Time
	stopTimer workflow.CancelFunc

	releases, holds workflow.ReceiveChannel
	// refused are those that waited and are to be told that nobody gets the lock now.
	refused []contract.LockOwner
}

const (
	// maxLease bounds the leases of an owner, which grow each time it is asked after.
	maxLease = 10 * time.Minute
	// lockIdle is how long a lock stays that nobody wants.
	lockIdle = 30 * time.Second
)

func (l *lock) run() error {
	if err := l.receive(); err != nil {
		return err
	}
	for {
		l.tellRefused()
		l.passOn()
		workflow.SetCurrentDetails(l.ctx, l.details())
		if l.full() {
			return l.rollOver()
		}
		l.setTimer()
		err := workflow.Await(l.ctx, func() bool { return l.stirs() || l.timer.IsReady() || l.full() })
		if err != nil {
			return err
		}
		l.drain()
		if !l.timer.IsReady() {
			continue
		}
		l.timer = nil
		switch {
		case l.state.Holder != nil:
			l.askAfter()
		case len(l.state.Queue) == 0 && workflow.AllHandlersFinished(l.ctx):
			return nil
		}
	}
}

// receive sets up everything by which the lock is spoken to.
func (l *lock) receive() error {
	l.releases = workflow.GetSignalChannel(l.ctx, contract.SignalRelease)
	l.holds = workflow.GetSignalChannel(l.ctx, contract.SignalHold)
	err := workflow.SetQueryHandler(l.ctx, contract.QueryLock, func() (contract.LockState, error) { return l.state, nil })
	if err != nil {
		return err
	}
	return workflow.SetUpdateHandlerWithOptions(l.ctx, contract.UpdateAcquire,
		func(_ workflow.Context, o contract.LockOwner) (contract.LockAnswer, error) { return l.acquire(o) },
		workflow.UpdateHandlerOptions{Validator: l.check})
}

// check refuses an owner that cannot be right.
func (l *lock) check(o contract.LockOwner) error {
	if err := o.Validate(); err != nil {
		return refuse(contract.ErrInvalid, "%v", err)
	}
	if o.Tenant != l.tenant {
		return refuse(contract.ErrInvalid, "tenant: the lock is of tenant %s, not %s", l.tenant, o.Tenant)
	}
	if len(l.state.Queue) >= contract.MaxLockQueue && l.place(o) < 0 && !l.has(o) {
		return refuse(contract.ErrQueueFull, "%d writes wait for %s already", len(l.state.Queue), l.state.Resource)
	}
	return nil
}

// acquire gives the lock to who may have it at once, and others a place in the queue.
// A release that came before it may not have been looked at yet.
func (l *lock) acquire(o contract.LockOwner) (contract.LockAnswer, error) {
	l.drain()
	o.Since = workflow.Now(l.ctx)
	switch {
	case l.has(o):
		l.renew()
		return contract.LockAnswer{Status: contract.LockGranted}, nil
	case l.state.Unknown:
		return l.answer(contract.LockRefused, 0), nil
	case l.state.Holder == nil && len(l.state.Queue) == 0:
		l.give(o)
		return contract.LockAnswer{Status: contract.LockGranted}, nil
	}
	place := l.place(o)
	if place < 0 {
		place = len(l.state.Queue)
		l.state.Queue = append(l.state.Queue, o)
	}
	return l.answer(contract.LockWaiting, place), nil
}

func (l *lock) has(o contract.LockOwner) bool {
	return l.state.Holder != nil && l.state.Holder.Key == o.Key
}

func (l *lock) place(o contract.LockOwner) int {
	return slices.IndexFunc(l.state.Queue, func(other contract.LockOwner) bool { return other.Key == o.Key })
}

func (l *lock) give(o contract.LockOwner) {
	o.Since = workflow.Now(l.ctx)
	l.state.Holder, l.state.Unknown = &o, false
	l.renew()
}

// renew begins a lease.
func (l *lock) renew() {
	l.renewals = 0
	l.until = workflow.Now(l.ctx).Add(contract.LockLease)
}

// answer tells someone who does not have the lock who does.
func (l *lock) answer(status contract.LockStatus, ahead int) contract.LockAnswer {
	taken := contract.Lock{Resource: l.state.Resource, Ahead: ahead}
	if h := l.state.Holder; h != nil {
		taken.Holder, taken.Call, taken.Tool, taken.Since = h.ThreadRef.String(), h.Call, h.Tool, h.Since
	}
	return contract.LockAnswer{Status: status, Lock: &taken}
}

// passOn gives a free lock to the next that can be told so.
func (l *lock) passOn() {
	for l.state.Holder == nil && len(l.state.Queue) > 0 {
		next := l.state.Queue[0]
		l.state.Queue = l.state.Queue[1:]
		l.give(next)
		told := l.tell(next, contract.LockAnswer{Status: contract.LockGranted})
		if err := told.Get(l.ctx, nil); err != nil && l.has(next) {
			l.state.Holder = nil // its thread has ended
		}
		l.drain()
	}
}

func (l *lock) tell(o contract.LockOwner, answer contract.LockAnswer) workflow.Future {
	notice := contract.LockNotice{LockAnswer: answer, Key: o.Key, Resource: l.state.Resource}
	return workflow.SignalExternalWorkflow(l.ctx, o.WorkflowID(), "", contract.SignalLock, notice)
}

// stirs reports whether there is something to do.
func (l *lock) stirs() bool {
	return l.releases.Len()+l.holds.Len()+len(l.refused) > 0 || l.state.Holder == nil && len(l.state.Queue) > 0
}

// drain takes in what the lock was told. It does not block, since updates call it.
func (l *lock) drain() {
	for {
		var o incoming[contract.LockOwner]
		if !l.releases.ReceiveAsync(&o) {
			break
		}
		l.release(o.payload)
	}
	for {
		var o incoming[contract.LockOwner]
		if !l.holds.ReceiveAsync(&o) {
			break
		}
		l.hold(o.payload)
	}
}

func (l *lock) release(o contract.LockOwner) {
	if l.has(o) {
		l.state.Holder, l.state.Unknown = nil, false
		return
	}
	l.state.Queue = slices.DeleteFunc(l.state.Queue, func(other contract.LockOwner) bool { return other.Key == o.Key })
}

// hold keeps the lock for an owner of whose write nobody knows whether it was
// applied. Nobody is left to wait for that: it can take days.
func (l *lock) hold(o contract.LockOwner) {
	if !l.has(o) {
		return
	}
	l.state.Unknown = true
	l.refused = append(l.refused, l.state.Queue...)
	l.state.Queue = nil
}

// tellRefused tells those that waited that nobody gets the lock now.
func (l *lock) tellRefused() {
	if !l.state.Unknown { // it was released meanwhile
		l.state.Queue = append(l.refused, l.state.Queue...)
		l.refused = nil
		return
	}
	var told []workflow.Future
	for _, waited := range l.refused {
		told = append(told, l.tell(waited, l.answer(contract.LockRefused, 0)))
	}
	l.refused = nil
	for _, t := range told {
		_ = t.Get(l.ctx, nil) // a thread that has ended need not know
	}
}

// askAfter asks after an owner that has had the lock for its whole lease. While
// that cannot be answered, it keeps it.
func (l *lock) askAfter() {
	owner := *l.state.Holder
	if workflow.Now(l.ctx).Before(l.until) {
		return
	}
	holds := true
	ctx := workflow.WithActivityOptions(l.ctx, holdsOptions(owner))
	err := workflow.ExecuteActivity(ctx, a.Holds, owner).Get(l.ctx, &holds)
	l.drain()
	switch {
	case !l.has(owner): // it was released meanwhile
	case err == nil && !holds:
		l.state.Holder, l.state.Unknown = nil, false
	case !workflow.Now(l.ctx).Before(l.until):
		l.renewals++
		l.until = workflow.Now(l.ctx).Add(min(contract.LockLease<<min(l.renewals, 10), maxLease))
	}
}

// setTimer wakes the lock when the lease ends or, without an owner, when it may
// end. A timer that goes off too early is left: most leases are over long before.
func (l *lock) setTimer() {
	at := workflow.Now(l.ctx).Add(lockIdle)
	if l.state.Holder != nil {
		at = l.until
	}
	if l.timer != nil {
		if !l.timerAt.After(at) {
			return
		}
		l.stopTimer()
	}
	var ctx workflow.Context
	ctx, l.stopTimer = workflow.WithCancel(l.ctx)
	l.timer = workflow.NewTimer(ctx, at.Sub(workflow.Now(l.ctx)))
	l.timerAt = at
}

func (l *lock) full() bool {
	info := workflow.GetInfo(l.ctx)
	return info.GetContinueAsNewSuggested() || info.GetCurrentHistoryLength() >= rollOverEvents
}

// rollOver continues as new, with the owner and all who wait.
func (l *lock) rollOver() error {
	if err := workflow.Await(l.ctx, func() bool { return workflow.AllHandlersFinished(l.ctx) }); err != nil {
		return err
	}
	for l.drain(); len(l.refused) > 0; l.drain() {
		l.tellRefused()
	}
	return workflow.NewContinueAsNewError(l.ctx, contract.LockType, activities.LockInput{
		Tenant: l.tenant, Resource: l.state.Resource, Carried: &l.state,
	})
}

// details tells a person in the Temporal UI who has the lock.
func (l *lock) details() string {
	var d strings.Builder
	fmt.Fprintf(&d, "The lock of `%s` of tenant %s: ", l.state.Resource, l.tenant)
	switch h := l.state.Holder; {
	case h == nil:
		d.WriteString("free.\n")
	case l.state.Unknown:
		fmt.Fprintf(&d, "kept, since nobody knows whether call %s (%s) of thread `%s` was applied.\n", h.Call, h.Tool, h.ThreadRef)
	default:
		fmt.Fprintf(&d, "call %s (%s) of thread `%s` has it since %s.\n", h.Call, h.Tool, h.ThreadRef, h.Since.UTC().Format(time.RFC3339))
	}
	if n := len(l.state.Queue); n > 0 {
		fmt.Fprintf(&d, "\n%s waiting; first call %s of thread `%s`.\n", plural(n, "write"), l.state.Queue[0].Call, l.state.Queue[0].ThreadRef)
	}
	return d.String()
}
