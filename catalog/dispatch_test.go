package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/heddle-dev/heddle/catalog"
)

func TestDispatchCallsTheTool(t *testing.T) {
	var got catalog.Call
	tool := withFunction(write("orders.refund"), func(_ context.Context, call catalog.Call) (json.RawMessage, error) {
		got = call
		return json.RawMessage(`{"ok":true}`), nil
	})
	out := do(t, broker(t, of("s", tool)), tool.ID, `{"order":"A-17"}`)
	if diff := cmp.Diff(catalog.Outcome{Result: json.RawMessage(`{"ok":true}`)}, out); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
	want := catalog.Call{Input: json.RawMessage(`{"order":"A-17"}`), Scope: everyone, IdempotencyKey: "key-1"}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(catalog.Call{}, "Secrets")); diff != "" {
		t.Errorf("the tool was called with (-want +got):\n%s", diff)
	}
}

func TestReadGetsNoIdempotencyKey(t *testing.T) {
	key := "unset"
	tool := withFunction(read("a.b"), func(_ context.Context, call catalog.Call) (json.RawMessage, error) {
		key = call.IdempotencyKey
		return nil, nil
	})
	do(t, broker(t, of("s", tool)), "a.b", "")
	if key != "" {
		t.Errorf("a read got the key %q", key)
	}
}

// TestDispatchRefusesWhatWasNotPlanned changes one thing between plan and
// dispatch.
func TestDispatchRefusesWhatWasNotPlanned(t *testing.T) {
	base := withSchema(write("orders.refund"), `{"type":"object","properties":{"n":{"type":"integer"},"m":{}}}`)
	for name, c := range map[string]struct {
		change func(*catalog.Tool, *catalog.Request, *catalog.Plan)
		code   string // empty: goes through
	}{
		"nothing": {func(*catalog.Tool, *catalog.Request, *catalog.Plan) {}, ""},
		"key order and spaces of a schema": {func(t *catalog.Tool, _ *catalog.Request, _ *catalog.Plan) {
			t.Input = json.RawMessage(`{ "properties":{"m":{},"n":{"type":"integer"}}, "type":"object"}`)
		}, ""},
		"source":  {func(t *catalog.Tool, _ *catalog.Request, _ *catalog.Plan) { t.Source = "moved.go:1" }, ""},
		"timeout": {func(t *catalog.Tool, _ *catalog.Request, _ *catalog.Plan) { t.Timeout = time.Hour }, ""},
		"key order and spaces of the input": {func(_ *catalog.Tool, r *catalog.Request, _ *catalog.Plan) {
			r.Input = json.RawMessage(`{"m":null, "n":1}`)
		}, ""},
		"description": {func(t *catalog.Tool, _ *catalog.Request, _ *catalog.Plan) { t.Description += "!" }, catalog.CodeDescriptorChanged},
		"title":       {func(t *catalog.Tool, _ *catalog.Request, _ *catalog.Plan) { t.Title = "Refund" }, catalog.CodeDescriptorChanged},
		"operation":   {func(t *catalog.Tool, _ *catalog.Request, _ *catalog.Plan) { t.Operation = catalog.Read }, catalog.CodeDescriptorChanged},
		"approval":    {func(t *catalog.Tool, _ *catalog.Request, _ *catalog.Plan) { t.Approval = catalog.ApprovalNever }, catalog.CodeDescriptorChanged},
		"input schema": {func(t *catalog.Tool, _ *catalog.Request, _ *catalog.Plan) {
			t.Input = json.RawMessage(`{"type":"object"}`)
		}, catalog.CodeDescriptorChanged},
		"output schema": {func(t *catalog.Tool, _ *catalog.Request, _ *catalog.Plan) {
			t.Output = json.RawMessage(`{}`)
		}, catalog.CodeDescriptorChanged},
		"input":           {func(_ *catalog.Tool, r *catalog.Request, _ *catalog.Plan) { r.Input = json.RawMessage(`{"n":2}`) }, catalog.CodeInputChanged},
		"invalid input":   {func(_ *catalog.Tool, r *catalog.Request, _ *catalog.Plan) { r.Input = json.RawMessage(`{"n":"x"}`) }, catalog.CodeInvalidInput},
		"tool gone":       {func(t *catalog.Tool, _ *catalog.Request, _ *catalog.Plan) { t.ID = "orders.gone" }, catalog.CodeToolNotFound},
		"plan of another": {func(_ *catalog.Tool, _ *catalog.Request, p *catalog.Plan) { p.Tool = "orders.get" }, catalog.CodeDescriptorChanged},
		"no approval":     {func(_ *catalog.Tool, _ *catalog.Request, p *catalog.Plan) { p.NeedsApproval = false }, catalog.CodeApprovalRequired},
		"no plan":         {func(_ *catalog.Tool, _ *catalog.Request, p *catalog.Plan) { *p = catalog.Plan{} }, catalog.CodeDescriptorChanged},
		"plan with an error": {func(_ *catalog.Tool, _ *catalog.Request, p *catalog.Plan) {
			p.Error = &catalog.Error{Code: "blocked"}
		}, "blocked"},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			tool := withFunction(base, func(context.Context, catalog.Call) (json.RawMessage, error) {
				calls++
				return nil, nil
			})
			b := broker(t, &source{"s", func(context.Context) ([]catalog.Tool, error) { return []catalog.Tool{tool}, nil }})
			req := catalog.Request{Tool: tool.ID, Input: json.RawMessage(`{"n":1,"m":null}`)}
			plan := b.Plan(t.Context(), everyone, req)
			if plan.Error != nil {
				t.Fatal(plan.Error)
			}
			c.change(&tool, &req, &plan)
			out := b.Dispatch(t.Context(), everyone, req, plan)
			if c.code == "" {
				if out.Error != nil || calls != 1 {
					t.Fatalf("outcome is %+v after %d calls, want one call", out, calls)
				}
				return
			}
			err := wantError(t, out.Error, c.code)
			if calls != 0 {
				t.Error("the tool was called")
			}
			if c.code != "blocked" && err.Effect != catalog.EffectNone {
				t.Errorf("effect is %q, want none", err.Effect)
			}
		})
	}
}

