package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
)

// A write says itself how it is undone, or else what is declared of it does; so does one
// of which it was found out that it was applied.
func TestUndo(t *testing.T) {
	undoBy := func(tool string) catalog.UndoFunc {
		return func(input, result json.RawMessage) (catalog.Undo, error) {
			switch string(input) {
			case `{"how":"no"}`:
				return catalog.Undo{}, errors.New("it is sealed")
			case `{"how":"panic"}`:
				panic("no")
			case `{"how":"long"}`:
				return catalog.Undo{Tool: tool, Input: json.RawMessage(`"` + strings.Repeat("x", catalog.MaxUndoInput) + `"`)}, nil
			}
			return catalog.Undo{Tool: tool, Input: result}, nil
		}
	}
	own := write("t.own")
	own.Undo = undoBy("t.own_undo")
	found := write("t.found")
	found.Reconcile = func(context.Context, catalog.Call) (catalog.Reconciled, error) {
		return catalog.Applied(map[string]int{"id": 7}), nil
	}
	b := broker(t, of("s", own, write("t.declared"), write("t.neither"), read("t.read"), found))
	b.Undo(map[string]catalog.UndoFunc{
		"t.own": undoBy("t.declared_undo"), "t.declared": undoBy("t.declared_undo"), "t.read": undoBy("t.declared_undo"), "t.found": undoBy("t.declared_undo"),
	})
	for name, test := range map[string]struct{ tool, input, want string }{
		"its own":     {"t.own", `{}`, `{"tool":"t.own_undo","input":{}}`},
		"declared":    {"t.declared", `{"a":1}`, `{"tool":"t.declared_undo","input":{"a":1}}`},
		"neither":     {"t.neither", `{}`, `null`},
		"a read":      {"t.read", `{}`, `null`},
		"it cannot":   {"t.declared", `{"how":"no"}`, `{"reason":"the tool could not say how: it is sealed"}`},
		"it panics":   {"t.declared", `{"how":"panic"}`, `{"reason":"the tool could not say how: an internal fault"}`},
		"it is large": {"t.declared", `{"how":"long"}`, `{"reason":"the input of t.declared_undo would be 4098 bytes long, at most 4096 are allowed"}`},
	} {
		t.Run(name, func(t *testing.T) {
			out := do(t, b, test.tool, test.input)
			if got, err := json.Marshal(out.Undo); err != nil || out.Error != nil || string(got) != test.want {
				t.Errorf("undo %s, error %v, want %s", got, out.Error, test.want)
			}
		})
	}
	req := catalog.Request{Tool: "t.found", IdempotencyKey: "k"}
	got, err := b.Reconcile(t.Context(), everyone, req, b.Plan(t.Context(), everyone, req))
	if err != nil || got.Found != catalog.FoundApplied || got.Undo == nil || got.Undo.Tool != "t.declared_undo" || string(got.Undo.Input) != `{"id":7}` {
		t.Errorf("found %+v, undo %+v, error %v", got, got.Undo, err)
	}
}
