package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// a names the activities; it is never called.
var a *activities.Activities

// beatTimeout is how long the server waits for a heartbeat before it takes a
// worker for lost. Activities send one every two seconds.
const beatTimeout = 10 * time.Second

// When a run gives way to the next. The server suggests it at 4 MiB or 4,096
// events; a run that is replayed after a crash should be shorter.
const (
	rollOverEvents = 2000
	rollOverBytes  = 2 << 20
)

func modelTurnOptions(summary string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout: 15 * time.Minute,
		HeartbeatTimeout:    beatTimeout,
		Summary:             summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:    time.Second,
			BackoffCoefficient: 2,
			MaximumInterval:    time.Minute,
			MaximumAttempts:    8,
		},
	}
}

func batchReadOptions(summary string, calls []*call) workflow.ActivityOptions {
	longest := catalog.DefaultTimeout
	for _, c := range calls {
		longest = max(longest, c.planned.Plan.Timeout)
	}
	rounds := (len(calls) + activities.MaxReadsAtOnce - 1) / activities.MaxReadsAtOnce
	return workflow.ActivityOptions{
		StartToCloseTimeout: time.Duration(rounds)*(longest+2*activities.ReadRetryWithin) + time.Minute,
		HeartbeatTimeout:    beatTimeout,
		Summary:             summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:    500 * time.Millisecond,
			BackoffCoefficient: 2,
			MaximumInterval:    30 * time.Second,
			MaximumAttempts:    8,
		},
	}
}

// maxSegment bounds one segment of a snippet, well past the time that a snippet may
// take as a whole.
const maxSegment = 30 * time.Minute

// segmentOptions have a segment that died run again: it has no effect.
func segmentOptions(summary string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout: maxSegment,
		HeartbeatTimeout:    beatTimeout,
		Summary:             summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:    200 * time.Millisecond,
			BackoffCoefficient: 2,
			MaximumInterval:    30 * time.Second,
			MaximumAttempts:    8,
		},
	}
}

// writeOptions allow a single attempt. The schedule-to-start timeout proves that
// a write never began, and only then is it scheduled again.
func writeOptions(summary string, timeout time.Duration) workflow.ActivityOptions {
	if timeout == 0 {
		timeout = catalog.DefaultTimeout
	}
	return workflow.ActivityOptions{
		ScheduleToStartTimeout: time.Hour,
		StartToCloseTimeout:    timeout + time.Minute,
		HeartbeatTimeout:       beatTimeout,
		WaitForCancellation:    true, // what was sent has an outcome
		Summary:                summary,
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: activities.WriteAttempts},
	}
}

// reconcileOptions bound how long a tool is asked what became of a call, after that
// call's time is over: then a person is asked.
func reconcileOptions(summary string, timeout time.Duration) workflow.ActivityOptions {
	if timeout == 0 {
		timeout = catalog.DefaultTimeout
	}
	return workflow.ActivityOptions{
		ScheduleToCloseTimeout: timeout + 10*time.Minute,
		StartToCloseTimeout:    timeout + time.Minute,
		HeartbeatTimeout:       beatTimeout,
		Summary:                summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:    time.Second,
			BackoffCoefficient: 2,
			MaximumInterval:    time.Minute,
		},
	}
}

// concludeOptions never give up: what a person found must be written down.
func concludeOptions(summary string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute,
		Summary:             summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:    time.Second,
			BackoffCoefficient: 2,
			MaximumInterval:    time.Minute,
		},
	}
}

// holdsOptions give up in time for the lock to hear what it is told.
func holdsOptions(owner contract.LockOwner) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		ScheduleToCloseTimeout: time.Minute,
		StartToCloseTimeout:    20 * time.Second,
		Summary:                cut("is call "+owner.Call+" of thread "+owner.ThreadRef.String()+" over?", 180),
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2},
	}
}

// replanOptions bound how long the person who edited a call waits for an answer.
func replanOptions(summary string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		ScheduleToCloseTimeout: time.Minute,
		StartToCloseTimeout:    20 * time.Second,
		Summary:                summary,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: 500 * time.Millisecond, BackoffCoefficient: 2},
	}
}

// planOptions outlast a while without workers: a person has answered, or agreed, for
// the call that is planned.
func planOptions(summary string) workflow.ActivityOptions {
	options := replanOptions(summary)
	options.ScheduleToCloseTimeout = time.Hour
	options.RetryPolicy.MaximumInterval = 30 * time.Second
	return options
}

// archiveOptions never give up: a thread cannot go on without its past.
func archiveOptions() workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout: 5 * time.Minute,
		HeartbeatTimeout:    beatTimeout,
		Summary:             "archive this run",
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:    time.Second,
			BackoffCoefficient: 2,
			MaximumInterval:    time.Minute,
		},
	}
}

// admitOptions ask for as long as it takes to roll a new configuration out.
func admitOptions() workflow.ActivityOptions {
	return workflow.ActivityOptions{
		ScheduleToCloseTimeout: time.Minute,
		StartToCloseTimeout:    10 * time.Second,
		Summary:                "does another worker have the agent?",
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 1.5},
	}
}

func listToolsOptions() workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 3},
	}
}
