package activities

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
)

// beat is how often an activity tells the server that it is alive. A cancelled
// turn reaches the activity with the answer, so it is short.
const beat = 2 * time.Second

// heartbeat records details, if any, until the returned function is called. An
// activity that is over before the first beat sends none. Without it the server
// would not notice for minutes that a worker was killed, and a cancellation would
// not reach the activity.
func heartbeat(ctx context.Context, details func() []any) (stop func()) {
	if !activity.IsActivity(ctx) {
		return func() {}
	}
	return eachBeat(ctx, func() { activity.RecordHeartbeat(ctx, details()...) })
}

// eachBeat calls do at each beat until ctx ends or the returned function is called,
// which returns once no call is under way.
func eachBeat(ctx context.Context, do func()) (stop func()) {
	over := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(beat)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-ctx.Done():
				return
			case <-tick.C:
				do()
			}
		}
	})
	return func() { close(over); done.Wait() }
}
