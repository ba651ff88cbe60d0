package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/providers/local"
)

var everyone = catalog.Scope{Tenant: "acme", User: "ann", Thread: "t1", Agent: "support", Tools: []string{"*"}}

// call plans and dispatches one call of a tool by the broker.
func call[In, Out any](t *testing.T, fn func(context.Context, In) (Out, error), input string, options ...local.Option) (catalog.Plan, catalog.Outcome) {
	t.Helper()
	tool, err := local.Func("test.tool", "For a test.", fn, options...)
	if err != nil {
		t.Fatal(err)
	}
	b, err := catalog.New(local.New(tool))
	if err != nil {
		t.Fatal(err)
	}
	req := catalog.Request{Tool: "test.tool", Input: json.RawMessage(input), IdempotencyKey: "key-1"}
	plan := b.Plan(t.Context(), everyone, req)
	if plan.Error != nil {
		return plan, catalog.Outcome{Error: plan.Error}
	}
	return plan, b.Dispatch(t.Context(), everyone, req, plan)
}

func TestFuncDescribesTheTool(t *testing.T) {
	fn := func(context.Context, struct{}) (int, error) { return 0, nil }
	tool, err := local.Func("orders.refund", "Refunds.", fn, local.Write(), local.Title("Refund"), local.Approval(catalog.ApprovalNever), local.Timeout(time.Hour/4))
	if err != nil {
		t.Fatal(err)
	}
	got := tool.Descriptor
	if !strings.HasPrefix(got.Source, "tool_test.go:") {
		t.Errorf("source is %q, want this file and line", got.Source)
	}
	want := catalog.Descriptor{
		ID: "orders.refund", Title: "Refund", Description: "Refunds.", Operation: catalog.Write, Approval: catalog.ApprovalNever,
		Timeout: 15 * time.Minute, Source: got.Source, Input: got.Input, Output: json.RawMessage(`{"type":"integer"}`),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("descriptor (-want +got):\n%s", diff)
	}
	plain, err := local.Func("orders.get", "Gets.", fn, local.DefinedAt("orders.go:7"))
	if err != nil || plain.Operation != catalog.Read || plain.Source != "orders.go:7" {
		t.Errorf("descriptor is %+v (%v), want a read", plain.Descriptor, err)
	}
}

func TestFuncRefuses(t *testing.T) {
	fn := func(context.Context, struct{}) (int, error) { return 0, nil }
	for part, make := range map[string]func() (catalog.Tool, error){
		"no namespace":             func() (catalog.Tool, error) { return local.Func("refund", "Refunds.", fn) },
		"description is empty":     func() (catalog.Tool, error) { return local.Func("a.b", " \n", fn) },
		"function is nil":          func() (catalog.Tool, error) { return local.Func[struct{}, int]("a.b", "x", nil) },
		"timeout is -1s":           func() (catalog.Tool, error) { return local.Func("a.b", "x", fn, local.Timeout(-time.Second)) },
		"at most 30m0s is allowed": func() (catalog.Tool, error) { return local.Func("a.b", "x", fn, local.Timeout(time.Hour)) },
	} {
		tool, err := make()
		if err == nil || !strings.Contains(err.Error(), part) || !strings.HasPrefix(err.Error(), "tool_test.go:") {
			t.Errorf("error is %v, want one that says %q and where", err, part)
		}
		if tool.Call != nil {
			t.Error("a refused tool can be called")
		}
	}
}

type order struct {
	ID    int64           `json:"id"`
	Count int             `json:"count,omitempty" jsonschema:"default=1"`
	When  *time.Time      `json:"when,omitempty"`
	Tags  []string        `json:"tags,omitempty" jsonschema:"default=new"`
	Extra any             `json:"extra,omitempty"`
	Raw   json.RawMessage `json:"raw,omitempty"`
	Lines []line          `json:"lines,omitempty"`
	More  map[string]line `json:"more,omitempty"`
	Last  *line           `json:"last,omitempty"`
}

type line struct {
	SKU   string `json:"sku"`
	Count int    `json:"count,omitempty" jsonschema:"default=9007199254740993"`
}

