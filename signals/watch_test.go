package signals_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// watched collects parts until stop says so, and checks what every reader relies
// on: growing sequence numbers, and revisions of a part in their order.
func watched(t *testing.T, c *signals.Client, ref contract.ThreadRef, cursor int64, stop func(contract.Part) bool) []contract.Part {
	t.Helper()
	var parts []contract.Part
	revisions := map[string]int{}
	for part, err := range c.Watch(within(t), ref, cursor) {
		if err != nil {
			t.Fatal(err)
		}
		if part.Seq <= cursor {
			t.Fatalf("part %s with seq %d after cursor %d", part.ID, part.Seq, cursor)
		}
		if part.Revision <= revisions[part.ID] {
			t.Fatalf("part %s: revision %d after %d", part.ID, part.Revision, revisions[part.ID])
		}
		cursor, revisions[part.ID] = part.Seq, part.Revision
		parts = append(parts, part)
		if stop(part) {
			break
		}
	}
	return parts
}

func never(contract.Part) bool { return false }

func turnEnded(turn string) func(contract.Part) bool {
	return func(p contract.Part) bool { return p.ID == turn && p.EndedAt != nil }
}

func TestWatchSeesPartsAsTheyCome(t *testing.T) {
	b := setUp(t)
	b.send(t, "hang")
	// The turn runs and nothing more comes until it is cancelled.
	seen := watched(t, b.Client, b.ref(), 0, func(p contract.Part) bool {
		if p.Kind == contract.KindMessage {
			if err := b.Cancel(within(t), b.ref(), contract.CancelTurn{}); err != nil {
				t.Fatal(err)
			}
		}
		return turnEnded("t1")(p)
	})
	if last := seen[len(seen)-1]; last.Status != contract.PartCancelled {
		t.Errorf("last part %+v, want the cancelled turn", last)
	}
}

func TestWatchEndsWithTheThread(t *testing.T) {
	b := setUp(t)
	b.say(t, "echo 1")
	done := make(chan []contract.Part)
	go func() { done <- watched(t, b.Client, b.ref(), 0, never) }()
	b.say(t, "echo 2")
	b.closed(t)
	live := <-done
	// A reader who comes later sees the same, in the last revision of each part.
	late := watched(t, b.Client, b.ref(), 0, never)
	if len(late) == 0 || late[len(late)-1].ID != live[len(live)-1].ID {
		t.Errorf("live %v\nlate %v", ids(live), ids(late))
	}
}

func TestWatchFailures(t *testing.T) {
	b := newBed(t, testkit.DevServer(t).Client(t))
	t.Run("unknown thread", func(t *testing.T) {
		wantCode(t, lastError(b.Watch(within(t), b.ref(), 0)), contract.ErrUnknownThread)
		_, err := b.Wait(within(t), b.ref(), "t1")
		wantCode(t, err, contract.ErrUnknownThread)
		_, err = b.State(within(t), b.ref())
		wantCode(t, err, contract.ErrUnknownThread)
		_, err = b.Transcript(within(t), b.ref(), 0, 0)
		wantCode(t, err, contract.ErrUnknownThread)
		wantCode(t, b.Cancel(within(t), b.ref(), contract.CancelTurn{}), contract.ErrUnknownThread)
		wantCode(t, b.Close(within(t), b.ref(), contract.Close{}), contract.ErrUnknownThread)
		wantCode(t, b.Approve(within(t), b.ref(), contract.Decision{Approval: "a", Digest: "d"}), contract.ErrUnknownThread)
	})
	t.Run("no worker", func(t *testing.T) {
		if err := b.Open(within(t), b.start); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		defer cancel()
		if err := lastError(b.Watch(ctx, b.ref(), 0)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Watch = %v, want the deadline", err)
		}
	})
	t.Run("ended before a worker began it", func(t *testing.T) {
		if err := b.temporal.TerminateWorkflow(within(t), b.ref().WorkflowID(), "", "test"); err != nil {
			t.Fatal(err)
		}
		wantCode(t, lastError(b.Watch(within(t), b.ref(), 0)), contract.ErrThreadClosed)
		_, err := b.State(within(t), b.ref())
		wantCode(t, err, contract.ErrThreadClosed)
	})
	t.Run("unknown agent", func(t *testing.T) {
		b := setUp(t)
		b.start.Agent = "nobody"
		if err := b.Open(within(t), b.start); err != nil {
			t.Fatal(err)
		}
		wantCode(t, lastError(b.Watch(within(t), b.ref(), 0)), contract.ErrUnknownAgent)
		_, err := b.Wait(within(t), b.ref(), "t1")
		wantCode(t, err, contract.ErrUnknownAgent)
	})
}

