package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// The functions of [ExposureGateway]. No tool of a catalog has such an id: theirs
// have a dot.
const (
	SearchTool   = "search"
	DescribeTool = "describe"
	CallTool     = "call"
	BatchTool    = "batch"
)

// Lookup answers what a model asks about the tools there are.
type Lookup interface {
	// Search and Describe take and give JSON, as tools.search and tools.describe of
	// a snippet do. An error that is a *[catalog.Error] is told to the model.
	Search(ctx context.Context, scope catalog.Scope, input json.RawMessage) (json.RawMessage, error)
	Describe(ctx context.Context, scope catalog.Scope, input json.RawMessage) (json.RawMessage, error)
	// Signatures are those of tools of the scope whose ids match a glob: a line of
	// TypeScript each, with the beginning of the description, in the order of the
	// ids, and at most limit. It says how many tools match.
	Signatures(ctx context.Context, scope catalog.Scope, globs []string, limit int) (lines []string, total int)
}

// gatewayOffer is all that a model which reaches its tools by the gateway may call.
// A call and a batch become calls of the tools that they name, and nothing else
// remains of them; see [gatewayView].
var gatewayOffer = functionsOffer(
	ExposureGateway,
	ToolDefinition{
		Name: SearchTool, Description: "Find tools by what they are for, or by name. Each hit has the tool's id and its signature in TypeScript.",
		Input: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},"namespace":{"type":"string"},"operation":{"enum":["read","write"]},"limit":{"type":"integer","minimum":1,"maximum":50}},"additionalProperties":false}`),
	},
	ToolDefinition{
		Name: DescribeTool, Description: "Get the types of tools in TypeScript, and with schema their JSON Schemas.",
		Input: json.RawMessage(`{"type":"object","properties":{"ids":{"type":"array","items":{"type":"string"},"maxItems":20},"schema":{"type":"boolean"}},"required":["ids"],"additionalProperties":false}`),
	},
	ToolDefinition{
		Name: CallTool, Description: "Call a tool. A write may wait for a person; do not repeat it.",
		Input: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"},"input":{"type":"object"}},"required":["id"],"additionalProperties":false}`),
	},
	ToolDefinition{
		Name: BatchTool, Description: "Call several tools: reads at once, writes one after another. Each has a result of its own.",
		Input: json.RawMessage(`{"type":"object","properties":{"calls":{"type":"array","minItems":1,"maxItems":200,"items":{"type":"object","properties":{"id":{"type":"string"},"input":{"type":"object"}},"required":["id"],"additionalProperties":false}}},"required":["calls"],"additionalProperties":false}`),
	},
)

// asked is what a model asks for with one call: a call of a tool, or what is wrong
// with it.
type asked struct {
	contract.Call
	fault *catalog.Error
}

// namedCall is a call of a tool as an argument.
type namedCall struct {
	ID    *string         `json:"id"`
	Input json.RawMessage `json:"input"`
}

// throughGateway takes a call of a model apart into the calls of tools that it
// stands for.
func throughGateway(call contract.Call) []asked {
	refused := func(format string, args ...any) []asked {
		return []asked{{Call: call, fault: &catalog.Error{
			Code: catalog.CodeInvalidInput, Tool: call.Tool, Effect: catalog.EffectNone,
			Message: fmt.Sprintf(format, args...), Hint: gatewayUsage[call.Tool],
		}}}
	}
	var calls []namedCall
	switch call.Tool {
	case CallTool:
		var one namedCall
		if err := decodeStrictly(call.Input, &one); err != nil {
			return refused("the input cannot be read: %v", err)
		}
		calls = []namedCall{one}
	case BatchTool:
		var many struct {
			Calls []namedCall `json:"calls"`
		}
		if err := decodeStrictly(call.Input, &many); err != nil {
			return refused("the input cannot be read: %v", err)
		}
		if len(many.Calls) == 0 {
			return refused("calls is missing or empty: the calls to make")
		}
		calls = many.Calls
	default:
		return []asked{{Call: call}}
	}
	made := make([]asked, len(calls))
	for i, c := range calls {
		if c.ID == nil || *c.ID == "" {
			return refused("call %d names no tool: its id is missing", i+1)
		}
		if isFunction(*c.ID) {
			return refused("%q is no tool but a function: call it itself", *c.ID)
		}
		made[i] = asked{Call: contract.Call{Tool: toolID(nil, *c.ID), Input: json.RawMessage(objectOrWhatCame(string(c.Input)))}}
	}
	return made
}

var gatewayUsage = map[string]string{
	CallTool:  `call({ "id": "orders.get", "input": { ... } })`,
	BatchTool: `batch({ "calls": [{ "id": "orders.get", "input": { ... } }] })`,
}

func decodeStrictly(input json.RawMessage, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(input))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more after its end")
	}
	return nil
}

// isFunction reports whether a name is that of a function that is no tool.
func isFunction(name string) bool {
	switch name {
	case SearchTool, DescribeTool, CallTool, BatchTool, ExecuteTool:
		return true
	}
	return false
}

// gatewayView is a message as a model sees it that reaches its tools by the
// gateway: every call of a tool stands there as one of the function call.
func gatewayView(m contract.Message) (contract.Message, error) {
	calls := make([]contract.Call, len(m.Calls))
	for i, call := range m.Calls {
		if !isFunction(call.Tool) {
			input, err := json.Marshal(struct {
				ID    string          `json:"id"`
				Input json.RawMessage `json:"input"`
			}{call.Tool, call.Input})
			if err != nil {
				return m, fmt.Errorf("message %d: call %s: %w", m.Index, call.ID, err)
			}
			call.Tool, call.Input = CallTool, input
		}
		calls[i] = call
	}
	m.Calls = calls
	if m.Tool != "" && !isFunction(m.Tool) {
		m.Tool = CallTool
	}
	return m, nil
}

// planLookup plans a call that asks about tools. It is made as a read.
func (a *Activities) planLookup(ctx context.Context, call contract.Call) (PlannedCall, error) {
	planned := PlannedCall{
		Call: call, Kind: lookupKinds[call.Tool],
		Plan: catalog.Plan{Tool: call.Tool, Operation: catalog.Read, Title: lookupTitles[call.Tool]},
	}
	var err error
	planned.Call, err = a.inlineInput(ctx, call)
	return planned, err
}

var (
	lookupKinds  = map[string]CallKind{SearchTool: CallSearch, DescribeTool: CallDescribe}
	lookupTitles = map[string]string{SearchTool: "Search tools", DescribeTool: "Describe tools"}
)

// lookUp answers a call that asks about tools.
func (a *Activities) lookUp(ctx context.Context, scope catalog.Scope, ref CallRef, call contract.Call) CallResult {
	input, fault := a.wholeInput(ctx, ref, call)
	if fault != nil {
		return CallResult{ID: ref.ID, Problem: problem(fault)}
	}
	ask := a.Lookup.Search
	if ref.Kind == CallDescribe {
		ask = a.Lookup.Describe
	}
	result, err := ask(ctx, scope, input)
	var typed *catalog.Error
	switch {
	case errors.As(err, &typed):
		return CallResult{ID: ref.ID, Problem: problem(typed)}
	case err != nil:
		return CallResult{ID: ref.ID, Problem: &contract.Problem{Code: contract.CodeInternal, Message: err.Error()}}
	}
	return CallResult{ID: ref.ID, Result: result}
}