// TestFailures fails a read and a write alike.
func TestFailures(t *testing.T) {
	typed := &catalog.Error{Code: "order_closed", Message: "the order is closed", Hint: "reopen it", Effect: catalog.EffectNone, Details: json.RawMessage(`{"status":409}`)}
	for name, c := range map[string]struct {
		fail func() error
		want catalog.Error // of a write
	}{
		"an error":         {func() error { return errors.New("no such order") }, catalog.Error{Code: catalog.CodeToolFailed, Message: "no such order"}},
		"a typed error":    {func() error { return fmt.Errorf("refund: %w", typed) }, *typed},
		"an inner timeout": {func() error { return fmt.Errorf("dial: %w", os.ErrDeadlineExceeded) }, catalog.Error{Code: catalog.CodeTimeout, Message: "the tool gave up waiting: dial: i/o timeout", Effect: catalog.EffectUnknown}},
		"a panic": {func() error { panic("secret value") }, catalog.Error{
			Code: catalog.CodeToolFailed, Message: "the tool stopped on an internal fault (panic); the worker's log has the details", Effect: catalog.EffectUnknown,
		}},
		"a nil pointer as error": {func() error { return (*catalog.Error)(nil) }, catalog.Error{
			Code: catalog.CodeToolFailed, Message: "the tool stopped on an internal fault (panic); the worker's log has the details", Effect: catalog.EffectUnknown,
		}},
		"the end of its goroutine": {func() error { runtime.Goexit(); return nil }, catalog.Error{
			Code: catalog.CodeToolFailed, Message: "the tool stopped on an internal fault (panic); the worker's log has the details", Effect: catalog.EffectUnknown,
		}},
	} {
		for _, tool := range []catalog.Tool{read("a.b"), write("a.b")} {
			t.Run(name+" of a "+string(tool.Operation), func(t *testing.T) {
				fails := withFunction(tool, func(context.Context, catalog.Call) (json.RawMessage, error) { return nil, c.fail() })
				out := do(t, broker(t, of("s", fails)), "a.b", "{}")
				want := c.want
				want.Tool = "a.b"
				if tool.Operation == catalog.Read {
					want.Effect = catalog.EffectNone
					want.Retryable = want.Code == catalog.CodeTimeout
				}
				if diff := cmp.Diff(catalog.Outcome{Error: &want}, out); diff != "" {
					t.Errorf("outcome (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestToolErrorsAreBounded(t *testing.T) {
	long := strings.Repeat("ü\xff", 1<<20)
	for _, err := range []error{
		errors.New(long),
		&catalog.Error{Code: long, Message: long, Hint: long, Details: json.RawMessage(`{"not":`), Violations: make([]catalog.Violation, 1000)},
		&catalog.Error{Details: json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)},
	} {
		tool := withFunction(read("a.b"), func(context.Context, catalog.Call) (json.RawMessage, error) { return nil, err })
		out := do(t, broker(t, of("s", tool)), "a.b", "{}")
		text, err := json.Marshal(out)
		if err != nil {
			t.Fatalf("the outcome cannot be written: %v", err)
		}
		if len(text) > 8<<10 {
			t.Errorf("the outcome has %d bytes", len(text))
		}
		if out.Error.Code == "" {
			t.Error("the error has no code")
		}
	}
}

func TestTimeout(t *testing.T) {
	for name, c := range map[string]struct {
		tool  catalog.Tool
		deaf  bool // the tool ignores its context
		after time.Duration
	}{
		"read":       {read("a.b"), false, 5 * time.Second},
		"write":      {write("a.b"), false, 5 * time.Second},
		"deaf read":  {read("a.b"), true, 7 * time.Second},
		"deaf write": {write("a.b"), true, 7 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				defer close(release)
				c.tool.Timeout = 5 * time.Second
				tool := withFunction(c.tool, func(ctx context.Context, _ catalog.Call) (json.RawMessage, error) {
					if c.deaf {
						<-release
						return nil, nil
					}
					<-ctx.Done()
					return nil, ctx.Err()
				})
				b := broker(t, of("s", tool))
				began := time.Now()
				out := do(t, b, "a.b", "{}")
				err := wantError(t, out.Error, catalog.CodeTimeout)
				if took := time.Since(began); took != c.after {
					t.Errorf("came back after %s, want %s", took, c.after)
				}
				if want := effectOf(tool); err.Effect != want {
					t.Errorf("effect is %q, want %q", err.Effect, want)
				}
				if err.Retryable != (tool.Operation == catalog.Read) {
					t.Errorf("retryable is %v", err.Retryable)
				}
				if !strings.Contains(err.Message, "5s") {
					t.Errorf("message %q does not say how long", err.Message)
				}
			})
		})
	}
}

func effectOf(t catalog.Tool) catalog.Effect {
	if t.Operation == catalog.Read {
		return catalog.EffectNone
	}
	return catalog.EffectUnknown
}

func TestPlannedTimeoutHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := withFunction(read("a.b"), func(ctx context.Context, _ catalog.Call) (json.RawMessage, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		tool.Timeout = 5 * time.Second
		b := broker(t, &source{"s", func(context.Context) ([]catalog.Tool, error) { return []catalog.Tool{tool}, nil }})
		req := catalog.Request{Tool: "a.b"}
		plan := b.Plan(t.Context(), everyone, req)
		tool.Timeout = time.Minute // the schedule around the call was made for the old one
		began := time.Now()
		wantError(t, b.Dispatch(t.Context(), everyone, req, plan).Error, catalog.CodeTimeout)
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("came back after %s, want 5s", took)
		}
	})
}

