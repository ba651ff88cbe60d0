package signals

import (
	"context"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/heddle-dev/heddle/signals/contract"
)

// stride is how one follows a thread.
type stride struct {
	// pace is how long changes gather while the thread is in the middle of something.
	pace time.Duration
	// patient ones need not look at a thread at once that is in the middle of
	// something: a pace later will do.
	patient bool
	// from is where to begin, if that is known; only the patient have it.
	from *place
}

// A person watches; who waits for a turn wants its end, which is hardly ever in
// the middle of something.
var (
	watching = stride{pace: 100 * time.Millisecond}
	waiting  = stride{pace: 500 * time.Millisecond, patient: true}
)

// shortHistory is how many events are sooner read than their end is sought.
const shortHistory = 64

// follow calls look now and after every change of the thread, each time with the
// run that is current, until look is done or the thread has ended. When it has
// ended, look has seen its last state; that its workflow failed is an error.
//
// While the thread is in the middle of something, its changes gather for a pace,
// and the patient begin with that.
//
// It waits at the end of the run's history, so while nothing happens it costs one
// request in 20 seconds, and no event at any time. Meanwhile, unless nil, is called
// every two seconds of the wait; once it has enough, look is called.
func (c *Client) follow(
	ctx context.Context, thread contract.ThreadRef, by stride,
	look func(run execution) (done bool, err error), meanwhile func(ctx context.Context, run execution) (enough bool),
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // the long poll that is under way then
	for from := by.from; ; from = nil {
		current, err := c.current(ctx, thread, from)
		if err != nil {
			return err
		}
		if current.closed() {
			done, err := look(current.execution)
			if !done && current.status == enumspb.WORKFLOW_EXECUTION_STATUS_FAILED {
				return c.why(ctx, current)
			}
			return err
		}
		end := &tail{reader: c.reader, run: current.execution, pace: by.pace}
		if meanwhile != nil {
			end.meanwhile = func() bool { return meanwhile(ctx, current.execution) }
		}
		later := by.patient && current.busy
		if later {
			end.gather()
		}
		switch {
		case from != nil:
			end.token = from.token
			pause(ctx, leastPause) // it has only just been given something to do
		case !later || current.events > shortHistory:
			end.seek(ctx)
		}
		// A run that has ended was continued as new, was reset, or was the last: the
		// run that is current then tells which.
		for closed := false; !closed; later = false {
			if !later {
				if done, err := look(current.execution); done || err != nil {
					c.places.leave(end)
					return c.unlessGone(ctx, thread, err)
				}
			}
			if closed, err = end.wait(ctx); err != nil {
				return err
			}
		}
	}
}

// current describes the thread's run, without asking where a place is known: there
// it is busy. Should that run have ended since, its history says so.
func (c *Client) current(ctx context.Context, thread contract.ThreadRef, from *place) (description, error) {
	if from == nil {
		return c.reader.describe(ctx, execution{workflowID: thread.WorkflowID()})
	}
	return description{execution: from.run, status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, busy: true}, nil
}