func TestInputIsDecodedExactly(t *testing.T) {
	var got order
	plan, out := call(t, func(_ context.Context, in order) (order, error) { got = in; return in, nil },
		`{"id":9007199254740993,"count":2.0,"tags":[],"extra":{"n":9007199254740993},"raw":[1, 2e1],"when":null}`, local.Write())
	if out.Error != nil {
		t.Fatal(out.Error)
	}
	want := order{
		ID: 9007199254740993, Count: 2, Tags: []string{}, Extra: map[string]any{"n": json.Number("9007199254740993")},
		Raw: json.RawMessage(`[1,20]`),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the function got (-want +got):\n%s", diff)
	}
	if want := `{"count":2,"extra":{"n":9007199254740993},"id":9007199254740993,"raw":[1,20],"tags":[],"when":null}`; string(plan.Preview) != want {
		t.Errorf("a person is shown %s, want %s", plan.Preview, want)
	}
}

func TestDefaultsAreFilledInBeforeApproval(t *testing.T) {
	var got order
	plan, out := call(t, func(_ context.Context, in order) (order, error) { got = in; return in, nil },
		`{"id":1,"lines":[{"sku":"a"},{"sku":"b","count":0}],"more":{"x":{"sku":"c"}},"last":{"sku":"d"}}`, local.Write())
	if out.Error != nil {
		t.Fatal(out.Error)
	}
	const def = 9007199254740993
	want := order{
		ID: 1, Count: 1, Tags: []string{"new"}, Lines: []line{{"a", def}, {"b", 0}}, More: map[string]line{"x": {"c", def}}, Last: &line{"d", def},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the function got (-want +got):\n%s", diff)
	}
	shown := `{"count":1,"id":1,"last":{"count":9007199254740993,"sku":"d"},"lines":[{"count":9007199254740993,"sku":"a"},{"count":0,"sku":"b"}],` +
		`"more":{"x":{"count":9007199254740993,"sku":"c"}},"tags":["new"]}`
	if string(plan.Preview) != shown {
		t.Errorf("a person is shown %s, want %s", plan.Preview, shown)
	}
}

func TestInputThatTheTypeRefuses(t *testing.T) {
	type in struct {
		Big  int64     `json:"big,omitempty"`
		When time.Time `json:"when,omitzero"`
		Data []byte    `json:"data,omitempty"`
		Part struct {
			Even even    `json:"even,omitempty"`
			Rate float32 `json:"rate,omitempty"`
		} `json:"part,omitzero"`
	}
	for input, want := range map[string]struct{ message, pointer string }{
		`{"big":9223372036854775808}`:     {"does not fit into int64", "/big"},
		`{"part":{"rate":1e200}}`:         {"does not fit into float32", "/part/rate"},
		`{"when":"2026-06-30T23:59:60Z"}`: {"second out of range", ""},
		`{"data":"not base64!"}`:          {"illegal base64", ""},
		`{"part":{"even":3}}`:             {"3 is odd", ""},
		`{"big":"1"}`:                     {"/big is a string, want integer", "/big"},
		`{"Big":1}`:                       {"/Big is not a known property", "/Big"},
	} {
		plan, _ := call(t, func(context.Context, in) (int, error) { t.Error("the function was called"); return 0, nil }, input, local.Write())
		if plan.Error == nil || plan.Error.Code != catalog.CodeInvalidInput || !strings.Contains(plan.Error.Message, want.message) {
			t.Errorf("%s: plan's error is %v, want one that says %q", input, plan.Error, want.message)
			continue
		}
		if want.pointer != "" && (len(plan.Error.Violations) != 1 || plan.Error.Violations[0].Pointer != want.pointer) {
			t.Errorf("%s: violations are %v, want %s", input, plan.Error.Violations, want.pointer)
		}
	}
}

type even int

func (e *even) UnmarshalJSON(text []byte) error {
	var n int
	if err := json.Unmarshal(text, &n); err != nil {
		return err
	}
	if n%2 != 0 {
		return fmt.Errorf("%d is odd", n)
	}
	*e = even(n)
	return nil
}

