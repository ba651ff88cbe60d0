package activities

import (
	"context"
	"encoding/json"

	"github.com/heddle-dev/heddle/signals/contract"
)

// ReplanInput asks what a call takes that no model has asked for: with an input that a
// person has edited, or to undo a write.
type ReplanInput struct {
	Thread contract.Start `json:"thread"`
	// Call and Tool are the ids of the call and of its tool.
	Call  string          `json:"call"`
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
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
	planned, err := a.plan(ctx, agent.scope(in.Thread), contract.Call{ID: in.Call, Tool: in.Tool, Input: in.Input})
	result := ReplanResult{PlannedCall: planned}
	if in.Limits {
		result.Limits = &agent.Limits
	}
	return result, err
}
