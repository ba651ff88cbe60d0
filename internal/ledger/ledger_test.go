package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals/contract"
	"github.com/heddle-dev/heddle/workflows"
)

func TestMain(m *testing.M) { testkit.Main(m, func() {}) }

// book is a ledger on a real server, and a worker of its task queue: a claim is made
// from within an activity.
type book struct {
	*Ledger
	t      *testing.T
	client client.Client
	queue  string
	key    string

	mu   sync.Mutex
	work map[string]func(context.Context)
}

// newBook returns a ledger whose claims take a worker after a delay.
func newBook(t *testing.T, delay time.Duration) *book {
	t.Helper()
	c := testkit.DevServer(t).Client(t)
	b := &book{Ledger: New(c, nil), t: t, client: c, queue: testkit.Name(t), key: testkit.Name(t) + "-key", work: map[string]func(context.Context){}}
	b.Ledger.delay = delay
	// On a machine that is busy a workflow that gets no processor for a second is no deadlock.
	w := worker.New(c, b.queue, worker.Options{DeadlockDetectionTimeout: time.Minute})
	w.RegisterWorkflowWithOptions(workflows.Claim, workflow.RegisterOptions{Name: contract.ClaimType})
	w.RegisterWorkflowWithOptions(once, workflow.RegisterOptions{Name: "once"})
	w.RegisterActivityWithOptions(b.act, activity.RegisterOptions{Name: "act"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return b
}

// once runs one activity, of one attempt.
func once(ctx workflow.Context, name string) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 3 * time.Minute, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	return workflow.ExecuteActivity(ctx, "act", name).Get(ctx, nil)
}

func (b *book) act(ctx context.Context, name string) error {
	b.mu.Lock()
	do := b.work[name]
	b.mu.Unlock()
	do(ctx)
	return nil
}

// within does something in an activity.
func (b *book) within(do func(context.Context)) {
	b.t.Helper()
	b.mu.Lock()
	name := fmt.Sprintf("%s-%d", b.queue, len(b.work))
	b.work[name] = do
	b.mu.Unlock()
	run, err := b.client.ExecuteWorkflow(b.t.Context(), client.StartWorkflowOptions{ID: name, TaskQueue: b.queue}, "once", name)
	if err == nil {
		err = run.Get(b.t.Context(), nil)
	}
	if err != nil {
		b.t.Error(err)
	}
}

// claim claims the key for an attempt of a run.
func (b *book) claim(run string, attempt int) (claimed activities.Claimed) {
	b.t.Helper()
	b.within(func(ctx context.Context) {
		var err error
		claimed, err = b.Claim(ctx, b.key, activities.Claim{Thread: "acme/t", Call: "c1", Tool: "t.w", Run: run, Attempt: attempt})
		if err != nil {
			b.t.Error(err)
		}
	})
	return claimed
}

func (b *book) look() *activities.Claimed {
	b.t.Helper()
	found, err := b.Look(b.t.Context(), b.key)
	if err != nil {
		b.t.Fatal(err)
	}
	return found
}

// Of many that claim a key at once, one gets it, and the others get to know of it.
func TestOneOfManyClaimants(t *testing.T) {
	b := newBook(t, contract.ClaimKept)
	const claimants = 12
	var wg sync.WaitGroup
	got := make([]activities.Claimed, claimants)
	for i := range got {
		wg.Go(func() { got[i] = b.claim(fmt.Sprintf("run-%d", i), 1) })
	}
	wg.Wait()
	own := 0
	for i, claimed := range got {
		if claimed.Own {
			own++
		}
		if claimed.ID != got[0].ID || claimed.Claim.Run != got[0].Claim.Run || claimed.Result != nil {
			t.Errorf("claimant %d got %+v, the first %+v", i, claimed, got[0])
		}
	}
	if own != 1 {
		t.Errorf("%d claimants have the claim, want 1", own)
	}
}

// A later attempt of the same run takes over; an earlier one, and another run, do not,
// and nobody does once the outcome is recorded.
func TestTakeover(t *testing.T) {
	b := newBook(t, contract.ClaimKept)
	first := b.claim("run", 1)
	if other := b.claim("other", 7); other.Own || other.ID != first.ID {
		t.Errorf("another run took over: %+v", other)
	}
	second := b.claim("run", 2)
	if !second.Own || second.ID == first.ID {
		t.Errorf("a later attempt did not take over: %+v", second)
	}
	if late := b.claim("run", 1); late.Own || late.ID != second.ID || late.Claim.Attempt != 2 {
		t.Errorf("an earlier attempt took over: %+v", late)
	}
	// What the first attempt still says of itself does not touch the second's claim.
	if err := b.Release(t.Context(), b.key, first.ID, "late"); err != nil {
		t.Error(err)
	}
	if err := b.Record(t.Context(), b.key, first.ID, activities.CallResult{Result: json.RawMessage(`"first"`)}); err != nil {
		t.Error(err)
	}
	if found := b.look(); found == nil || found.ID != second.ID || found.Result != nil {
		t.Fatalf("the claim %+v", found)
	}
	for _, result := range []string{`"second"`, `"again"`} { // what was said first holds
		if err := b.Record(t.Context(), b.key, second.ID, activities.CallResult{Result: json.RawMessage(result)}); err != nil {
			t.Error(err)
		}
	}
	if third := b.claim("run", 3); third.Own || third.Result == nil || string(third.Result.Result) != `"second"` {
		t.Errorf("after the outcome: %+v", third)
	}
}

// A claim that is taken back leaves the key free.
func TestRelease(t *testing.T) {
	b := newBook(t, contract.ClaimKept)
	if b.look() != nil {
		t.Error("a key that nobody has claimed has a claim")
	}
	first := b.claim("run", 1)
	if err := b.Release(t.Context(), b.key, first.ID, "nothing was applied"); err != nil {
		t.Fatal(err)
	}
	if found := b.look(); found != nil {
		t.Errorf("the released claim %+v", found)
	}
	if second := b.claim("other", 1); !second.Own || second.ID == first.ID {
		t.Errorf("the second claim %+v", second)
	}
}

// When the delay is over, a claim that knows its outcome ends, and one that does not
// waits for it. Both hold their key.
func TestEndOfTheDelay(t *testing.T) {
	for name, test := range map[string]struct{ before, after bool }{
		"told before": {before: true}, "told after": {after: true}, "never told": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBook(t, 2*time.Second)
			claimed := b.claim("run", 1)
			record := func() {
				if err := b.Record(t.Context(), b.key, claimed.ID, activities.CallResult{Result: json.RawMessage(`"done"`)}); err != nil {
					t.Error(err)
				}
			}
			if test.before {
				record()
			}
			b.await(claimed.ID, enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
			if test.after {
				record()
			}
			if test.before || test.after {
				b.await(claimed.ID, enums.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED)
			}
			other := b.claim("other", 1)
			if other.Own || (other.Result != nil) != (test.before || test.after) {
				t.Errorf("another run got %+v", other)
			}
		})
	}
}

// await waits for an event of a claim.
func (b *book) await(id string, kind enums.EventType) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 3*time.Minute)
	defer cancel()
	events := b.client.GetWorkflowHistory(ctx, contract.ClaimID(b.key), id, true, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			b.t.Fatal(err)
		}
		if event.GetEventType() == kind {
			return
		}
	}
	b.t.Fatalf("the claim never came to %s", kind)
}