func TestCancellation(t *testing.T) {
	for _, base := range []catalog.Tool{read("a.b"), write("a.b")} {
		for _, deadline := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, deadline %v", base.Operation, deadline), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					code := catalog.CodeCancelled
					if deadline {
						ctx, cancel = context.WithTimeout(t.Context(), time.Second)
						code = catalog.CodeTimeout
					}
					defer cancel()
					tool := withFunction(base, func(inner context.Context, _ catalog.Call) (json.RawMessage, error) {
						if !deadline {
							cancel()
						}
						<-inner.Done()
						return nil, fmt.Errorf("query: %w", inner.Err())
					})
					b := broker(t, of("s", tool))
					req := catalog.Request{Tool: "a.b"}
					out := b.Dispatch(ctx, everyone, req, b.Plan(t.Context(), everyone, req))
					if err := wantError(t, out.Error, code); err.Effect != effectOf(tool) {
						t.Errorf("effect is %q, want %q", err.Effect, effectOf(tool))
					}
				})
			})
		}
	}
}

func TestCancelledBeforeTheCall(t *testing.T) {
	called := false
	tool := withFunction(write("a.b"), func(context.Context, catalog.Call) (json.RawMessage, error) {
		called = true
		return nil, nil
	})
	b := broker(t, of("s", tool))
	req := catalog.Request{Tool: "a.b"}
	plan := b.Plan(t.Context(), everyone, req)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := wantError(t, b.Dispatch(ctx, everyone, req, plan).Error, catalog.CodeCancelled)
	if called || err.Effect != catalog.EffectNone {
		t.Errorf("called is %v, effect %q; want an error before the call", called, err.Effect)
	}
}

