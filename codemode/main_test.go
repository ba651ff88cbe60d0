package codemode_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/codemode"
	"github.com/heddle-dev/heddle/codemode/engine"
	"github.com/heddle-dev/heddle/codemode/lookup"
	"github.com/heddle-dev/heddle/codemode/sandbox"
	"github.com/heddle-dev/heddle/codemode/snippet"
	"github.com/heddle-dev/heddle/signals/contract"
)

func TestMain(m *testing.M) {
	sandbox.ChildMain()
	os.Exit(m.Run())
}

// world is a runner, and tools that note how they are called.
type world struct {
	*codemode.Runner
	t testing.TB

	mu    sync.Mutex
	calls []string
	most  int // calls that were under way at once
	now   int
	// hold keeps test.slow until it is closed.
	hold chan struct{}
}

func newWorld(t testing.TB, change ...func(*codemode.Options)) *world {
	t.Helper()
	w := &world{t: t, hold: make(chan struct{})}
	broker, err := catalog.New(w)
	if err != nil {
		t.Fatal(err)
	}
	// On a busy machine a step may take long before its limit of the processor is reached.
	e, err := engine.New(engine.Options{AllowUnhardened: true, Limits: snippet.Limits{Wall: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	options := codemode.Options{Engine: e, Broker: broker, Lookup: lookup.New(broker), Blobs: store{}}
	for _, c := range change {
		c(&options)
	}
	w.Runner = codemode.New(options)
	return w
}

func (w *world) Name() string { return "test" }

// Freshness is that of tools that are Go functions.
func (w *world) Freshness() time.Duration { return math.MaxInt64 }

func (w *world) Tools(context.Context) ([]catalog.Tool, error) {
	const named = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}`
	tool := func(id string, operation catalog.Operation, approval catalog.Approval, do func(context.Context, string) (json.RawMessage, error)) catalog.Tool {
		return catalog.Tool{
			Descriptor: catalog.Descriptor{ID: id, Description: id, Input: json.RawMessage(named), Operation: operation, Approval: approval},
			Call: func(ctx context.Context, call catalog.Call) (json.RawMessage, error) {
				var in struct{ Name string }
				if err := json.Unmarshal(call.Input, &in); err != nil {
					return nil, err
				}
				defer w.note(id + " " + in.Name)()
				return do(ctx, in.Name)
			},
		}
	}
	free := func(id string, operation catalog.Operation, do func(json.RawMessage) (json.RawMessage, error)) catalog.Tool {
		return catalog.Tool{
			Descriptor: catalog.Descriptor{ID: id, Description: id, Input: json.RawMessage(`{"type":"object"}`), Operation: operation},
			Call: func(_ context.Context, call catalog.Call) (json.RawMessage, error) {
				defer w.note(id + " " + string(call.Input))()
				return do(call.Input)
			},
		}
	}
	same := func(input json.RawMessage) (json.RawMessage, error) { return input, nil }
	echo := func(_ context.Context, name string) (json.RawMessage, error) { return json.Marshal(name) }
	deaf := tool("test.deaf", catalog.Read, "", func(context.Context, string) (json.RawMessage, error) {
		<-w.hold
		return json.RawMessage(`"late"`), nil
	})
	deaf.Timeout = 3 * time.Second // in which it is reached on any machine
	return []catalog.Tool{
		free("test.any", catalog.Read, same),
		free("test.charge", catalog.Write, same),
		free("test.items", catalog.Read, func(json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(`[{"id":1},{"id":2}]`), nil // as providers/mcp takes it out of its envelope
		}),
		tool("test.get", catalog.Read, "", echo),
		tool("test.ask", catalog.Read, catalog.ApprovalAlways, echo),
		tool("test.write", catalog.Write, "", echo),
		tool("test.fail", catalog.Read, "", func(context.Context, string) (json.RawMessage, error) {
			return nil, &catalog.Error{Code: "no_such_order", Message: "there is none", Hint: "look again"}
		}),
		tool("test.slow", catalog.Read, "", func(ctx context.Context, name string) (json.RawMessage, error) {
			select {
			case <-w.hold:
				return json.Marshal(name)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}),
		tool("test.exits", catalog.Read, "", func(context.Context, string) (json.RawMessage, error) {
			runtime.Goexit()
			return nil, nil
		}),
		deaf,
		tool("test.short", catalog.Read, "", func(_ context.Context, name string) (json.RawMessage, error) {
			time.Sleep(50 * time.Millisecond) // long enough for the others to begin
			return json.Marshal(name)
		}),
	}, nil
}

func (w *world) note(call string) (over func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, call)
	w.now++
	w.most = max(w.most, w.now)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.now--
	}
}

// made are the calls that reached a tool, sorted.
func (w *world) made() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := slices.Clone(w.calls)
	slices.Sort(calls)
	return calls
}

// store holds one value, whatever it is asked for.
type store struct{}

const kept = `{"orders":[{"id":1},{"id":2},{"id":3}],"note":"a long note"}`

func (store) Put(context.Context, []byte) (contract.Ref, error) { return contract.Ref{}, nil }

func (store) Get(context.Context, contract.Ref) ([]byte, error) { return []byte(kept), nil }

// stretch begins a snippet.
func stretch(source string) activities.Stretch {
	return activities.Stretch{
		Call: "t1-s1-c1", Scope: catalog.Scope{Tenant: "acme", Thread: "t", Agent: "a", Tools: []string{"test.*"}},
		Program: snippet.Program{Tenant: "acme", Source: source, Seed: "s", Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		Results: map[string]contract.Ref{"t0-s1-c1": {Digest: "sha256:x", Size: 1}},
	}
}

// run runs a stretch.
func (w *world) run(in activities.Stretch) activities.StretchResult {
	w.t.Helper()
	result, err := w.Run(w.t.Context(), in)
	if err != nil {
		w.t.Fatal(err)
	}
	return result
}

// next is the stretch after another, with the outcomes given in between.
func next(in activities.Stretch, came activities.StretchResult, outcomes ...snippet.Delivery) activities.Stretch {
	in.Program.Journal = came.Journal
	for _, effect := range came.Effects {
		in.Effects = append(slices.Clone(in.Effects), effect.Number)
	}
	for _, sleep := range came.Sleeps {
		in.Effects = append(slices.Clone(in.Effects), sleep.Number)
	}
	in.Outcomes = append(slices.Clone(came.Late), outcomes...)
	return in
}

// told is a report.
type told struct {
	Result   json.RawMessage
	Outline  json.RawMessage
	Handle   string
	Error    *snippet.Error
	Hint     string
	Console  []string
	Calls    map[string]int
	Findings []struct{ Message, Hint string }
	Failed   []listed
	NotMade  []listed `json:"not_made"`
	Open     []listed
	Awaited  []listed `json:"not_awaited"`
	Dropped  int      `json:"console_lines_dropped"`
	Left     struct {
		Calls, Memory, Bytes int
		TimeMS               int `json:"time_ms"`
		CPUMS                int `json:"cpu_ms"`
	}
}

type listed struct {
	Tool, Code string
	Call, Line int
}

// end is the report of a stretch that ended its snippet.
func (w *world) end(came activities.StretchResult) told {
	w.t.Helper()
	if came.End == nil {
		w.t.Fatalf("the snippet has not ended: effects %+v, sleeps %+v", came.Effects, came.Sleeps)
	}
	var r told
	if err := json.Unmarshal(came.End.Report, &r); err != nil {
		w.t.Fatalf("report %s: %v", came.End.Report, err)
	}
	return r
}

func result(call int, value string) snippet.Delivery {
	return snippet.Delivery{Call: call, Result: json.RawMessage(value), At: time.Date(2026, 1, 2, 3, 5, 0, 0, time.UTC)}
}

func problem(call int, code string) snippet.Delivery {
	return snippet.Delivery{Call: call, Error: &snippet.Error{Code: code, Message: code}, At: time.Date(2026, 1, 2, 3, 5, 0, 0, time.UTC)}
}
