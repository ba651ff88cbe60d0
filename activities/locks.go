package activities

import (
	"context"
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// Locks keeps writes to one resource apart, over all threads of a tenant: who has
// come first goes first.
type Locks interface {
	// Acquire asks for the lock of a resource, or for how the owner stands to it. The
	// answer comes at once; who must wait is told by signal when it has the lock. It
	// is called from within an activity.
	Acquire(ctx context.Context, resource string, owner contract.LockOwner) (contract.LockAnswer, error)
	// Release gives a lock, or a place among those who wait for it, back.
	Release(ctx context.Context, resource string, owner contract.LockOwner) error
	// Holds reports whether an owner that has not released a lock needs it: whether
	// its write may be under way, or its outcome is still to be found out.
	Holds(ctx context.Context, owner contract.LockOwner) (bool, error)
}

// Holds is asked by a lock whose owner has had it for long.
func (a *Activities) Holds(ctx context.Context, owner contract.LockOwner) (bool, error) {
	return a.Locks.Holds(ctx, owner)
}

// standing is how a write stands to the lock of its resource.
type standing struct {
	locks    Locks
	resource string
	owner    contract.LockOwner

	// placed says that it has a place at the lock, at that it has the lock since then.
	placed bool
	at     time.Time
	// waits says who has the lock, and refused that nobody gets it now.
	waits   *contract.Lock
	refused *contract.Lock
}

// sendWithin is how long after it got its lock a write may begin to send. A claim
// that is made later than a lease could be missed by those who ask after it; see
// [Locks.Holds].
const sendWithin = contract.LockLease / 2

// acquire asks for the lock. Without one in the end, and without an error, the
// write must wait or is refused.
func (s *standing) acquire(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ledgerTimeout)
	defer cancel()
	at := time.Now()
	answer, err := s.locks.Acquire(ctx, s.resource, s.owner)
	if err != nil {
		return err
	}
	switch answer.Status {
	case contract.LockGranted:
		s.placed, s.at = true, at
	case contract.LockWaiting:
		s.placed, s.waits = true, answer.Lock
	case contract.LockRefused:
		s.placed, s.refused = false, answer.Lock
	default:
		return fmt.Errorf("the lock answers %q", answer.Status)
	}
	return nil
}

// late reports whether the lock has been had for too long to begin to send now.
func (s *standing) late() bool { return !s.at.IsZero() && time.Since(s.at) > sendWithin }

// notNow is the result of a write that did not get its lock; nil if it did.
func (s *standing) notNow(id string) *CallResult {
	switch {
	case s.refused != nil:
		return &CallResult{ID: id, Problem: ResourceBlocked(*s.refused)}
	case s.waits != nil:
		return &CallResult{ID: id, NotSent: true, Waits: s.waits, Problem: &contract.Problem{
			Code: contract.CodeResourceBusy, Message: s.waits.String() + "; the call was not made",
		}}
	}
	return nil
}

// release gives up the place at the lock. Where that fails, the thread does it.
func (s *standing) release(ctx context.Context) error {
	if !s.placed {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ledgerTimeout)
	defer cancel()
	err := s.locks.Release(ctx, s.resource, s.owner)
	s.placed = err != nil
	return err
}

// ResourceBlocked says that a write is refused since nobody knows whether another
// one to its resource was applied.
func ResourceBlocked(lock contract.Lock) *contract.Problem {
	return problem(&catalog.Error{
		Code: contract.CodeResourceBlocked, Effect: catalog.EffectNone,
		Message: lock.String() + ", and nobody knows yet whether that was applied; the call was not made",
		Hint:    "Do not try to reach the same by another call. Go on with something else, or tell the user.",
	})
}

// LockInput is the argument of the workflow of a lock and, after a
// continue-as-new, what the run before left.
type LockInput struct {
	Tenant   string              `json:"tenant"`
	Resource string              `json:"resource"`
	Carried  *contract.LockState `json:"carried,omitempty"`
}
