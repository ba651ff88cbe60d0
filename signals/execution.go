package signals

import (
	"context"
	"fmt"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/heddle-dev/heddle/signals/contract"
)

// callTimeout bounds one attempt of a call that the server, or a worker that
// runs, answers at once.
const callTimeout = 10 * time.Second

// execution names a run of a workflow. No run id: the current run.
type execution struct{ workflowID, runID string }

func (e execution) proto() *commonpb.WorkflowExecution {
	return &commonpb.WorkflowExecution{WorkflowId: e.workflowID, RunId: e.runID}
}

// description is what the server itself knows of a run.
type description struct {
	execution
	status enumspb.WorkflowExecutionStatus
	// events is the length of the history.
	events int64
	// busy says that an activity or a workflow task is under way.
	busy bool
}

func (d description) closed() bool { return d.status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING }

// describe asks the server about a run.
func (r *Reader) describe(ctx context.Context, e execution) (description, error) {
	var d description
	err := patiently(ctx, callTimeout, func(ctx context.Context) error {
		response, err := r.service.DescribeWorkflowExecution(ctx, &workflowservice.DescribeWorkflowExecutionRequest{
			Namespace: r.namespace, Execution: e.proto(),
		})
		if err != nil {
			return unknown(e, err)
		}
		info := response.GetWorkflowExecutionInfo()
		d = description{
			execution: execution{e.workflowID, info.GetExecution().GetRunId()},
			status:    info.GetStatus(),
			events:    info.GetHistoryLength(),
			busy:      len(response.GetPendingActivities()) > 0 || response.GetPendingWorkflowTask() != nil,
		}
		// A paused workflow goes on some day.
		if d.status == enumspb.WORKFLOW_EXECUTION_STATUS_PAUSED {
			d.status = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
		}
		return nil
	})
	return d, err
}

// opened returns with what the thread was opened. It stands in the first event of
// every run, so no worker is needed.
func (r *Reader) opened(ctx context.Context, e execution) (contract.Start, error) {
	var start contract.Start
	err := patiently(ctx, callTimeout, func(ctx context.Context) error {
		response, err := r.service.GetWorkflowExecutionHistory(ctx, &workflowservice.GetWorkflowExecutionHistoryRequest{
			Namespace: r.namespace, Execution: e.proto(), MaximumPageSize: 1,
		})
		if err != nil {
			return unknown(e, err)
		}
		events, err := eventsOf(response)
		if err != nil {
			return err
		}
		if len(events) == 0 {
			return fmt.Errorf("the history of %s is empty", e.workflowID)
		}
		input := events[0].GetWorkflowExecutionStartedEventAttributes().GetInput()
		return r.convert(e).FromPayloads(input, &start)
	})
	return start, err
}

// unknown makes a refusal of the error that says there is no such workflow.
func unknown(e execution, err error) error {
	if notFound(err) {
		return refuse(contract.ErrUnknownThread, "there is no thread with workflow id %s", e.workflowID)
	}
	return err
}
