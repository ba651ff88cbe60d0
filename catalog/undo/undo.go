package undo

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/expression"
)

// Declaration says how the calls of a write are undone: by a call of another tool. The
// expressions see input, what the write was called with, and result, what it returned.
type Declaration struct {
	// Write is the id of the tool that writes, Tool that of the one that undoes it,
	// which is a write too.
	Write, Tool string
	// Input is what that is called with: an expression for each member. Where one has
	// no value for a write, such as result.id of a result without an id, that write
	// cannot be undone; one whose value is an optional that is not there, such as
	// result.?etag, leaves its member out.
	Input map[string]string
}

// Undo is a compiled [Declaration].
type Undo struct {
	tool  string
	input expression.Mapping
}

// environment is what the expressions see.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	return expression.Environment(
		cel.Variable("input", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("result", cel.DynType),
	)
})

// Compile checks a declaration. The error names the field that is wrong.
func Compile(d Declaration) (*Undo, error) {
	for _, tool := range []struct{ field, id string }{{"write", d.Write}, {"tool", d.Tool}} {
		if err := catalog.CheckID(tool.id); err != nil {
			return nil, fmt.Errorf("%s: %w", tool.field, err)
		}
	}
	env, err := environment()
	if err != nil {
		return nil, err
	}
	u := &Undo{tool: d.Tool}
	if u.input, err = expression.CompileMapping(env, d.Input); err != nil {
		return nil, err
	}
	return u, nil
}

// Of is how a write is undone that was called with an input and returned a result. The
// error says why it cannot be.
func (u *Undo) Of(input, result json.RawMessage) (catalog.Undo, error) {
	given, err := expression.DecodeInput(input)
	if err != nil {
		return catalog.Undo{}, err
	}
	returned, err := expression.Decode(result)
	if err != nil {
		return catalog.Undo{}, fmt.Errorf("the result %w", err)
	}
	made, err := u.input.Input(map[string]any{"input": given, "result": returned})
	if err != nil {
		return catalog.Undo{}, err
	}
	return catalog.Undo{Tool: u.tool, Input: made}, nil
}

// Shape is what is known of what the tool that undoes is called with.
func (u *Undo) Shape() expression.Shape { return u.input.Shape() }
