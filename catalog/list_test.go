package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
)

// onDemand is a read whose schemas are made when they are asked for, and counted.
func onDemand(id string, made *atomic.Int32) catalog.Tool {
	tool := read(id)
	tool.Input, tool.Output = nil, nil
	tool.Schemas = func() (input, output json.RawMessage, err error) {
		made.Add(1)
		return json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`), nil, nil
	}
	return tool
}

func TestLookupMakesOneToolsSchemas(t *testing.T) {
	var made atomic.Int32
	var tools []catalog.Tool
	for i := range 50 {
		tools = append(tools, onDemand(fmt.Sprintf("orders.tool_%d", i), &made))
	}
	b := broker(t, of("s", tools...))

	all, err := b.List(t.Context(), everyone)
	if err != nil || len(all) != 50 || all[0].ID != "orders.tool_0" {
		t.Fatalf("List returns %d tools, %v", len(all), err)
	}
	if !slices.IsSortedFunc(all, func(a, b catalog.Descriptor) int { return strings.Compare(a.ID, b.ID) }) {
		t.Error("List is not in the order of the ids")
	}
	b.Nearest(t.Context(), everyone, "orders.tol_7")
	b.Plan(t.Context(), everyone, catalog.Request{Tool: "orders.tol_7"})
	if made.Load() != 0 {
		t.Errorf("a list and two misses made the schemas of %d tools", made.Load())
	}
	d, err := b.Lookup(t.Context(), everyone, "orders.tool_7")
	if err != nil || d.ID != "orders.tool_7" || !strings.Contains(string(d.Input), `"a"`) {
		t.Errorf("Lookup returns %+v, %v", d, err)
	}
	if made.Load() != 1 {
		t.Errorf("one look-up made the schemas of %d tools", made.Load())
	}
}

func TestLookupErrors(t *testing.T) {
	broken := onDemand("orders.broken", new(atomic.Int32))
	broken.Schemas = func() (input, output json.RawMessage, err error) { panic("boom") }
	gone := &source{"remote", func(context.Context) ([]catalog.Tool, error) { return nil, errors.New("connection refused") }}
	narrow := catalog.Scope{Tools: []string{"orders.get", "orders.broken"}}
	b := broker(t, of("s", read("orders.get"), write("orders.refund"), broken), gone)
	for _, c := range []struct {
		id    string
		scope catalog.Scope
		code  string
		hint  string
	}{
		{"orders.gte", narrow, catalog.CodeToolNotFound, "did you mean orders.get?"},
		{"orders.refund", narrow, catalog.CodeToolNotFound, ""},
		{"orders.broken", narrow, catalog.CodeInvalidTool, ""},
		{"issues.get", everyone, catalog.CodeSourceUnavailable, ""},
	} {
		_, err := b.Lookup(t.Context(), c.scope, c.id)
		var typed *catalog.Error
		if !errors.As(err, &typed) || typed.Code != c.code || typed.Tool != c.id || typed.Effect != catalog.EffectNone {
			t.Errorf("%s: error is %v, want code %s for the tool, with no effect", c.id, err, c.code)
		} else if c.hint != "" && typed.Hint != c.hint {
			t.Errorf("%s: hint is %q, want %q", c.id, typed.Hint, c.hint)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Lookup(ctx, everyone, "orders.get"); err == nil || !strings.Contains(err.Error(), catalog.CodeCancelled) {
		t.Errorf("after cancellation: %v", err)
	}
	if _, err := b.List(ctx, everyone); !errors.Is(err, context.Canceled) {
		t.Errorf("List after cancellation: %v", err)
	}
}

func TestNearestStaysWithinTheScope(t *testing.T) {
	b := broker(t, of("s", read("orders.get"), read("orders.gets")))
	got := b.Nearest(t.Context(), catalog.Scope{Tools: []string{"orders.get"}}, "orders.gett")
	if !slices.Equal(got, []string{"orders.get"}) {
		t.Errorf("nearest are %v, want orders.get alone", got)
	}
	if got := b.Nearest(t.Context(), everyone, "weather.today"); got != nil {
		t.Errorf("nearest are %v, want none", got)
	}
}
