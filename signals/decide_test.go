package signals_test

import (
	"testing"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals/contract"
)

func TestApprovals(t *testing.T) {
	for _, test := range []struct {
		name   string
		decide func(*bed, contract.Decision) error
		answer string
	}{
		{"approve", func(b *bed, d contract.Decision) error { return b.Approve(within(t), b.ref(), d) }, "approve fine"},
		{"deny", func(b *bed, d contract.Decision) error { return b.Deny(within(t), b.ref(), d) }, "deny fine"},
		{"decide", func(b *bed, d contract.Decision) error {
			d.Verdict = contract.Deny
			decided, err := b.Decide(within(t), b.ref(), d)
			if decided.Verdict != contract.Deny && err == nil {
				t.Errorf("decided %+v", decided)
			}
			return err
		}, "deny fine"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := setUp(t)
			turn := b.send(t, "ask")
			approval := b.pending(t)

			wrong := contract.Decision{Approval: approval.ID, Digest: "sha256:other"}
			wantCode(t, test.decide(b, wrong), contract.ErrDigestMismatch)
			wrong = contract.Decision{Approval: "t7-a", Digest: approval.Digest}
			wantCode(t, test.decide(b, wrong), contract.ErrUnknownApproval)

			decision := contract.Decision{Approval: approval.ID, Digest: approval.Digest, By: "eve", Comment: "fine"}
			if err := test.decide(b, decision); err != nil {
				t.Fatal(err)
			}
			ended, err := b.Wait(within(t), b.ref(), turn)
			if err != nil || ended.Answer != test.answer {
				t.Errorf("turn %+v, %v, want answer %q", ended, err, test.answer)
			}
		})
	}
}

func TestDecidingTwice(t *testing.T) {
	b := setUp(t)
	turn := b.send(t, "ask")
	approval := b.pending(t)
	decision := contract.Decision{Approval: approval.ID, Digest: approval.Digest}
	if err := b.Approve(within(t), b.ref(), decision); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Wait(within(t), b.ref(), turn); err != nil {
		t.Fatal(err)
	}
	before := historyLength(t, b)
	if err := b.Approve(within(t), b.ref(), decision); err != nil {
		t.Errorf("the same decision again: %v", err)
	}
	wantCode(t, b.Deny(within(t), b.ref(), decision), contract.ErrAlreadyDecided)
	if after := historyLength(t, b); after != before {
		t.Errorf("%d events, %d before: what is refused early should not be sent", after, before)
	}
}

// A decision on what an earlier run may have asked is for the thread to judge.
func TestDecisionOnAnEarlierRun(t *testing.T) {
	b := setUp(t)
	b.say(t, "roll")
	b.say(t, "echo")
	if err := b.Deny(within(t), b.ref(), contract.Decision{Approval: "t1-a", Digest: "d"}); err != nil {
		t.Error(err)
	}
}

func TestDecisionForAClosedThread(t *testing.T) {
	b := setUp(t)
	b.send(t, "ask")
	approval := b.pending(t)
	b.closed(t)
	decision := contract.Decision{Approval: approval.ID, Digest: approval.Digest, Verdict: contract.Approve}
	wantCode(t, b.Approve(within(t), b.ref(), decision), contract.ErrThreadClosed)
	_, err := b.Decide(within(t), b.ref(), decision)
	wantCode(t, err, contract.ErrThreadClosed)
}

func TestCloseTwice(t *testing.T) {
	b := setUp(t)
	b.say(t, "echo")
	b.closed(t)
	if err := b.Close(within(t), b.ref(), contract.Close{Reason: "again"}); err != nil {
		t.Error(err)
	}
	wantCode(t, b.Cancel(within(t), b.ref(), contract.CancelTurn{}), contract.ErrThreadClosed)
}

// Close and Cancel are kept for the worker that comes.
func TestControlNeedsNoWorker(t *testing.T) {
	b := newBed(t, testkit.DevServer(t).Client(t))
	if err := b.Open(within(t), b.start); err != nil {
		t.Fatal(err)
	}
	if err := b.Cancel(within(t), b.ref(), contract.CancelTurn{Turn: "t1", Reason: "no more"}); err != nil {
		t.Error(err)
	}
	if err := b.Close(within(t), b.ref(), contract.Close{}); err != nil {
		t.Error(err)
	}
	startFake(t, b.temporal, b.queue)
	if err := lastError(b.Watch(within(t), b.ref(), 0)); err != nil {
		t.Error(err)
	}
}
