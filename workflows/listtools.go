package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
)

// ListToolsType is the workflow type of [ListTools].
const ListToolsType = "ListTools"

// ListTools asks a worker what an agent may use.
func ListTools(ctx workflow.Context, in activities.ListToolsInput) (activities.ListToolsResult, error) {
	var result activities.ListToolsResult
	err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, listToolsOptions()), a.ListTools, in).Get(ctx, &result)
	return result, err
}
