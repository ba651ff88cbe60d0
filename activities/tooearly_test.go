package activities_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
)

// That a write was not applied, or that a person must look, holds only where it can
// not be sent anymore: its time was over when the target was asked.
func TestNothingIsConcludedWhileAWriteCanBeSent(t *testing.T) {
	for name, test := range map[string]struct {
		found catalog.Found
		// left is the time that the call has.
		left  time.Duration
		early bool
	}{
		"applied, under way":        {found: catalog.FoundApplied, left: time.Minute},
		"not applied, under way":    {found: catalog.FoundNotApplied, left: time.Minute, early: true},
		"not applied, just over":    {found: catalog.FoundNotApplied, left: -time.Millisecond, early: true},
		"not applied, long over":    {found: catalog.FoundNotApplied, left: -time.Minute},
		"cannot be told, under way": {found: catalog.FoundNothing, left: time.Minute, early: true},
		"cannot be told, long over": {found: catalog.FoundNothing, left: -time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			ref := w.thread.ask(1, "orders.refund")[0]
			w.broker.reconciled = catalog.Reconciled{Found: test.found}
			w.ledger.found = &activities.Claimed{ID: "c0", Claim: activities.Claim{Until: time.Now().Add(test.left)}}
			result, err := run[activities.ReconcileResult](t, w.env(t), w.Reconcile, activities.ReconcileInput{
				Thread: start, Root: "r", Call: ref,
			})
			if early := isTooEarly(err); early != test.early || !early && (err != nil || result.Found != test.found) {
				t.Errorf("found %+v, %v; want too early %t", result, err, test.early)
			}
		})
	}
}

// Who is asked may take long to answer, or the worker may be paused before it sees
// the answer: what counts is when it was asked.
func TestAnOldAnswerSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		ref := w.thread.ask(1, "orders.refund")[0]
		const grace = 10 * time.Second
		claim := activities.Claim{Until: time.Now().Add(200*time.Millisecond - grace)}
		w.ledger.found = &activities.Claimed{ID: "c0", Claim: claim}
		w.Broker = slowBroker{w.broker, 400 * time.Millisecond}
		w.broker.reconciled = catalog.Reconciled{Found: catalog.FoundNotApplied}
		_, err := run[activities.ReconcileResult](t, w.env(t), w.Reconcile, activities.ReconcileInput{Thread: start, Root: "r", Call: ref})
		if !isTooEarly(err) {
			t.Errorf("an answer from before the time was over was believed: %v", err)
		}
	})
}

// What a person says counts for nothing where the claim has the outcome, and nothing
// while the write can still be sent.
func TestConcludeBelievesTheClaimFirst(t *testing.T) {
	applied := &activities.CallResult{ID: "other", Result: []byte(`"told"`)}
	for name, test := range map[string]struct {
		claim activities.Claimed
		found catalog.Found
		early bool
	}{
		"the claim has the outcome": {activities.Claimed{Result: applied}, catalog.FoundApplied, false},
		"long over":                 {activities.Claimed{}, catalog.FoundNotApplied, false},
		"under way":                 {activities.Claimed{Claim: activities.Claim{Until: time.Now().Add(time.Minute)}}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.ledger.found = &test.claim
			result, err := run[activities.ReconcileResult](t, w.env(t), w.Conclude, activities.ConcludeInput{
				Thread: start, Root: "r", Call: w.thread.ask(1, "orders.refund")[0], Finding: catalog.FoundNotApplied,
			})
			if isTooEarly(err) != test.early || !test.early && (err != nil || result.Found != test.found) {
				t.Errorf("concluded %+v, %v", result, err)
			}
		})
	}
}

// slowBroker takes its time to say what became of a write.
type slowBroker struct {
	*broker
	takes time.Duration
}

func (b slowBroker) Reconcile(ctx context.Context, scope catalog.Scope, req catalog.Request, plan catalog.Plan) (catalog.Reconciled, error) {
	found, err := b.broker.Reconcile(ctx, scope, req, plan)
	time.Sleep(b.takes)
	return found, err
}

func isTooEarly(err error) bool {
	var failed *temporal.ApplicationError
	return errors.As(err, &failed) && failed.Type() == activities.ErrTypeTooEarly
}
