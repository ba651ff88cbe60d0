package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/codemode/snippet"
	"github.com/heddle-dev/heddle/signals/contract"
)

// ExecuteTool is the function that runs a snippet, and stands as the tool of its
// calls. No tool of a catalog has such an id: theirs have a dot.
const ExecuteTool = "execute"

// executeDescription is the same whatever tools there are.
const executeDescription = `Run a snippet of TypeScript that calls tools, and get its result.
Inside it: await tools.search({ query }) finds tools, await tools.describe({ id }) gives a tool's types,
await tools.call({ id, input }) or await namespace.tool(input) calls one, and Promise.all runs several at once.
A failed call throws an error with a code and a message. The value of the last expression, or of return, is the result:
return only what is needed. Writes may wait for a person; do not repeat them.`

// codeOffer is all that a model which writes snippets may call.
var codeOffer = functionsOffer(ExposureCode, ToolDefinition{
	Name: ExecuteTool, Description: executeDescription,
	Input: json.RawMessage(`{"type":"object","properties":{"code":{"type":"string","description":"The snippet."}},"required":["code"],"additionalProperties":false}`),
})

// sourceOf is the snippet in the input of an execute call.
func sourceOf(input json.RawMessage) (string, *catalog.Error) {
	var in struct {
		Code *string `json:"code"`
	}
	err := json.Unmarshal(input, &in)
	fault := &catalog.Error{Code: catalog.CodeInvalidInput, Tool: ExecuteTool, Effect: catalog.EffectNone, Hint: `execute({ "code": "..." })`}
	switch {
	case err != nil:
		fault.Message = "the input is not an object with the snippet as code: " + err.Error()
	case in.Code == nil:
		fault.Message = "the input has no code: the snippet to run"
	case strings.TrimSpace(*in.Code) == "":
		fault.Message = "code is empty: there is nothing to run"
	case !utf8.ValidString(*in.Code):
		fault.Message = "code is not valid UTF-8"
	case len(*in.Code) > snippet.MaxSource:
		fault.Code = catalog.CodeTooLarge
		fault.Message = fmt.Sprintf("code is %d bytes long, at most %d are allowed", len(*in.Code), snippet.MaxSource)
		fault.Hint = "do it in several snippets"
	default:
		return *in.Code, nil
	}
	return "", fault
}

// planExecute plans a call that runs a snippet: its own calls are planned when it
// makes them.
func (a *Activities) planExecute(ctx context.Context, call contract.Call) (PlannedCall, error) {
	_, fault := sourceOf(call.Input)
	planned := PlannedCall{Call: call, Kind: CallExecute, Plan: catalog.Plan{Tool: ExecuteTool, Title: "Run a snippet"}, Problem: problem(fault)}
	var err error
	planned.Call, err = a.inlineInput(ctx, call)
	return planned, err
}
