package main

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/signals/contract"
	"github.com/heddle-dev/heddle/workflows"
)

// replay replays the histories of all runs of a thread.
func (s *stage) replay(ctx context.Context, of story) error {
	// On a machine that is busy a workflow that gets no processor for a second is no deadlock.
	replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DisableDeadlockDetection: true})
	if err != nil {
		return err
	}
	threads := &workflows.Worker{} // knows no agent: a replay must not ask
	replayer.RegisterWorkflowWithOptions(threads.AgentThread, workflow.RegisterOptions{Name: contract.WorkflowType})
	var failures []error
	for run, newest := "", true; run != "" || newest; newest = false {
		events, err := s.history(ctx, of.ref().WorkflowID(), run)
		if err != nil {
			return fmt.Errorf("read the history: %w", err)
		}
		if err := replayer.ReplayWorkflowHistory(nil, events); err != nil {
			failures = append(failures, fmt.Errorf("run %q: %w", run, err))
		}
		run = events.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId()
	}
	return errors.Join(failures...)
}

func (s *stage) history(ctx context.Context, id, run string) (*history.History, error) {
	var events history.History
	iterator := s.temporal.GetWorkflowHistory(ctx, id, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for iterator.HasNext() {
		event, err := iterator.Next()
		if err != nil {
			return nil, err
		}
		events.Events = append(events.Events, event)
	}
	return &events, nil
}
