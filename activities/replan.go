package activities

import (
	"context"
	"encoding/json"

	"github.com/heddle-dev/heddle/signals/contract"
)

// ReplanInput asks what a call takes with an input that a person has edited.
type ReplanInput struct {
	Thread contract.Start `json:"thread"`
	// Call and Tool are the ids of the call and of its tool.
	Call  string          `json:"call"`
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
}

// Replan checks and plans a call anew. It does nothing outside.
func (a *Activities) Replan(ctx context.Context, in ReplanInput) (PlannedCall, error) {
	agent, ok := a.Agents[in.Thread.Agent]
	if !ok {
		return PlannedCall{}, unknownAgent(in.Thread.Agent)
	}
	return a.plan(ctx, agent.scope(in.Thread), contract.Call{ID: in.Call, Tool: in.Tool, Input: in.Input})
}
