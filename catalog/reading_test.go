package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/catalog"
)

// reading dispatches a read in a goroutine of its own, as the tool may not come back to
// it, and returns what comes of it.
func reading(t testing.TB, b *catalog.Broker, scope catalog.Scope, req catalog.Request) catalog.Reading {
	t.Helper()
	came := make(chan catalog.Reading, 2)
	go b.DispatchRead(t.Context(), scope, req, func(r catalog.Reading) { came <- r })
	r := <-came
	if len(came) > 0 {
		t.Error("it was told twice what came of the call")
	}
	return r
}

// A read comes to the same on the caller's goroutine as on one of its own.
func TestReadingIsDispatch(t *testing.T) {
	for name, f := range map[string]function{
		"a result": func(context.Context, catalog.Call) (json.RawMessage, error) { return json.RawMessage(`{"a":1}`), nil },
		"no JSON":  func(context.Context, catalog.Call) (json.RawMessage, error) { return json.RawMessage(`{`), nil },
		"an error": func(context.Context, catalog.Call) (json.RawMessage, error) { return nil, errors.New("no such order") },
		"a typed error": func(context.Context, catalog.Call) (json.RawMessage, error) {
			return nil, &catalog.Error{Code: "closed"}
		},
		"an inner timeout": func(context.Context, catalog.Call) (json.RawMessage, error) {
			return nil, fmt.Errorf("dial: %w", os.ErrDeadlineExceeded)
		},
		"a panic":                  func(context.Context, catalog.Call) (json.RawMessage, error) { panic("secret value") },
		"a nil pointer as error":   func(context.Context, catalog.Call) (json.RawMessage, error) { return nil, (*catalog.Error)(nil) },
		"the end of its goroutine": func(context.Context, catalog.Call) (json.RawMessage, error) { runtime.Goexit(); return nil, nil },
		"a question": func(context.Context, catalog.Call) (json.RawMessage, error) {
			return nil, &catalog.Elicitation{Message: "Which one?", Schema: json.RawMessage(`{"type":"object"}`)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := broker(t, of("s", withFunction(read("a.b"), f)))
			want := do(t, b, "a.b", "{}")
			got := reading(t, b, everyone, catalog.Request{Tool: "a.b", Input: json.RawMessage("{}"), IdempotencyKey: "key-1"})
			if diff := cmp.Diff(want, got.Outcome); diff != "" || !got.Done {
				t.Errorf("outcome (-dispatch +reading), done %t:\n%s", got.Done, diff)
			}
			if left := name == "the end of its goroutine"; got.Left != left {
				t.Errorf("left is %t", got.Left)
			}
		})
	}
}

// A write is planned, and not made.
func TestReadingOfAWrite(t *testing.T) {
	var calls atomic.Int32
	b := broker(t, of("s", withFunction(write("a.b"), func(context.Context, catalog.Call) (json.RawMessage, error) {
		calls.Add(1)
		return nil, nil
	})))
	req := catalog.Request{Tool: "a.b", Input: json.RawMessage("{}")}
	got := reading(t, b, everyone, req)
	if want := b.Plan(t.Context(), everyone, req); got.Done || got.Left || calls.Load() != 0 || cmp.Diff(want, got.Plan) != "" {
		t.Errorf("reading is %+v after %d calls, want the plan %+v", got, calls.Load(), want)
	}
}

// A tool that ignores the end of its context keeps the goroutine that it runs on, and
// nothing else: what it gives at last is too late, and its place is free for other calls.
func TestReadingLeavesADeafTool(t *testing.T) {
	for name, tt := range map[string]struct {
		cancel bool
		after  time.Duration
		code   string
		late   function
	}{
		"time is up": {false, 7 * time.Second, catalog.CodeTimeout, func(context.Context, catalog.Call) (json.RawMessage, error) { return json.RawMessage("1"), nil }},
		"cancelled":  {true, 3 * time.Second, catalog.CodeCancelled, func(context.Context, catalog.Call) (json.RawMessage, error) { panic("at last") }},
		"and exits":  {false, 7 * time.Second, catalog.CodeTimeout, func(context.Context, catalog.Call) (json.RawMessage, error) { runtime.Goexit(); return nil, nil }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				var calls atomic.Int32
				tool := withFunction(read("a.b"), func(ctx context.Context, c catalog.Call) (json.RawMessage, error) {
					if calls.Add(1) > 1 {
						return json.RawMessage(`"quick"`), nil
					}
					<-release
					return tt.late(ctx, c)
				})
				tool.Timeout = 5 * time.Second
				b := broker(t, of("s", tool))
				b.Limit(catalog.Limits{Namespaces: map[string]catalog.FlowLimits{"a": {Concurrent: 1}}})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.cancel {
					time.AfterFunc(time.Second, cancel)
				}
				began := time.Now()
				came := make(chan catalog.Reading, 2)
				returned := make(chan struct{})
				go func() {
					defer close(returned)
					b.DispatchRead(ctx, everyone, catalog.Request{Tool: "a.b", Input: json.RawMessage("{}")}, func(r catalog.Reading) { came <- r })
				}()
				r := <-came
				if took := time.Since(began); took != tt.after || !r.Left || !r.Done {
					t.Errorf("after %s (want %s) it is told that %+v", took, tt.after, r)
				}
				wantError(t, r.Outcome.Error, tt.code)
				select {
				case <-returned:
					t.Error("it has returned, and the tool has not")
				default:
				}
				next := reading(t, b, everyone, catalog.Request{Tool: "a.b", Input: json.RawMessage("{}")})
				if string(next.Outcome.Result) != `"quick"` || next.Left {
					t.Errorf("the next call came to %+v", next)
				}
				close(release)
				<-returned
				synctest.Wait()
				if len(came) > 0 {
					t.Errorf("then it is told that %+v", <-came)
				}
			})
		})
	}
}
