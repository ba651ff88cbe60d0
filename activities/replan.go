package activities

import (
	"context"
	"encoding/json"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// ReplanInput asks what a call takes that is planned by the thread: with an input that a
// person has edited, to undo a write, now that a person has answered what stood in the
// way of planning it, or since its tool has changed.
type ReplanInput struct {
	Thread contract.Start `json:"thread"`
	// Call and Tool are the ids of the call and of its tool.
	Call  string          `json:"call"`
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
	// Body is where the input is, if it is not here.
	Body *contract.Ref `json:"body,omitempty"`
	// Before refers to the tool's descriptor when the call was planned before.
	Before *contract.Ref `json:"before,omitempty"`
	// Limits asks for the agent's limits too.
	Limits bool `json:"limits,omitempty"`
}

// ReplanResult is the call as planned.
type ReplanResult struct {
	PlannedCall
	// Limits are the agent's, where they were asked for.
	Limits *Limits `json:"limits,omitempty"`
}

// Replan checks and plans a call anew. It does nothing outside.
func (a *Activities) Replan(ctx context.Context, in ReplanInput) (ReplanResult, error) {
	agent, ok := a.Agents[in.Thread.Agent]
	if !ok {
		return ReplanResult{}, unknownAgent(in.Thread.Agent)
	}
	call := contract.Call{ID: in.Call, Tool: in.Tool, Input: in.Input, Body: in.Body}
	input, err := a.inputOf(ctx, call)
	if err != nil {
		return ReplanResult{}, unavailable(ErrTypeBlobs, "read the input of "+in.Tool, err)
	}
	call.Input, call.Body = input, nil
	planned, err := a.plan(ctx, agent.scope(in.Thread), catalog.Request{}, call)
	planned.Changed = a.differences(ctx, in.Before, planned)
	result := ReplanResult{PlannedCall: planned}
	if in.Limits {
		result.Limits = &agent.Limits
	}
	return result, err
}
