package activities

import (
	"context"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// maxListed bounds the tools of one answer, which is one payload in history.
const maxListed = 2000

// ListTools lists what an agent may use.
func (a *Activities) ListTools(ctx context.Context, in ListToolsInput) (ListToolsResult, error) {
	agent, ok := a.Agents[in.Agent]
	if !ok {
		return ListToolsResult{}, unknownAgent(in.Agent)
	}
	scope := agent.scope(contract.Start{ThreadRef: contract.ThreadRef{Tenant: in.Tenant}, Agent: in.Agent})
	tools, err := a.Broker.Tools(ctx, scope)
	if err != nil {
		return ListToolsResult{}, unavailable(ErrTypeCatalog, "list the agent's tools", err)
	}
	result := ListToolsResult{Tools: make([]ToolSummary, 0, len(tools))}
	for _, tool := range tools[:min(len(tools), maxListed)] {
		result.Tools = append(result.Tools, ToolSummary{
			ID: tool.ID, Title: tool.Title, Description: beginning(tool.Description, 300), Operation: tool.Operation,
			NeedsApproval: tool.Approval == catalog.ApprovalAlways ||
				tool.Approval == catalog.ApprovalDefault && tool.Operation == catalog.Write,
		})
	}
	return result, nil
}
