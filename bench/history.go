package bench

import (
	"context"
	"fmt"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// history measures what a thread costs in history: the events of a typical turn,
// and the bytes of a turn with 8 KiB tool results as the thread grows.
func history(ctx context.Context, report *Report) error {
	return onStage(ctx, func(ctx context.Context, s *stage) error {
		if err := s.typicalTurn(ctx, report); err != nil {
			return err
		}
		return s.growth(ctx, report)
	})
}

// typicalTurn has 3 model turns, 2 batches of reads and 1 approved write. It is
// the second of its thread, so that opening the thread does not count.
func (s *stage) typicalTurn(ctx context.Context, report *Report) error {
	s.model.steps.Store(&[][]activities.ModelCall{
		{call("read", `{}`), call("read", `{}`)},
		{call("read", `{}`), call("read", `{}`), call("write", `{}`)},
	})
	thread := s.newThread()
	var sizes [2]size
	for i := range sizes {
		if err := s.turn(ctx, thread, "hello", 1); err != nil {
			return err
		}
		var err error
		if sizes[i], err = s.size(ctx, thread); err != nil {
			return err
		}
	}
	return report.Add("history_events_typical_turn", float64(sizes[1].events-sizes[0].events), "events")
}

// growth reports the bytes per turn, summed over the runs of the thread, after
// so many turns. Its baseline is what a turn's words alone take.
func (s *stage) growth(ctx context.Context, report *Report) error {
	const result = 8 << 10
	read := call("read", fmt.Sprintf(`{"bytes":%d}`, result))
	s.model.steps.Store(&[][]activities.ModelCall{{read}})
	thread := s.newThread()
	for i := 1; i <= 200; i++ {
		if err := s.turn(ctx, thread, "hello", 0); err != nil {
			return err
		}
		if i != 10 && i != 50 && i != 200 {
			continue
		}
		size, err := s.size(ctx, thread)
		if err != nil {
			return err
		}
		if err := report.Compare(fmt.Sprintf("history_bytes_per_turn_%d", i), float64(size.bytes)/float64(i), result, "bytes"); err != nil {
			return err
		}
	}
	return nil
}

// size is what a thread takes in history.
type size struct{ events, bytes int64 }

// size sums over all runs of a thread.
func (s *stage) size(ctx context.Context, thread contract.Start) (size, error) {
	var sum size
	for run := ""; ; {
		described, err := s.temporal.DescribeWorkflow(ctx, thread.WorkflowID(), run)
		if err != nil {
			return sum, err
		}
		info := described.RawResponse.GetWorkflowExecutionInfo()
		sum.events += info.GetHistoryLength()
		sum.bytes += info.GetHistorySizeBytes()
		if run, err = s.previousRun(ctx, thread, info.GetExecution().GetRunId()); err != nil || run == "" {
			return sum, err
		}
	}
}

// previousRun is the run from which a run continues, if any.
func (s *stage) previousRun(ctx context.Context, thread contract.Start, run string) (string, error) {
	history, err := s.temporal.WorkflowService().GetWorkflowExecutionHistory(ctx, &workflowservice.GetWorkflowExecutionHistoryRequest{
		Namespace: client.DefaultNamespace, MaximumPageSize: 1,
		Execution: &common.WorkflowExecution{WorkflowId: thread.WorkflowID(), RunId: run},
	})
	if err != nil {
		return "", err
	}
	return history.GetHistory().GetEvents()[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId(), nil
}
