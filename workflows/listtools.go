package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/signals/contract"
)

// ListTools asks a worker what an agent may use.
func ListTools(ctx workflow.Context, in contract.ListTools) (contract.Tools, error) {
	var result contract.Tools
	err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, listToolsOptions()), a.ListTools, in).Get(ctx, &result)
	return result, err
}
