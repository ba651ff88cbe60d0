package signals

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"github.com/heddle-dev/heddle/signals/contract"
)

// listPage is how many threads one request asks for.
const listPage = 100

// Filter says which threads to list. What is empty does not matter.
type Filter struct {
	Tenant string
	Agent  string
	// Status is one of contract's Search values, such as [contract.SearchWaiting].
	Status string
	// Pending is a kind of part that waits for a person, such as
	// [contract.KindApproval] or [contract.KindQuestion].
	Pending contract.Kind
}

// Thread is what a list tells of a thread.
type Thread struct {
	contract.ThreadRef
	Agent string `json:"agent"`
	// Status is one of contract's Search values.
	Status string `json:"status"`
	// Pending holds the kinds of part that wait for a person.
	Pending []contract.Kind `json:"pending,omitempty"`
	// StartedAt is when the thread's current run began.
	StartedAt time.Time `json:"started_at"`
	// ClosedAt is when the thread ended, if it has.
	ClosedAt *time.Time `json:"closed_at,omitempty"`
}

// List yields the threads that fit, those begun last first. It asks the server's
// visibility store, which is some moments behind and needs the search attributes
// of package contract. An error is the last thing that it yields.
func (c *Client) List(ctx context.Context, filter Filter) iter.Seq2[Thread, error] {
	return func(yield func(Thread, error) bool) {
		request := &workflowservice.ListWorkflowExecutionsRequest{PageSize: listPage, Query: filter.query()}
		for {
			page, err := c.temporal.ListWorkflow(ctx, request)
			if err != nil {
				yield(Thread{}, fmt.Errorf("list threads: %w", typed(err)))
				return
			}
			for _, info := range page.GetExecutions() {
				if thread, ok := threadOf(info); ok && !yield(thread, nil) {
					return
				}
			}
			request.NextPageToken = page.GetNextPageToken()
			if len(request.NextPageToken) == 0 {
				return
			}
		}
	}
}

// query is the filter in the server's language. A run that was continued as new
// is no thread of its own.
func (f Filter) query() string {
	terms := []string{
		equal("WorkflowType", contract.WorkflowType),
		"ExecutionStatus != 'ContinuedAsNew'",
	}
	for _, term := range []struct{ attribute, value string }{
		{contract.AttributeTenant, f.Tenant},
		{contract.AttributeAgent, f.Agent},
		{contract.AttributeStatus, f.Status},
		{contract.AttributePending, string(f.Pending)},
	} {
		if term.value != "" {
			terms = append(terms, equal(term.attribute, term.value))
		}
	}
	// A workflow that was terminated keeps the attributes that it had.
	if f.Status != "" && f.Status != contract.SearchClosed || f.Pending != "" {
		terms = append(terms, "ExecutionStatus = 'Running'")
	}
	return strings.Join(terms, " AND ")
}

var escape = strings.NewReplacer(`\`, `\\`, `'`, `\'`)

func equal(attribute, value string) string {
	return attribute + " = '" + escape.Replace(value) + "'"
}

// threadOf reads one line of a list. A workflow whose id is not a thread's was
// not started by this contract.
func threadOf(info *workflowpb.WorkflowExecutionInfo) (Thread, bool) {
	ref, err := contract.ParseThreadRef(info.GetExecution().GetWorkflowId())
	if err != nil {
		return Thread{}, false
	}
	fields := info.GetSearchAttributes().GetIndexedFields()
	thread := Thread{
		ThreadRef: ref,
		Agent:     attribute[string](fields[contract.AttributeAgent]),
		Status:    attribute[string](fields[contract.AttributeStatus]),
		Pending:   attribute[[]contract.Kind](fields[contract.AttributePending]),
		StartedAt: info.GetStartTime().AsTime(),
	}
	if info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING && info.GetCloseTime() != nil {
		closed := info.GetCloseTime().AsTime()
		thread.ClosedAt, thread.Status, thread.Pending = &closed, contract.SearchClosed, nil
	}
	return thread, true
}

// attribute decodes a search attribute; one that is absent or of another type is
// empty.
func attribute[T any](payload *commonpb.Payload) T {
	var value T
	if payload == nil {
		return value
	}
	if err := converter.GetDefaultDataConverter().FromPayload(payload, &value); err != nil {
		var zero T
		return zero
	}
	return value
}
