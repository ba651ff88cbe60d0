package signals_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

func TestSendAndWait(t *testing.T) {
	b := setUp(t)
	turn := b.say(t, "echo häl•lo")
	if turn.ID != "t1" || turn.Status != contract.StatusCompleted || turn.Answer != "häl•lo" {
		t.Errorf("turn %+v", turn)
	}
	if turn := b.say(t, "echo again"); turn.ID != "t2" || turn.Answer != "again" {
		t.Errorf("second turn %+v", turn)
	}
	state, err := b.State(within(t), b.ref())
	if err != nil {
		t.Fatal(err)
	}
	if state.User != "ann" || len(state.Roles) != 1 || state.Status != contract.StatusIdle {
		t.Errorf("state %+v", state)
	}
}

func TestSendTwiceIsOneTurn(t *testing.T) {
	b := setUp(t)
	submission := contract.Submission{ID: "m-1", Text: "echo once"}
	for range 3 {
		sent, err := b.Send(within(t), b.start, submission)
		if err != nil || sent.Turn != "t1" {
			t.Fatalf("Send = %+v, %v, want turn t1", sent, err)
		}
	}
	submission.Text = "echo something else"
	_, err := b.Send(within(t), b.start, submission)
	wantCode(t, err, contract.ErrSubmissionConflict)
}

func TestSendRefusals(t *testing.T) {
	t.Run("unknown agent", func(t *testing.T) {
		b := setUp(t)
		b.start.Agent = "nobody"
		// Also the second time, when the thread has failed already.
		for range 2 {
			_, err := b.Send(within(t), b.start, contract.Submission{Text: "echo"})
			wantCode(t, err, contract.ErrUnknownAgent)
		}
		wantCode(t, b.Open(within(t), b.start), contract.ErrUnknownAgent)
	})
	t.Run("another user or agent", func(t *testing.T) {
		b := setUp(t)
		b.say(t, "echo mine")
		for _, change := range []func(*contract.Start){
			func(s *contract.Start) { s.User = "bob" },
			func(s *contract.Start) { s.User = "" },
			func(s *contract.Start) { s.Agent = "other" },
		} {
			other := b.start
			change(&other)
			_, err := b.Send(within(t), other, contract.Submission{Text: "echo not mine"})
			wantCode(t, err, contract.ErrThreadConflict)
		}
		if messages, err := b.Transcript(within(t), b.ref(), 0, 0); err != nil || len(messages) != 2 {
			t.Errorf("transcript %v, %v, want the first turn alone", messages, err)
		}
	})
	t.Run("closed", func(t *testing.T) {
		b := setUp(t)
		b.say(t, "echo")
		b.closed(t)
		_, err := b.Send(within(t), b.start, contract.Submission{Text: "echo"})
		wantCode(t, err, contract.ErrThreadClosed)
	})
	t.Run("queue full", func(t *testing.T) {
		b := setUp(t)
		for range 1 + fakeQueue {
			b.send(t, "hang")
		}
		_, err := b.Send(within(t), b.start, contract.Submission{Text: "echo"})
		wantCode(t, err, contract.ErrQueueFull)
	})
}

func TestInvalidInputReachesNoServer(t *testing.T) {
	// Nobody listens: a call that sends anything fails otherwise, or hangs.
	c := signals.NewClient(unreachable(t), nil)
	ctx := within(t)
	good := contract.ThreadRef{Tenant: "acme", Thread: "t"}
	start := contract.Start{ThreadRef: good, Agent: "fake"}
	long := strings.Repeat("x", contract.MaxText+1)
	decision := contract.Decision{Approval: "a", Digest: "d"}
	watch := func(ref contract.ThreadRef, cursor int64) error {
		for _, err := range c.Watch(ctx, ref, cursor) {
			return err
		}
		return nil
	}
	send := func(start contract.Start, s contract.Submission) error { _, err := c.Send(ctx, start, s); return err }
	transcript := func(from, to int) error { _, err := c.Transcript(ctx, good, from, to); return err }

	for _, bad := range []struct {
		field string
		err   error
	}{
		{"tenant", c.Open(ctx, contract.Start{Agent: "fake", ThreadRef: contract.ThreadRef{Thread: "t"}})},
		{"agent", c.Open(ctx, contract.Start{ThreadRef: good, Agent: "no spaces"})},
		{"thread", send(contract.Start{ThreadRef: contract.ThreadRef{Tenant: "acme", Thread: "a/b"}, Agent: "fake"}, contract.Submission{Text: "x"})},
		{"text", send(start, contract.Submission{})},
		{"text", send(start, contract.Submission{Text: long})},
		{"text", send(start, contract.Submission{Text: "\xff"})},
		{"id", send(start, contract.Submission{ID: "ä", Text: "x"})},
		{"digest", c.Approve(ctx, good, contract.Decision{Approval: "a"})},
		{"approval", c.Deny(ctx, good, contract.Decision{Digest: "d"})},
		{"comment", c.Deny(ctx, good, contract.Decision{Approval: "a", Digest: "d", Comment: long})},
		{"verdict", func() error { _, err := c.Decide(ctx, good, decision); return err }()},
		{"turn", func() error { _, err := c.Wait(ctx, good, ""); return err }()},
		{"after", watch(good, -1)},
		{"tenant", watch(contract.ThreadRef{}, 0)},
		{"from", transcript(-1, 0)},
		{"to", transcript(3, 2)},
		{"reason", c.Close(ctx, good, contract.Close{Reason: long})},
		{"reason", c.Cancel(ctx, good, contract.CancelTurn{Reason: long})},
		{"turn", c.Cancel(ctx, good, contract.CancelTurn{Turn: "a b"})},
	} {
		wantCode(t, bad.err, contract.ErrInvalid)
		if bad.err != nil && !strings.Contains(bad.err.Error(), bad.field+":") {
			t.Errorf("error %q does not name the field %s", bad.err, bad.field)
		}
	}
}

