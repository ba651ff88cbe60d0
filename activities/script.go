package activities

import (
	"context"

	"github.com/heddle-dev/heddle/codemode/snippet"
	"github.com/heddle-dev/heddle/signals/contract"
)

// ScriptNamespace is the namespace of the tools that are saved scripts.
const ScriptNamespace = "scripts"

// ScriptTool is the id of the tool that a saved script is.
func ScriptTool(name string) string { return ScriptNamespace + "." + name }

// asScript makes a planned call of a saved script one that runs a snippet. The
// source is kept with the call: a script that changes while it runs, or while a
// person is asked about it, goes on as it was.
func (a *Activities) asScript(ctx context.Context, planned *PlannedCall) error {
	source, ok := a.Scripts[planned.Tool]
	if !ok || planned.Problem != nil {
		return nil
	}
	ref, err := a.Blobs.Put(ctx, []byte(source))
	if err != nil {
		return unavailable(ErrTypeBlobs, "store the script "+planned.Tool, err)
	}
	planned.Kind, planned.Source = CallExecute, &ref
	return nil
}

// segmentValue is how an execution ended for the snippet that asked for it: its
// value, or what went wrong.
func (a *Activities) segmentValue(ctx context.Context, end *StretchEnd) (*SegmentEnd, error) {
	result := CallResult{Result: end.Value, Problem: end.Problem}
	if end.Lost && end.Problem == nil {
		result.Problem = &contract.Problem{Code: snippet.CodeTooLarge, Message: "the result of the script is too large to be handed over"}
	}
	if result.Problem != nil {
		result.Result = nil
	}
	result, err := a.inlineResult(ctx, result, contract.MaxInline)
	return &SegmentEnd{Report: result.Result, Whole: result.Body, Problem: result.Problem}, err
}