func TestWatchCancelled(t *testing.T) {
	b := setUp(t)
	b.say(t, "echo")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var err error
	for part, partErr := range b.Watch(ctx, b.ref(), 0) {
		err = partErr
		if turnEnded("t1")(part) {
			cancel()
		}
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Watch ended with %v, want canceled", err)
	}
}

// The whole way of an approval with no worker in between: what is watched goes on
// with the next worker, and the decision is kept for it.
func TestWatchThroughAWorkerRestart(t *testing.T) {
	b := newBed(t, testkit.DevServer(t).Client(t))
	stop := startFake(t, b.temporal, b.queue)
	b.send(t, "ask")
	approval := b.pending(t)
	stop()

	done := make(chan []contract.Part)
	go func() { done <- watched(t, b.Client, b.ref(), 0, turnEnded("t1")) }()
	if err := b.Approve(within(t), b.ref(), contract.Decision{Approval: approval.ID, Digest: approval.Digest}); err != nil {
		t.Fatal(err)
	}
	startFake(t, b.temporal, b.queue)
	if parts := <-done; !slices.ContainsFunc(parts, func(p contract.Part) bool {
		return p.Kind == contract.KindApproval && p.Status == contract.PartDone
	}) {
		t.Errorf("parts %v, want the approval done", ids(parts))
	}
}

func TestWatchThroughAServerRestart(t *testing.T) {
	server := testkit.StartServer(t)
	b := newBed(t, server.Client(t))
	startFake(t, b.temporal, b.queue)
	b.send(t, "ask")
	approval := b.pending(t)
	parts := make(chan []contract.Part)
	waited := make(chan contract.Turn)
	go func() { parts <- watched(t, b.Client, b.ref(), 0, turnEnded("t1")) }()
	go func() {
		turn, err := b.Wait(within(t), b.ref(), "t1")
		if err != nil {
			t.Error(err)
		}
		waited <- turn
	}()
	server.Kill()
	server.Restart(t)
	if err := b.Approve(within(t), b.ref(), contract.Decision{Approval: approval.ID, Digest: approval.Digest}); err != nil {
		t.Fatal(err)
	}
	<-parts
	if turn := <-waited; turn.Answer != "approve " {
		t.Errorf("turn %+v", turn)
	}
}

// Reading and waiting leave the thread's history as it is.
func TestReadingAddsNoEvent(t *testing.T) {
	b := setUp(t)
	b.send(t, "ask")
	approval := b.pending(t)
	before := historyLength(t, b)
	ctx, cancel := context.WithCancel(context.Background())
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() { _ = lastError(b.Watch(ctx, b.ref(), 0)) })
		readers.Go(func() { _, _ = b.Wait(ctx, b.ref(), "t1") })
	}
	for range 5 {
		_ = b.pending(t)
		if _, err := b.Transcript(within(t), b.ref(), 0, 0); err != nil {
			t.Error(err)
		}
	}
	wrong := contract.Decision{Approval: approval.ID, Digest: "wrong"}
	wantCode(t, b.Approve(within(t), b.ref(), wrong), contract.ErrDigestMismatch)
	cancel()
	readers.Wait()
	if after := historyLength(t, b); after != before {
		t.Errorf("%d events, %d before the reading", after, before)
	}
}

func ids(parts []contract.Part) []string {
	var ids []string
	for _, p := range parts {
		ids = append(ids, fmt.Sprintf("%s@%d", p.ID, p.Seq))
	}
	return ids
}

func lastError(parts func(func(contract.Part, error) bool)) error {
	var last error
	for _, err := range parts {
		last = err
	}
	return last
}

func waitUntilOpen(t *testing.T, b *bed) {
	t.Helper()
	if err := b.Open(within(t), b.start); err != nil {
		t.Error(err)
	}
}

func currentRun(t *testing.T, b *bed) string {
	t.Helper()
	waitUntilOpen(t, b)
	described, err := b.temporal.DescribeWorkflow(within(t), b.ref().WorkflowID(), "")
	if err != nil {
		t.Fatal(err)
	}
	return described.WorkflowExecution.RunID
}

func historyLength(t *testing.T, b *bed) int {
	t.Helper()
	n := 0
	events := b.temporal.GetWorkflowHistory(within(t), b.ref().WorkflowID(), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		if _, err := events.Next(); err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}
