package signals

import (
	"context"
	"fmt"
	"slices"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/heddle-dev/heddle/signals/contract"
)

// Reader reads a run of a thread by query. A worker's activities read their own
// thread with it: a query takes a few milliseconds, adds nothing to the history
// and sees what the workflow has taken in so far. It is safe for concurrent use.
//
// Every method waits for a worker until the context ends.
type Reader struct {
	service   workflowservice.WorkflowServiceClient
	namespace string
	converter converter.DataConverter
	archive   Archive
}

// NewReader returns a reader of the threads that the Temporal client can reach.
// Options may be nil.
func NewReader(temporal client.Client, opts *Options) *Reader {
	r := &Reader{
		service:   temporal.WorkflowService(),
		namespace: client.DefaultNamespace,
		converter: converter.GetDefaultDataConverter(),
	}
	if opts == nil {
		return r
	}
	r.archive = opts.Archive
	if opts.Namespace != "" {
		r.namespace = opts.Namespace
	}
	if opts.DataConverter != nil {
		r.converter = opts.DataConverter
	}
	return r
}

// Messages returns the messages from (inclusive) to to (exclusive), those of
// earlier runs included. A long message is its beginning and a reference.
func (r *Reader) Messages(ctx context.Context, workflowID, runID string, from, to int) ([]contract.Message, error) {
	if to <= from {
		return nil, nil
	}
	messages := make([]contract.Message, 0, to-from)
	for message, err := range r.messages(ctx, execution{workflowID, runID}, from, to) {
		if err != nil {
			return nil, err
		}
		messages = append(messages, message)
	}
	if len(messages) < to-from {
		return nil, fmt.Errorf("messages %d to %d of %s: it has no more than %d", from, to, workflowID, from+len(messages))
	}
	return messages, nil
}

// Parts returns the timeline parts that the run itself holds and that have
// ended, ordered by Seq.
func (r *Reader) Parts(ctx context.Context, workflowID, runID string) ([]contract.Part, error) {
	var ended []contract.Part
	for page, err := range r.timeline(ctx, execution{workflowID, runID}, 0) {
		if err != nil {
			return nil, err
		}
		for _, part := range page.Parts {
			if part.EndedAt != nil {
				ended = append(ended, part)
			}
		}
	}
	return ended, nil
}

// Calls returns the open calls with the ids, in their order. One that is not
// open is an error.
func (r *Reader) Calls(ctx context.Context, workflowID, runID string, ids []string) ([]contract.Call, error) {
	open := make(map[string]contract.Call, len(ids))
	isOpen := func(id string) bool { _, ok := open[id]; return ok }
	// An answer holds as many calls as fit into it.
	for missing := slices.Clone(ids); len(missing) > 0; {
		page, err := query[contract.CallsPage](
			ctx, r, execution{workflowID, runID}, contract.QueryCalls, contract.CallsQuery{IDs: missing})
		if err != nil {
			return nil, err
		}
		for _, call := range page.Calls {
			open[call.ID] = call
		}
		before := len(missing)
		if missing = slices.DeleteFunc(missing, isOpen); len(missing) == before {
			return nil, fmt.Errorf("call %s of %s is not open", missing[0], workflowID)
		}
	}
	calls := make([]contract.Call, len(ids))
	for i, id := range ids {
		calls[i] = open[id]
	}
	return calls, nil
}

// Queue returns the submissions that wait for their turn, in their order.
func (r *Reader) Queue(ctx context.Context, workflowID, runID string) ([]contract.Submission, error) {
	page, err := query[contract.QueuePage](ctx, r, execution{workflowID, runID}, contract.QueryQueue)
	return page.Submissions, err
}
