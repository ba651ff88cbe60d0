package signals

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc/codes"
)

// Waits between attempts grow from firstWait, which is about what a busy thread
// needs to become free, to lastWait, which spares a server that is down.
const (
	firstWait = 3 * time.Millisecond
	lastWait  = time.Second
)

// backoff counts the waits of one call.
type backoff struct{ next time.Duration }

// wait sleeps a little longer each time. It returns early when ctx ends, with
// the context's error.
func (b *backoff) wait(ctx context.Context) error {
	b.next = min(max(2*b.next, firstWait), lastWait)
	timer := time.NewTimer(b.next/2 + rand.N(b.next))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// patiently tries until it succeeds, fails for good or ctx ends. Each attempt has
// a deadline of its own; one that is exceeded is an obstacle like any other.
func patiently(ctx context.Context, attempt time.Duration, try func(context.Context) error) error {
	var pause backoff
	var obstacle error
	for {
		attemptCtx, cancel := context.WithTimeout(ctx, attempt)
		err := try(attemptCtx)
		cancel()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return unanswered(ctx, obstacle)
		case !transient(err):
			return err
		}
		obstacle = err
		if pause.wait(ctx) != nil {
			return unanswered(ctx, obstacle)
		}
	}
}

// unanswered is the error of a call whose context ended before it succeeded.
func unanswered(ctx context.Context, obstacle error) error {
	if obstacle == nil {
		return fmt.Errorf("no answer from a worker: %w", ctx.Err())
	}
	return fmt.Errorf("%w; the last obstacle: %w", ctx.Err(), obstacle)
}

// transient reports whether a read that failed so may succeed later: the server
// or the worker is away, or the thread is busy with another query.
func transient(err error) bool {
	switch serviceerror.ToStatus(err).Code() {
	case codes.Unavailable, codes.ResourceExhausted, codes.Aborted, codes.DeadlineExceeded, codes.Canceled:
		return true
	}
	var notReady *serviceerror.WorkflowNotReady
	var noWorker *serviceerror.FailedPrecondition
	return errors.As(err, &notReady) || errors.As(err, &noWorker)
}
