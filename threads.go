package heddle

import (
	"context"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// threadReader lets activities read their thread: what their own process left
// for them, else by query.
type threadReader struct {
	reader *signals.Reader
	near   *handover
}

var _ activities.Threads = threadReader{}

func (t threadReader) Transcript(ctx context.Context, run activities.RunRef, in activities.ModelTurnInput) ([]contract.Message, error) {
	if messages, ok := t.near.transcript(run, in); ok {
		return messages, nil
	}
	return t.reader.Messages(ctx, run.WorkflowID, run.RunID, 0, in.Upto)
}

func (t threadReader) Messages(ctx context.Context, run activities.RunRef, from, to int) ([]contract.Message, error) {
	return t.reader.Messages(ctx, run.WorkflowID, run.RunID, from, to)
}

func (t threadReader) Queue(ctx context.Context, run activities.RunRef) ([]contract.Submission, error) {
	return t.reader.Queue(ctx, run.WorkflowID, run.RunID)
}

func (t threadReader) Parts(ctx context.Context, run activities.RunRef) ([]contract.Part, error) {
	return t.reader.Parts(ctx, run.WorkflowID, run.RunID)
}

func (t threadReader) Calls(ctx context.Context, run activities.RunRef, ids []string) ([]contract.Call, error) {
	if calls, ok := t.near.calls(run, ids); ok {
		return calls, nil
	}
	return t.reader.Calls(ctx, run.WorkflowID, run.RunID, ids)
}

func (t threadReader) Execution(ctx context.Context, run activities.RunRef, in activities.SegmentInput) (contract.ExecutionPage, error) {
	if page, ok := t.near.execution(run, in); ok {
		return page, nil
	}
	return t.reader.Execution(ctx, run.WorkflowID, run.RunID, contract.ExecutionQuery{Call: in.Call, To: in.Outcomes})
}
