package activities

import (
	"context"
	"encoding/json"

	"github.com/heddle-dev/heddle/signals/contract"
)

// Model is a language model of some vendor. Implementations are safe for
// concurrent use and do not retry: Temporal does.
type Model interface {
	// Generate asks for the next message. It calls stream, unless nil, with
	// what arrives while it arrives, from the calling goroutine.
	//
	// A failure is a *[ModelError]; an empty reply is one too.
	Generate(ctx context.Context, req ModelRequest, stream func(ModelDelta)) (ModelResponse, error)
}

// ModelRequest is what a model is asked.
type ModelRequest struct {
	// Model is the vendor's name of the model.
	Model string
	// System holds the agent's instructions.
	System string
	// Messages is the conversation. Tool messages carry the id of their call, and
	// that of a failed one carries the error as JSON in its Text.
	Messages []contract.Message
	// Tools may be called by the model.
	Tools []ToolDefinition
	// MaxOutputTokens bounds the reply. 0: the vendor's default.
	MaxOutputTokens int
}

// ToolDefinition is a tool as a model sees it.
type ToolDefinition struct {
	// Name is legal for every vendor: 1 to 64 of A-Z a-z 0-9 _ -
	Name        string
	Description string
	// Input is the JSON Schema of the input: an object with properties.
	Input json.RawMessage
}

// ModelDelta is a piece of a reply while it arrives.
type ModelDelta struct {
	Text      string
	Reasoning string
}

// StopReason is why a model stopped.
type StopReason string

// The stop reasons.
const (
	StopEnd    StopReason = "end"        // the reply is complete
	StopCalls  StopReason = "tool_calls" // the model waits for its calls
	StopLength StopReason = "length"     // the output limit was reached
	StopFilter StopReason = "filter"     // the vendor withheld the rest
)

// ModelResponse is a model's reply: words, tool calls or both.
type ModelResponse struct {
	Text      string
	Reasoning string
	Calls     []ModelCall
	Stop      StopReason
	Usage     contract.Usage
	// Model is the vendor's name of the model that answered.
	Model string
}

// ModelCall is a tool call in a reply.
type ModelCall struct {
	// Name is that of a [ToolDefinition], if the model kept to them.
	Name string
	// Input is what the model wrote. It need not be valid JSON.
	Input string
}
