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

// heartbeat records details, if any, until the returned function is called.
// Without it the server would not notice for minutes that a worker was killed,
// and a cancellation would not reach the activity.
func heartbeat(ctx context.Context, details func() []any) (stop func()) {
	if !activity.IsActivity(ctx) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(beat)
		defer tick.Stop()
		for {
			activity.RecordHeartbeat(ctx, details()...)
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
	return func() { cancel(); done.Wait() }
}
