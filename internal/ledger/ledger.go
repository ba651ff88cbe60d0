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
	"go.temporal.io/sdk/converter"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// memoClaim is the field of a claim's memo that says whose it is.
const memoClaim = "claim"

// takeovers bounds how often a claim is tried to be taken over from attempts that
// keep changing.
const takeovers = 5

// Ledger is an [activities.Ledger] over a Temporal client.
type Ledger struct {
	temporal  client.Client
	converter converter.DataConverter
	// delay is how long a claim takes no worker: [contract.ClaimKept].
	delay time.Duration
}

var _ activities.Ledger = (*Ledger)(nil)

// New returns a ledger. The data converter is the one that the client was dialed
// with; nil is the default one.
func New(temporal client.Client, dc converter.DataConverter) *Ledger {
	if dc == nil {
		dc = converter.GetDefaultDataConverter()
	}
	return &Ledger{temporal: temporal, converter: dc, delay: contract.ClaimKept}
}

// Claim claims a key. It is called from within an activity.
func (l *Ledger) Claim(ctx context.Context, key string, claim activities.Claim) (activities.Claimed, error) {
	for range takeovers {
		run, err := l.temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
			ID:                    contract.ClaimID(key),
			TaskQueue:             activity.GetInfo(ctx).TaskQueue,
			StartDelay:            l.delay,
			WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY,
			Memo:                  map[string]any{memoClaim: claim},
			StaticSummary:         fmt.Sprintf("%s, call %s of thread %s", claim.Tool, claim.Call, claim.Thread),

			WorkflowExecutionErrorWhenAlreadyStarted: true,
		}, contract.ClaimType)
		var taken *serviceerror.WorkflowExecutionAlreadyStarted
		switch {
		case err == nil:
			return activities.Claimed{ID: run.GetRunID(), Own: true, Claim: claim}, nil
		case !errors.As(err, &taken):
			return activities.Claimed{}, err
		}
		found, err := l.Look(ctx, key)
		switch {
		case err != nil:
			return activities.Claimed{}, err
		case found == nil: // it was released meanwhile
		case found.Result != nil || !claim.Supersedes(found.Claim):
			return *found, nil
		default:
			if err := l.Release(ctx, key, found.ID, "taken over by a later attempt: nothing was sent"); err != nil {
				return activities.Claimed{}, err
			}
		}
	}
	return activities.Claimed{}, errors.New("the claim of the write keeps changing hands")
}

// Look returns what stands of a key; nil if nothing does. All of it is in the
// claim's few events.
func (l *Ledger) Look(ctx context.Context, key string) (*activities.Claimed, error) {
	found, free := &activities.Claimed{}, false
	events := l.temporal.GetWorkflowHistory(ctx, contract.ClaimID(key), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		var missing *serviceerror.NotFound
		if errors.As(err, &missing) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("look at the claim: %w", err)
		}
		switch event.GetEventType() {
		case enums.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
			started := event.GetWorkflowExecutionStartedEventAttributes()
			found.ID = started.GetOriginalExecutionRunId()
			err = l.converter.FromPayload(started.GetMemo().GetFields()[memoClaim], &found.Claim)
		case enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
			if signal := event.GetWorkflowExecutionSignaledEventAttributes(); found.Result == nil && signal.GetSignalName() == contract.SignalOutcome {
				err = l.converter.FromPayloads(signal.GetInput(), &found.Result)
			}
		case enums.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED:
			free = true
		}
		if err != nil {
			return nil, fmt.Errorf("read the claim: %w", err)
		}
	}
	if free && found.Result == nil {
		return nil, nil
	}
	return found, nil
}

// Record tells a claim how the write ended. What it was told first holds.
func (l *Ledger) Record(ctx context.Context, key, id string, result activities.CallResult) error {
	return insist(ctx, func() error {
		return l.temporal.SignalWorkflow(ctx, contract.ClaimID(key), id, contract.SignalOutcome, result)
	})
}

// Release takes a claim back.
func (l *Ledger) Release(ctx context.Context, key, id, reason string) error {
	return insist(ctx, func() error { return l.temporal.TerminateWorkflow(ctx, contract.ClaimID(key), id, reason) })
}

// insistMost bounds the pause before something is asked again.
const insistMost = time.Second

// insist asks something of a claim until it is done or ctx ends: a process that stood
// still for a while finds its connection gone, and the client does not ask again when
// the server has called a request off. To be asked twice does no harm.
func insist(ctx context.Context, ask func() error) error {
	for pause := askAgain; ; pause = min(2*pause, insistMost) {
		err := ended(ask())
		var invalid *serviceerror.InvalidArgument
		var denied *serviceerror.PermissionDenied
		if err == nil || errors.As(err, &invalid) || errors.As(err, &denied) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

// ended passes over a claim that is closed.
func ended(err error) error {
	var missing *serviceerror.NotFound
	if errors.As(err, &missing) {
		return nil
	}
	return err
}

// beatWithin bounds one try to tell the server.
const beatWithin = 5 * time.Second

// Beat tells the server the intent of the activity of ctx.
func (l *Ledger) Beat(ctx context.Context, intent *activities.Intent) error {
	ctx, cancel := context.WithTimeout(ctx, beatWithin)
	defer cancel()
	var details []any
	if intent != nil {
		details = []any{intent}
	}
	info := activity.GetInfo(ctx)
	return l.temporal.RecordActivityHeartbeatWithOptions(ctx, client.RecordActivityHeartbeatOptions{
		TaskToken: info.TaskToken, Details: details, WorkflowID: info.WorkflowExecution.ID,
		ActivityType: info.ActivityType.Name, WorkflowType: info.WorkflowType.Name, TaskQueue: info.TaskQueue,
	})
}