func TestOutputIsWrittenToFitTheSchema(t *testing.T) {
	type part struct {
		List []int          `json:"list"`
		Map  map[string]int `json:"map"`
		Data []byte         `json:"data"`
		Ptr  *int           `json:"ptr"`
		Any  any            `json:"any"`
	}
	type out struct {
		Parts  []part            `json:"parts"`
		By     map[int][]string  `json:"by"`
		Next   *part             `json:"next"`
		Text   string            `json:"text"`
		Nested map[string][]part `json:"nested"`
	}
	value := out{Parts: []part{{}}, By: map[int][]string{1: nil}, Text: "<null> & <b>", Nested: map[string][]part{"x": nil}}
	_, got := call(t, func(context.Context, struct{}) (out, error) { return value, nil }, "")
	want := `{"by":{"1":[]},"nested":{"x":[]},"next":null,"parts":[{"any":null,"data":"","list":[],"map":{},"ptr":null}],"text":"<null> & <b>"}`
	if diff := cmp.Diff(catalog.Outcome{Result: json.RawMessage(want)}, got); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
	for name, c := range map[string]struct {
		got  catalog.Outcome
		want string
	}{
		"nil slice":   {second(call(t, func(context.Context, struct{}) ([]part, error) { return nil, nil }, "")), `[]`},
		"nil map":     {second(call(t, func(context.Context, struct{}) (map[string]int, error) { return nil, nil }, "")), `{}`},
		"nil pointer": {second(call(t, func(context.Context, struct{}) (*part, error) { return nil, nil }, "")), `null`},
		"nil any":     {second(call(t, func(context.Context, struct{}) (any, error) { return nil, nil }, "")), `null`},
		"nothing":     {second(call(t, func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }, "")), `{}`},
		"big number":  {second(call(t, func(context.Context, struct{}) (uint64, error) { return 1<<64 - 1, nil }, "")), `18446744073709551615`},
	} {
		if diff := cmp.Diff(catalog.Outcome{Result: json.RawMessage(c.want)}, c.got); diff != "" {
			t.Errorf("%s: outcome (-want +got):\n%s", name, diff)
		}
	}
}

func second[A, B any](_ A, b B) B { return b }

func TestOutputThatCannotBeWritten(t *testing.T) {
	cyclic := map[string]any{}
	cyclic["self"] = cyclic
	for name, value := range map[string]any{"cycle": cyclic, "func": func() {}, "infinite": map[string]any{"x": inf()}} {
		_, out := call(t, func(context.Context, struct{}) (any, error) { return value, nil }, "", local.Write())
		if out.Error == nil || !strings.Contains(out.Error.Message, "cannot be written as JSON") || out.Error.Effect != catalog.EffectApplied {
			t.Errorf("%s: outcome is %+v", name, out)
		}
	}
}

func inf() float64 { zero := 0.0; return 1 / zero }

func TestErrorsOfTheFunction(t *testing.T) {
	typed := &catalog.Error{Code: "closed", Message: "the order is closed"}
	_, out := call(t, func(context.Context, struct{}) (int, error) { return 7, fmt.Errorf("get: %w", typed) }, "")
	if out.Error == nil || out.Error.Code != "closed" || out.Result != nil {
		t.Errorf("outcome is %+v, want the typed error", out)
	}
	_, out = call(t, func(context.Context, struct{}) (int, error) { return 7, errors.New("no such order") }, "")
	if out.Error == nil || out.Error.Message != "no such order" || out.Error.Code != catalog.CodeToolFailed {
		t.Errorf("outcome is %+v, want the plain error", out)
	}
}

func TestCallFrom(t *testing.T) {
	fn := func(ctx context.Context, _ struct{}) (string, error) {
		call, ok := local.CallFrom(ctx)
		return fmt.Sprintf("%v %s %s %s", ok, call.Scope.Tenant, call.Scope.User, call.IdempotencyKey), nil
	}
	if _, out := call(t, fn, "", local.Write()); string(out.Result) != `"true acme ann key-1"` {
		t.Errorf("a write sees %s", out.Result)
	}
	if _, out := call(t, fn, ""); string(out.Result) != `"true acme ann "` {
		t.Errorf("a read sees %s", out.Result)
	}
	if _, ok := local.CallFrom(t.Context()); ok {
		t.Error("there is a call outside of a tool")
	}
}
