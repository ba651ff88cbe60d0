package activities_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
)

// What became of a write is written into its claim, once it holds.
func TestReconcile(t *testing.T) {
	over, running := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	applied := catalog.Reconciled{Found: catalog.FoundApplied, Result: json.RawMessage(`{"r":1}`), Warning: "odd"}
	for name, test := range map[string]struct {
		claim *activities.Claimed
		found catalog.Reconciled
		err   error

		want   catalog.Found
		result string
		steps  string
		failed string // the type of the activity's error
	}{
		"the claim has the outcome": {
			claim: &activities.Claimed{ID: "c", Result: &activities.CallResult{Result: json.RawMessage(`"told"`)}},
			want:  catalog.FoundApplied, result: `"told"`, steps: "look",
		},
		"the claim was taken back":   {want: catalog.FoundNotApplied, steps: "look"},
		"applied":                    {claim: claimed(running), found: applied, want: catalog.FoundApplied, result: `{"r":1}`, steps: "look record"},
		"not applied, and too early": {claim: claimed(running), found: catalog.Reconciled{Found: catalog.FoundNotApplied}, steps: "look", failed: activities.ErrTypeTooEarly},
		"not applied":                {claim: claimed(over), found: catalog.Reconciled{Found: catalog.FoundNotApplied}, want: catalog.FoundNotApplied, steps: "look release"},
		"nothing":                    {claim: claimed(over), found: catalog.Reconciled{Found: catalog.FoundNothing, Reason: "no books"}, want: catalog.FoundNothing, steps: "look"},
		"the target is away":         {claim: claimed(over), err: errors.New("away"), steps: "look", failed: activities.ErrTypeReconcile},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.ledger.found, w.broker.reconciled, w.broker.unreachable = test.claim, test.found, test.err
			in := activities.ReconcileInput{Thread: start, Root: "r", Call: w.thread.ask(1, "orders.refund")[0]}
			got, err := run[activities.ReconcileResult](t, w.env(t), w.Reconcile, in)
			var app *temporal.ApplicationError
			if failed := errors.As(err, &app); failed != (test.failed != "") || failed && app.Type() != test.failed {
				t.Errorf("error %v, want %q", err, test.failed)
			}
			if err == nil && (got.Key == "" || got.Found != test.want || string(got.Result.Result) != test.result) {
				t.Errorf("found %+v", got)
			}
			if steps := strings.Join(w.ledger.steps, " "); steps != test.steps {
				t.Errorf("steps %q, want %q", steps, test.steps)
			}
			if len(w.broker.requests) > 0 && w.broker.requests[0].IdempotencyKey != activities.IdempotencyKey("r", in.Call) {
				t.Errorf("asked for the key %s", w.broker.requests[0].IdempotencyKey)
			}
		})
	}
}

func claimed(until time.Time) *activities.Claimed {
	return &activities.Claimed{ID: "c", Claim: activities.Claim{Until: until}}
}

// What a person says is written into the claim, unless the claim knows better.
func TestConclude(t *testing.T) {
	over, running := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	told := &activities.Claimed{ID: "c", Result: &activities.CallResult{Result: json.RawMessage(`"told"`)}}
	for name, test := range map[string]struct {
		claim  *activities.Claimed
		said   catalog.Found
		want   catalog.Found
		result string
		steps  string
		failed string
	}{
		"applied":                           {claimed(running), catalog.FoundApplied, catalog.FoundApplied, `"said"`, "look record", ""},
		"applied, and the claim is gone":    {nil, catalog.FoundApplied, catalog.FoundApplied, `"said"`, "look", ""},
		"not applied":                       {claimed(over), catalog.FoundNotApplied, catalog.FoundNotApplied, "", "look release", ""},
		"not applied, and too early":        {claimed(running), catalog.FoundNotApplied, "", "", "look", activities.ErrTypeTooEarly},
		"not applied, which is done":        {nil, catalog.FoundNotApplied, catalog.FoundNotApplied, "", "look", ""},
		"not applied, and the claim knows":  {told, catalog.FoundNotApplied, catalog.FoundApplied, `"told"`, "look", ""},
		"applied otherwise than it is told": {told, catalog.FoundApplied, catalog.FoundApplied, `"told"`, "look", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.ledger.found = test.claim
			in := activities.ConcludeInput{Thread: start, Root: "r", Call: w.thread.ask(1, "orders.refund")[0], Finding: test.said}
			if test.said == catalog.FoundApplied {
				in.Result = json.RawMessage(`"said"`)
			}
			got, err := run[activities.ReconcileResult](t, w.env(t), w.Conclude, in)
			var app *temporal.ApplicationError
			if failed := errors.As(err, &app); failed != (test.failed != "") || failed && app.Type() != test.failed {
				t.Errorf("error %v, want %q", err, test.failed)
			}
			if got.Found != test.want || string(got.Result.Result) != test.result {
				t.Errorf("found %+v", got)
			}
			if steps := strings.Join(w.ledger.steps, " "); steps != test.steps {
				t.Errorf("steps %q, want %q", steps, test.steps)
			}
		})
	}
}
