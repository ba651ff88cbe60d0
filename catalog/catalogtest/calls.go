package catalogtest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/catalog"
)

// dispatch plans a call, which must be possible, and carries it out.
func dispatch(ctx context.Context, t testing.TB, b *catalog.Broker, c Call) catalog.Outcome {
	t.Helper()
	plan := b.Plan(ctx, scope, c.request())
	if plan.Error != nil {
		t.Errorf("%s with %s cannot be planned: %v", c.Tool, c.Input, plan.Error)
		return catalog.Outcome{Error: plan.Error}
	}
	return b.Dispatch(ctx, scope, c.request(), plan)
}

func checkGood(t testing.TB, fixture func(testing.TB) Fixture) {
	f := fixture(t)
	b := newBroker(t, f.Source)
	for _, c := range f.Good {
		before := f.Reached()
		out := dispatch(t.Context(), t, b, c)
		if out.Error != nil {
			t.Errorf("%s with %s fails: %v", c.Tool, c.Input, out.Error)
		}
		if out.Warning != "" {
			t.Errorf("%s with %s: %s", c.Tool, c.Input, out.Warning)
		}
		if f.Reached() != before+1 {
			t.Errorf("%s with %s reached the tool %d times, want once", c.Tool, c.Input, f.Reached()-before)
		}
	}
}

// checkBad tries a bad input at Plan, and again at Dispatch with the plan of a
// good one.
func checkBad(t testing.TB, fixture func(testing.TB) Fixture) {
	f := fixture(t)
	b := newBroker(t, f.Source)
	before := f.Reached()
	for _, c := range f.Bad {
		plan := b.Plan(t.Context(), scope, c.request())
		if plan.Error == nil || plan.Error.Code != catalog.CodeInvalidInput {
			t.Errorf("%s with %s is planned with the error %v, want code %s", c.Tool, c.Input, plan.Error, catalog.CodeInvalidInput)
		}
		forged := plan
		forged.Error = nil
		if out := b.Dispatch(t.Context(), scope, c.request(), forged); out.Error == nil {
			t.Errorf("%s with %s is carried out", c.Tool, c.Input)
		}
	}
	if f.Reached() != before {
		t.Error("a bad input reached a tool")
	}
}

func checkFailing(t testing.TB, fixture func(testing.TB) Fixture) {
	f := fixture(t)
	b := newBroker(t, f.Source)
	for _, c := range f.Failing {
		out := dispatch(t.Context(), t, b, c.Call)
		switch {
		case out.Error == nil:
			t.Errorf("%s with %s succeeds, want an error", c.Tool, c.Input)
		case out.Error.Code != c.Code || out.Error.Effect != c.Effect:
			t.Errorf("%s with %s: error %v with effect %q, want code %s and effect %q", c.Tool, c.Input, out.Error, out.Error.Effect, c.Code, c.Effect)
		case out.Error.Message == "" || out.Error.Tool != c.Tool:
			t.Errorf("%s with %s: the error %+v lacks its message or its tool", c.Tool, c.Input, out.Error)
		case out.Result != nil:
			t.Errorf("%s with %s: there is a result beside the error", c.Tool, c.Input)
		}
	}
}

// checkCancel cancels the slow call once it has reached the tool.
func checkCancel(t testing.TB, fixture func(testing.TB) Fixture) {
	f := fixture(t)
	if f.Slow == nil {
		t.Skip("the source has no call that lasts")
	}
	b := newBroker(t, f.Source)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	before := f.Reached()
	done := make(chan catalog.Outcome, 1)
	go func() { done <- dispatch(ctx, t, b, *f.Slow) }()
	if !eventually(func() bool { return f.Reached() > before }) {
		t.Error("the slow call does not reach the tool")
	}
	began := time.Now()
	cancel()
	select {
	case out := <-done:
		if took := time.Since(began); took > promptly {
			t.Errorf("the call came back %s after it was cancelled", took)
		}
		if out.Error == nil || out.Error.Code != catalog.CodeCancelled {
			t.Errorf("outcome is %+v, want an error with code %s", out, catalog.CodeCancelled)
		}
	case <-time.After(2 * promptly):
		t.Error("the call goes on after it was cancelled")
	}
}

func checkConcurrency(t testing.TB, fixture func(testing.TB) Fixture) {
	f := fixture(t)
	b := newBroker(t, f.Source)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for j := range 8 {
				if _, err := b.Tools(t.Context(), scope); err != nil {
					t.Errorf("Tools: %v", err)
				}
				c := f.Good[(i+j)%len(f.Good)]
				if out := dispatch(t.Context(), t, b, c); out.Error != nil {
					t.Errorf("%s with %s fails beside others: %v", c.Tool, c.Input, out.Error)
				}
			}
		})
	}
	wg.Wait()
}

// eventually waits for something that cannot announce itself.
func eventually(happened func() bool) bool {
	for end := time.Now().Add(promptly); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if happened() {
			return true
		}
	}
	return happened()
}
