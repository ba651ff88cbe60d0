package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
)

// meter notes what it is told, and refuses a tenant.
type meter struct {
	told    []string
	refuses string
	// begun is called once a call is counted.
	begun func()
}

func (m *meter) Begin(_ context.Context, tenant string, input int) (ended func(made bool, output int), refused *catalog.Error) {
	if tenant == m.refuses {
		return nil, &catalog.Error{Code: catalog.CodeLimit, Message: "no more"}
	}
	m.told = append(m.told, fmt.Sprintf("%s begins %d", tenant, input))
	if m.begun != nil {
		m.begun()
	}
	return func(made bool, output int) { m.told = append(m.told, fmt.Sprintf("made %t, %d", made, output)) }, nil
}

// Every call that is made is counted, with its input and its output, and no other is.
func TestCallsAreCounted(t *testing.T) {
	failing := withFunction(read("test.failing"), func(context.Context, catalog.Call) (json.RawMessage, error) { return nil, errors.New("broken") })
	asks := write("test.asks")
	b := broker(t, of("test", read("test.read"), failing, asks))
	request := func(tool string) catalog.Request {
		return catalog.Request{Tool: tool, Input: json.RawMessage(`{"a":1}`), IdempotencyKey: "key-1"}
	}
	dispatch := func(req catalog.Request) catalog.Outcome {
		plan := b.Plan(t.Context(), everyone, req)
		return b.Dispatch(t.Context(), everyone, req, plan)
	}
	held := request("test.asks")
	held.Before = func(context.Context) error { return errors.New("not now") }
	for name, test := range map[string]struct {
		do   func() catalog.Outcome
		want []string
	}{
		"a read":               {func() catalog.Outcome { return dispatch(request("test.read")) }, []string{"acme begins 7", "made true, 7"}},
		"a write":              {func() catalog.Outcome { return dispatch(request("test.asks")) }, []string{"acme begins 7", "made true, 7"}},
		"a failure":            {func() catalog.Outcome { return dispatch(request("test.failing")) }, []string{"acme begins 7", "made true, 0"}},
		"a write that is held": {func() catalog.Outcome { return dispatch(held) }, []string{"acme begins 7", "made false, 0"}},
		"a read at once": {func() catalog.Outcome {
			return reading(t, b, everyone, request("test.read")).Outcome
		}, []string{"acme begins 7", "made true, 7"}},
		"a write that is planned": {func() catalog.Outcome {
			return reading(t, b, everyone, request("test.asks")).Outcome
		}, nil},
		"an unknown tool": {func() catalog.Outcome { return dispatch(request("test.none")) }, nil},
		"another plan": {func() catalog.Outcome {
			return b.Dispatch(t.Context(), everyone, request("test.read"), catalog.Plan{Tool: "test.read"})
		}, nil},
		"a caller who has left": {func() catalog.Outcome {
			left, leave := context.WithCancel(t.Context())
			plan := b.Plan(t.Context(), everyone, request("test.read"))
			leave()
			return b.Dispatch(left, everyone, request("test.read"), plan)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := &meter{}
			b.Meter(m)
			if test.do(); !slices.Equal(m.told, test.want) {
				t.Errorf("told %q, want %q", m.told, test.want)
			}
		})
	}
}

// A call whose caller leaves while it is counted is not made, and is taken off again.
func TestCallLeftWhileItIsCounted(t *testing.T) {
	b := broker(t, of("test", withFunction(read("test.read"), func(context.Context, catalog.Call) (json.RawMessage, error) {
		t.Error("the tool is called")
		return nil, nil
	})))
	ctx, leave := context.WithCancel(t.Context())
	m := &meter{begun: leave}
	b.Meter(m)
	req := catalog.Request{Tool: "test.read", Input: json.RawMessage(`{}`)}
	o := b.Dispatch(ctx, everyone, req, b.Plan(ctx, everyone, req))
	wantError(t, o.Error, catalog.CodeCancelled)
	if want := []string{"acme begins 2", "made false, 0"}; !slices.Equal(m.told, want) {
		t.Errorf("told %q, want %q", m.told, want)
	}
}

// A call that is refused calls nothing, and claims nothing before.
func TestRefusedCallIsNotMade(t *testing.T) {
	b := broker(t, of("test", withFunction(write("test.write"), func(context.Context, catalog.Call) (json.RawMessage, error) {
		t.Error("the tool is called")
		return nil, nil
	})))
	b.Meter(&meter{refuses: "acme"})
	req := catalog.Request{Tool: "test.write", Input: json.RawMessage(`{}`), IdempotencyKey: "key-1", Before: func(context.Context) error {
		t.Error("it is claimed")
		return nil
	}}
	o := b.Dispatch(t.Context(), everyone, req, b.Plan(t.Context(), everyone, req))
	if e := wantError(t, o.Error, catalog.CodeLimit); e.Tool != "test.write" || e.Effect != catalog.EffectNone {
		t.Errorf("error %+v", e)
	}
}
