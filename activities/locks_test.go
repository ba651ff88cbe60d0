package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"go.temporal.io/sdk/temporal"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// A write with a resource gets its lock first, and releases it when all is known. Else
// the thread is told that it has it still.
func TestWriteGetsTheLockOfItsResource(t *testing.T) {
	unanswered := errors.New("no answer")
	taken := &contract.Lock{Resource: "order/1", Holder: "acme/other", Tool: "orders.refund"}
	for _, test := range []struct {
		name    string
		set     func(*ledger)
		again   bool
		waited  bool
		early   *catalog.Error // the call is refused before its lock is asked
		outcome catalog.Outcome

		steps  string
		failed bool
		held   bool
		code   string
	}{
		{name: "applied", outcome: catalog.Outcome{Result: json.RawMessage(`1`)}, steps: "lock claim intent send record unlock"},
		{
			name: "refused by the target", outcome: catalog.Outcome{Error: &catalog.Error{Code: "closed", Effect: catalog.EffectNone}},
			steps: "lock claim intent send release unlock", code: "closed",
		},
		{
			name: "to be tried again", outcome: catalog.Outcome{Error: &catalog.Error{Code: "away", Effect: catalog.EffectNone, Retryable: true}},
			steps: "lock claim intent send release", code: "away", held: true,
		},
		{
			name: "unknown", outcome: catalog.Outcome{Error: &catalog.Error{Code: "reset", Effect: catalog.EffectUnknown}},
			steps: "lock claim intent send", code: contract.CodeOutcomeUnknown, held: true,
		},
		{
			name: "failed after one that may have been applied", again: true,
			outcome: catalog.Outcome{Error: &catalog.Error{Code: "closed", Effect: catalog.EffectNone}},
			steps:   "lock claim intent send", code: "closed", held: true,
		},
		{
			name: "made before", set: func(l *ledger) { l.found = &activities.Claimed{ID: "c0", Result: &activities.CallResult{}} },
			steps: "lock claim unlock",
		},
		{
			name: "claimed by another", set: func(l *ledger) { l.found = &activities.Claimed{ID: "c0"} },
			steps: "lock claim", code: contract.CodeOutcomeUnknown, held: true,
		},
		{name: "no lock", set: func(l *ledger) { l.lockErr = unanswered }, steps: "lock", failed: true},
		{
			name: "taken", set: func(l *ledger) { l.lock = &contract.LockAnswer{Status: contract.LockWaiting, Lock: taken} },
			steps: "lock", code: contract.CodeResourceBusy,
		},
		{
			name: "blocked", set: func(l *ledger) { l.lock = &contract.LockAnswer{Status: contract.LockRefused, Lock: taken} },
			steps: "lock", code: contract.CodeResourceBlocked,
		},
		{
			name: "cannot be released", set: func(l *ledger) { l.freeErr = unanswered }, outcome: catalog.Outcome{Result: json.RawMessage(`1`)},
			steps: "lock claim intent send record unlock", held: true,
		},
		{name: "refused before", early: &catalog.Error{Code: "blocked", Effect: catalog.EffectNone}, code: "blocked"},
		{name: "refused after it has waited", waited: true, early: &catalog.Error{Code: "blocked", Effect: catalog.EffectNone}, steps: "unlock", code: "blocked"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld()
			if test.set != nil {
				test.set(w.ledger)
			}
			w.broker.dispatch = func(ctx context.Context, req catalog.Request) catalog.Outcome {
				if test.early != nil {
					return catalog.Outcome{Error: test.early}
				}
				if err := req.Before(ctx); err != nil {
					return catalog.Outcome{Error: &catalog.Error{Code: catalog.CodeNotMade, Message: err.Error(), Effect: catalog.EffectNone}}
				}
				w.ledger.did("send")
				return test.outcome
			}
			in := activities.WriteInput{
				Thread: start, Root: "r", Call: w.thread.ask(1, "orders.refund")[0], Resource: "order/1", Again: test.again, Waited: test.waited,
			}
			result, err := run[activities.CallResult](t, w.env(t), w.Write, in)
			var app *temporal.ApplicationError
			if failed := errors.As(err, &app) && app.Type() == activities.ErrTypeNotSent; failed != test.failed || err != nil && !failed {
				t.Errorf("error %v", err)
			}
			if steps := strings.Join(w.ledger.steps, " "); steps != test.steps {
				t.Errorf("steps %q, want %q", steps, test.steps)
			}
			if codeOf(result.Problem) != test.code || result.Held != test.held {
				t.Errorf("result %+v, problem %+v", result, result.Problem)
			}
			if waits := result.Waits != nil; waits != (test.code == contract.CodeResourceBusy) || waits && !result.NotSent {
				t.Errorf("result %+v", result)
			}
		})
	}
}
