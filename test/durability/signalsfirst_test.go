package durability

import (
	"testing"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals/contract"
)

// meanwhile gives the thread a signal and then an update while no worker runs, so that
// both come to the next one in the same task. The update's answer is waited for.
func (b *bed) meanwhile(signal string, payload any, update func() error) {
	b.t.Helper()
	b.worker.Kill()
	b.signal(signal, payload)
	answered := make(chan error, 1)
	go func() { answered <- update() }()
	time.Sleep(time.Second) // should it take longer, the signal comes alone, and first too
	b.worker.Start(b.t)
	b.must(<-answered)
}

// What came as a signal holds for an update that came after it, although a worker is
// given both at once and runs the update first.
func TestSignalsHoldForLaterUpdates(t *testing.T) {
	for name, play := range map[string]func(*bed){
		"mode_before_message": func(b *bed) {
			b.wait(b.send("say:ready"))
			var turn string
			b.meanwhile(contract.SignalSetMode, contract.SetMode{Mode: "plan", By: "bob"}, func() error {
				submitted, err := b.Send(b.ctx(), b.start, contract.Submission{Text: "free:w|say:done"})
				turn = submitted.Turn
				return err
			})
			b.wait(turn)
			if p := b.problemOf("t2-s1-c1"); p == nil || p.Code != catalog.CodeModeDenied || b.effects() != "" {
				b.t.Errorf("the call ended with %v, effects %q", p, b.effects())
			}
			// The model was asked in the new mode, so that the call was not even planned.
			if b.scheduled("Write") != 0 {
				b.t.Error("the turn began before the mode was set")
			}
		},
		"mode_before_decision": func(b *bed) {
			turn := b.send("write:w|say:done")
			ap := b.pending(1)[0]
			b.meanwhile(contract.SignalSetMode, contract.SetMode{Mode: "plan", By: "bob"}, func() error { return b.agree(ap) })
			b.wait(turn)
			if p := b.problemOf("t1-s1-c1"); p == nil || p.Code != catalog.CodeModeDenied || b.effects() != "" {
				b.t.Errorf("the call ended with %v, effects %q", p, b.effects())
			}
		},
		"cancel_before_decision": func(b *bed) {
			turn := b.send("write:w|say:done")
			ap := b.pending(1)[0]
			b.meanwhile(contract.SignalCancelTurn, contract.CancelTurn{Turn: turn, Reason: "no"}, func() error { return b.agree(ap) })
			if ended := b.wait(turn); ended.Status != contract.StatusCancelled || b.effects() != "" {
				b.t.Errorf("the turn %+v, effects %q", ended, b.effects())
			}
		},
		"close_before_message": func(b *bed) {
			b.wait(b.send("say:ready"))
			var turn string
			b.meanwhile(contract.SignalClose, contract.Close{Reason: "enough"}, func() error {
				submitted, err := b.Send(b.ctx(), b.start, contract.Submission{Text: "free:w|say:done"})
				turn = submitted.Turn
				return err
			})
			if ended := b.wait(turn); ended.Status != contract.StatusCancelled || b.effects() != "" {
				b.t.Errorf("the turn %+v, effects %q", ended, b.effects())
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, testkit.DevServer(t))
			play(b)
			b.replay(name, "")
		})
	}
}

// agree approves a call by an update.
func (b *bed) agree(ap contract.Approval) error {
	_, err := b.Decide(b.ctx(), b.start.ThreadRef, contract.Decision{Approval: ap.ID, Digest: ap.Digest, Verdict: contract.Approve, By: "bob"})
	return err
}
