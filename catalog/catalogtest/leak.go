package catalogtest

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/catalog"
)

// checkLeaks uses a source and lets it end, and looks for goroutines that did
// not.
func checkLeaks(t *testing.T, fixture func(testing.TB) Fixture) {
	before := runtime.NumGoroutine()
	t.Run("use", func(t *testing.T) { use(t, fixture(t)) })
	if !eventually(func() bool { return runtime.NumGoroutine() <= before }) {
		stacks := make([]byte, 1<<20)
		t.Errorf("%d goroutines before and %d after:\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
	}
}

func use(t testing.TB, f Fixture) {
	b, err := catalog.New(f.Source)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Good {
		dispatch(t.Context(), t, b, c)
	}
	for _, c := range f.Failing {
		dispatch(t.Context(), t, b, c.Call)
	}
	if f.Slow != nil {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		dispatch(ctx, t, b, *f.Slow)
	}
}
