package catalog_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
)

// elsewhere is a remote source that counts how often it is asked.
type elsewhere struct{ asked atomic.Int64 }

func (e *elsewhere) Name() string      { return "far" }
func (e *elsewhere) Namespace() string { return "far" }
func (e *elsewhere) Tools(context.Context) ([]catalog.Tool, error) {
	e.asked.Add(1)
	return []catalog.Tool{{
		Descriptor: catalog.Descriptor{ID: "far.get", Description: "x", Input: json.RawMessage(`{"type":"object"}`), Operation: catalog.Read},
		Call:       func(context.Context, catalog.Call) (json.RawMessage, error) { return json.RawMessage("1"), nil },
	}}, nil
}

// TestRemote: a source elsewhere is asked when one of its tools may be wanted, and
// not before.
func TestRemote(t *testing.T) {
	far := &elsewhere{}
	b, err := catalog.New(far)
	if err != nil {
		t.Fatal(err)
	}
	for _, globs := range [][]string{nil, {"near.*"}, {"near.get"}, {"farther.get"}} {
		scope := catalog.Scope{Tools: globs}
		if _, err := b.Tools(t.Context(), scope); err != nil {
			t.Fatal(err)
		}
		b.Plan(t.Context(), scope, catalog.Request{Tool: "near.get", Input: json.RawMessage(`{}`)})
		if len(b.Elsewhere(scope)) != 0 {
			t.Errorf("%v reaches it", globs)
		}
	}
	if tools, _ := b.Here().Tools(t.Context(), catalog.Scope{Tools: []string{"*"}}); len(tools) != 0 {
		t.Errorf("here are %v", tools)
	}
	if n := far.asked.Load(); n != 0 {
		t.Fatalf("it was asked %d times", n)
	}
	for _, glob := range []string{"*", "far.*", "far.get"} {
		scope := catalog.Scope{Tools: []string{glob}}
		if tools, err := b.Tools(t.Context(), scope); err != nil || len(tools) != 1 {
			t.Errorf("%s: %v, %v", glob, tools, err)
		}
		if !slices.Equal(b.Elsewhere(scope), []string{"far"}) {
			t.Errorf("%s does not reach it", glob)
		}
	}
}
