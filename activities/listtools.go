package activities

import (
	"context"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// ListTools lists what an agent may use.
func (a *Activities) ListTools(ctx context.Context, in contract.ListTools) (contract.Tools, error) {
	agent, ok := a.Agents[in.Agent]
	if !ok {
		return contract.Tools{}, unknownAgent(in.Agent)
	}
	scope := agent.scope(contract.Start{ThreadRef: contract.ThreadRef{Tenant: in.Tenant}, Agent: in.Agent})
	tools, err := a.Broker.Tools(ctx, scope)
	if err != nil {
		return contract.Tools{}, unavailable(ErrTypeCatalog, "list the agent's tools", err)
	}
	result := contract.Tools{Tools: make([]contract.Tool, 0, len(tools))}
	for _, tool := range tools[:min(len(tools), contract.MaxTools)] {
		result.Tools = append(result.Tools, contract.Tool{
			ID: tool.ID, Title: tool.Title, Description: beginning(tool.Description, 300), Operation: string(tool.Operation),
			NeedsApproval: tool.Approval == catalog.ApprovalAlways ||
				tool.Approval == catalog.ApprovalDefault && tool.Operation == catalog.Write,
		})
	}
	return result, nil
}

// Admit finds out whether some worker has the agent of a new thread.
func (a *Activities) Admit(_ context.Context, start contract.Start) error {
	if _, ok := a.Agents[start.Agent]; !ok {
		return unknownAgent(start.Agent)
	}
	return nil
}
