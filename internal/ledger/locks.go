package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// Locks are [activities.Locks] over a Temporal client. A lock is asked with
// update-with-start: its answer comes with the one call, and a lock that nobody has
// need not exist.
type Locks struct {
	temporal client.Client
	ledger   *Ledger
}

var _ activities.Locks = (*Locks)(nil)

// NewLocks returns locks that look at the claims of a ledger.
func NewLocks(temporal client.Client, ledger *Ledger) *Locks {
	return &Locks{temporal: temporal, ledger: ledger}
}

// askAgain is how long to wait before a lock is asked again that was just about to
// end or to continue as new, or was busy.
const askAgain = 50 * time.Millisecond

// Acquire asks for the lock of a resource. It asks until it is answered, ctx ends or
// the lock refuses the question.
func (l *Locks) Acquire(ctx context.Context, resource string, owner contract.LockOwner) (contract.LockAnswer, error) {
	for {
		answer, err := l.ask(ctx, resource, owner)
		var refused *temporal.ApplicationError
		if err == nil || ctx.Err() != nil || errors.As(err, &refused) {
			return answer, err
		}
		select {
		case <-ctx.Done():
			return answer, err
		case <-time.After(askAgain):
		}
	}
}

func (l *Locks) ask(ctx context.Context, resource string, owner contract.LockOwner) (answer contract.LockAnswer, err error) {
	id := contract.LockID(owner.Tenant, resource)
	handle, err := l.temporal.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: l.temporal.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
			ID:                       id,
			TaskQueue:                activity.GetInfo(ctx).TaskQueue,
			WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
			WorkflowIDReusePolicy:    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
			StaticSummary:            "lock of " + resource,
		}, contract.LockType, activities.LockInput{Tenant: owner.Tenant, Resource: resource}),
		UpdateOptions: client.UpdateWorkflowOptions{
			WorkflowID: id, UpdateName: contract.UpdateAcquire, Args: []any{owner},
			WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	if err == nil {
		err = handle.Get(ctx, &answer)
	}
	if err != nil {
		return answer, fmt.Errorf("ask the lock %s: %w", id, err)
	}
	return answer, nil
}

// Release gives a lock, or a place among those who wait for it, back.
func (l *Locks) Release(ctx context.Context, resource string, owner contract.LockOwner) error {
	id := contract.LockID(owner.Tenant, resource)
	return ended(l.temporal.SignalWorkflow(ctx, id, "", contract.SignalRelease, owner))
}

// Holds reports whether an owner needs its lock still. The claim of its write says
// so: none was made, and it has sent nothing; or its outcome is recorded. Where the
// claim is open, the write is under way or its outcome is to be found out, as long as
// there is a thread that does.
func (l *Locks) Holds(ctx context.Context, owner contract.LockOwner) (bool, error) {
	claimed, err := l.ledger.Look(ctx, owner.Key)
	if err != nil || claimed == nil || claimed.Result != nil {
		return false, err
	}
	thread, err := l.temporal.DescribeWorkflow(ctx, owner.WorkflowID(), "")
	var missing *serviceerror.NotFound
	switch {
	case errors.As(err, &missing):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look at the thread that has the lock: %w", err)
	}
	return thread.Status == enums.WORKFLOW_EXECUTION_STATUS_RUNNING, nil
}