func TestOpenNeedsNoWorker(t *testing.T) {
	b := newBed(t, testkit.DevServer(t).Client(t))
	for range 2 {
		if err := b.Open(within(t), b.start); err != nil {
			t.Fatal(err)
		}
	}
	other := b.start
	other.User = "bob"
	wantCode(t, b.Open(within(t), other), contract.ErrThreadConflict)
	other = b.start
	other.Agent = "other"
	wantCode(t, b.Open(within(t), other), contract.ErrThreadConflict)

	if err := b.temporal.TerminateWorkflow(within(t), b.ref().WorkflowID(), "", "test"); err != nil {
		t.Fatal(err)
	}
	wantCode(t, b.Open(within(t), b.start), contract.ErrThreadClosed)
}

func TestOpenShowsWhoseThreadItIs(t *testing.T) {
	b := newBed(t, testkit.DevServer(t).Client(t))
	if err := b.Open(within(t), b.start); err != nil {
		t.Fatal(err)
	}
	described, err := b.temporal.DescribeWorkflow(within(t), b.ref().WorkflowID(), "")
	if err != nil {
		t.Fatal(err)
	}
	summary, err := described.GetStaticSummary()
	if want := "fake: acme/" + b.ref().Thread; err != nil || summary != want {
		t.Errorf("summary %q, %v, want %q", summary, err, want)
	}
	for name, want := range map[string]string{
		contract.AttributeTenant: "acme", contract.AttributeAgent: "fake", contract.AttributeStatus: contract.SearchActive,
	} {
		found := false
		for key, value := range described.TypedSearchAttributes.GetUntypedValues() {
			found = found || key.GetName() == name && value == want
		}
		if !found {
			t.Errorf("search attribute %s is not %q", name, want)
		}
	}
}

// Two backends open the same new thread for different users at once.
func TestSendRaceOfTwoUsers(t *testing.T) {
	b := setUp(t)
	users := []string{"ann", "bob", "cyd", "dan"}
	errs := make([]error, len(users))
	var all sync.WaitGroup
	for i, user := range users {
		all.Go(func() {
			start := b.start
			start.User = user
			_, errs[i] = b.Send(within(t), start, contract.Submission{Text: "echo from " + user})
		})
	}
	all.Wait()
	var winner string
	for i, err := range errs {
		if err != nil {
			wantCode(t, err, contract.ErrThreadConflict)
			continue
		}
		if winner != "" {
			t.Errorf("both %s and %s got their message into one thread", winner, users[i])
		}
		winner = users[i]
	}
	state, err := b.State(within(t), b.ref())
	if err != nil || state.User != winner || winner == "" {
		t.Errorf("state of user %q, %v, want %q", state.User, err, winner)
	}
}

func TestSendTellsWhenTheContextEnds(t *testing.T) {
	b := newBed(t, testkit.DevServer(t).Client(t))
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	_, err := b.Send(ctx, b.start, contract.Submission{Text: "echo"})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Send without a worker = %v, want the deadline", err)
	}
	ctx, cancel = context.WithCancel(context.Background())
	cancel()
	if err := b.Open(ctx, b.start); !errors.Is(err, context.Canceled) {
		t.Errorf("Open = %v, want canceled", err)
	}
}

// What was sent while no worker ran is answered by the one that comes.
func TestSendIsKeptForTheWorkerThatComes(t *testing.T) {
	b := newBed(t, testkit.DevServer(t).Client(t))
	if err := b.Open(within(t), b.start); err != nil {
		t.Fatal(err)
	}
	result := make(chan error)
	go func() {
		_, err := b.Send(within(t), b.start, contract.Submission{Text: "echo late"})
		result <- err
	}()
	startFake(t, b.temporal, b.queue)
	if err := <-result; err != nil {
		t.Error(err)
	}
}