// TestSuccessAtTheLastMoment: a write that is done when its time ends is done.
func TestSuccessAtTheLastMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := withFunction(write("a.b"), func(ctx context.Context, _ catalog.Call) (json.RawMessage, error) {
			<-ctx.Done()
			time.Sleep(time.Second)
			return json.RawMessage(`"done"`), nil
		})
		out := do(t, broker(t, of("s", tool)), "a.b", "{}")
		if out.Error != nil || string(out.Result) != `"done"` {
			t.Errorf("outcome is %+v, want the result", out)
		}
	})
}

func TestOutput(t *testing.T) {
	huge := `"` + strings.Repeat("x", catalog.MaxOutput) + `"`
	for name, c := range map[string]struct {
		output  string
		want    string // the result
		warning string // a part of it
		code    string
	}{
		"fits":               {`{"id":9223372036854775807,"ratio":0.1}`, `{"id":9223372036854775807,"ratio":0.1}`, "", ""},
		"white space":        {" {\"id\":1}\n", `{"id":1}`, "", ""},
		"nothing":            {``, `null`, "is null, want object", ""},
		"another type":       {`{"id":"1"}`, `{"id":"1"}`, "/id is a string, want integer", ""},
		"a key twice":        {`{"id":1,"id":2}`, `{"id":1,"id":2}`, "/id occurs twice", ""},
		"half a character":   {`{"id":1,"s":"\ud800"}`, `{"id":1,"s":"\ud800"}`, "surrogate", ""},
		"a huge exponent":    {`{"id":1E400000000}`, `{"id":1E400000000}`, "exponent", ""},
		"not JSON":           {`{"id":NaN}`, "", "", catalog.CodeInvalidOutput},
		"infinite":           {`Infinity`, "", "", catalog.CodeInvalidOutput},
		"two values":         {`{} {}`, "", "", catalog.CodeInvalidOutput},
		"not UTF-8":          {"\"\xff\"", "", "", catalog.CodeInvalidOutput},
		"too large":          {huge, "", "", catalog.CodeTooLarge},
		"too large to check": {huge[:8<<20] + `"`, huge[:8<<20] + `"`, "too long to be checked", ""},
		"too many values":    {`{"id":1,"l":[` + strings.Repeat("0,", 200_000) + `0]}`, `{"id":1,"l":[` + strings.Repeat("0,", 200_000) + `0]}`, "more than 100000 values", ""},
	} {
		for _, tool := range []catalog.Tool{read("a.b"), write("a.b")} {
			t.Run(name+" from a "+string(tool.Operation), func(t *testing.T) {
				tool.Output = json.RawMessage(`{"type":"object","properties":{"id":{"type":"integer"}}}`)
				tool = withFunction(tool, func(context.Context, catalog.Call) (json.RawMessage, error) { return json.RawMessage(c.output), nil })
				out := do(t, broker(t, of("s", tool)), "a.b", "{}")
				if c.code != "" {
					err := wantError(t, out.Error, c.code)
					if want := map[catalog.Operation]catalog.Effect{catalog.Read: catalog.EffectNone, catalog.Write: catalog.EffectApplied}[tool.Operation]; err.Effect != want {
						t.Errorf("effect is %q, want %q", err.Effect, want)
					}
					return
				}
				if out.Error != nil || string(out.Result) != c.want {
					t.Errorf("outcome is %.200v, want the result %.100s", out, c.want)
				}
				if !strings.Contains(out.Warning, c.warning) || (c.warning == "") != (out.Warning == "") {
					t.Errorf("warning is %q, want one that says %q", out.Warning, c.warning)
				}
			})
		}
	}
}
