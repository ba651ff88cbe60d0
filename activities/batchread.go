package activities

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// Bounds of a batch of reads.
const (
	// MaxReadsAtOnce is how many reads of one batch run at the same time.
	MaxReadsAtOnce = 8
	// maxHeartbeatInline bounds, in bytes, a result that a heartbeat carries.
	maxHeartbeatInline = 1 << 10
	// ReadRetryWithin is how long after its start a read may be tried again: one
	// that took long to fail would only take as long again.
	ReadRetryWithin = 5 * time.Second
)

// BatchRead carries out reads that may run together. Each has its own time
// limit and its own result, so one that fails costs no other. A retry, such as
// after a crash, repeats only the reads whose results the heartbeats had not yet
// told the server.
func (a *Activities) BatchRead(ctx context.Context, in BatchReadInput) (BatchReadResult, error) {
	agent, ok := a.Agents[in.Thread.Agent]
	if !ok {
		return BatchReadResult{}, unknownAgent(in.Thread.Agent)
	}
	done, told := a.recorded(ctx)
	batch := newBatch(in.Calls, done, told)
	defer heartbeat(ctx, batch.details)()
	if err := a.readMissing(ctx, agent.scope(in.Thread), batch); err != nil {
		return BatchReadResult{}, err
	}
	results, err := a.fitResults(ctx, batch.inOrder())
	return BatchReadResult{Results: results}, err
}

func (a *Activities) readMissing(ctx context.Context, scope catalog.Scope, batch *batch) error {
	missing := batch.missing()
	if len(missing) == 0 {
		return nil
	}
	ids := make([]string, len(missing))
	for i, call := range missing {
		ids[i] = call.ID
	}
	calls, err := a.Threads.Calls(ctx, runOf(ctx), ids)
	if err != nil {
		return unavailable(ErrTypeThread, "read the calls of the batch", err)
	}
	var reads sync.WaitGroup
	slots := make(chan struct{}, MaxReadsAtOnce)
	for i, ref := range missing {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			reads.Wait()
			return ctx.Err()
		}
		reads.Go(func() {
			defer func() { <-slots }()
			result := a.read(ctx, scope, ref, calls[i], batch.progress.follow(ref.ID))
			batch.settle(a.forHeartbeat(ctx, result), result)
		})
	}
	reads.Wait()
	return ctx.Err()
}

// read carries out one read. One that says that it may succeed later is tried
// again a few times.
func (a *Activities) read(ctx context.Context, scope catalog.Scope, ref CallRef, call contract.Call, follow func(catalog.Progress)) CallResult {
	const attempts = 3
	started := time.Now()
	if ref.Kind != "" {
		result := a.lookUp(ctx, scope, ref, call)
		result.DurationMS = time.Since(started).Milliseconds()
		return result
	}
	for attempt := 1; ; attempt++ {
		result := a.dispatch(ctx, scope, ref, call, catalog.Request{Progress: follow})
		result.DurationMS = time.Since(started).Milliseconds()
		again := result.retryable && attempt < attempts && time.Since(started) < ReadRetryWithin
		if again && sleep(ctx, time.Duration(attempt)*200*time.Millisecond) {
			continue
		}
		return result.CallResult
	}
}

// forHeartbeat is the result as a heartbeat carries it: nil if that cannot be
// had, and the read is then repeated after a crash.
func (a *Activities) forHeartbeat(ctx context.Context, result CallResult) *CallResult {
	small, err := a.inlineResult(ctx, result, maxHeartbeatInline)
	if err != nil {
		return nil
	}
	return &small
}

// batch holds the results of a batch as they come in.
type batch struct {
	calls    []CallRef
	progress progressOfCalls

	mu      sync.Mutex
	results map[string]CallResult
	beats   []CallResult
}

func newBatch(calls []CallRef, done, told []CallResult) *batch {
	b := &batch{calls: calls, results: map[string]CallResult{}, beats: told}
	for _, result := range done {
		b.results[result.ID] = result
	}
	return b
}

func (b *batch) missing() []CallRef {
	var missing []CallRef
	for _, call := range b.calls {
		if _, done := b.results[call.ID]; !done {
			missing = append(missing, call)
		}
	}
	return missing
}

func (b *batch) settle(beat *CallResult, result CallResult) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.results[result.ID] = result
	if beat != nil {
		b.beats = append(b.beats, *beat)
	}
}

func (b *batch) details() []any {
	b.mu.Lock()
	defer b.mu.Unlock()
	return []any{append([]CallResult(nil), b.beats...), b.progress.beat()}
}

func (b *batch) inOrder() []CallResult {
	results := make([]CallResult, len(b.calls))
	for i, call := range b.calls {
		results[i] = b.results[call.ID]
	}
	return results
}

// recorded returns what an earlier attempt told the server: the results as they
// would be without the crash, and as they were told.
func (a *Activities) recorded(ctx context.Context) (done, told []CallResult) {
	if !activity.HasHeartbeatDetails(ctx) {
		return nil, nil
	}
	if err := activity.GetHeartbeatDetails(ctx, &told); err != nil {
		activity.GetLogger(ctx).Warn("cannot read the results of an earlier attempt; all reads are repeated", "error", err)
		return nil, nil
	}
	for _, result := range told {
		if result.Body != nil && result.Body.Size <= contract.MaxInline {
			body, err := a.Blobs.Get(ctx, *result.Body)
			if err != nil {
				continue // this read is repeated
			}
			result.Result, result.Body = body, nil
		}
		done = append(done, result)
	}
	return done, told
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
