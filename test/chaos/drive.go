package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

const tenant = "chaos"

func (s story) ref() contract.ThreadRef {
	return contract.ThreadRef{Tenant: tenant, Thread: s.Thread}
}

// again is how long to wait before something that failed is tried again.
const again = 500 * time.Millisecond

// tell has a thread live through its story and closes it, however often the server
// and the workers are away meanwhile. It returns how each turn ended.
func (s *stage) tell(ctx context.Context, of story) ([]contract.Turn, error) {
	start := contract.Start{ThreadRef: of.ref(), Agent: of.Agent, User: "ada"}
	var turns []contract.Turn
	for n, chapter := range of.Turns {
		var submitted contract.Submitted
		err := insist(ctx, "send", func() (err error) {
			submitted, err = s.threads.Send(ctx, start, contract.Submission{ID: fmt.Sprintf("turn-%d", n+1), Text: chapter.Text})
			return err
		})
		if err != nil {
			return turns, err
		}
		if chapter.Cancel > 0 {
			wait(ctx, chapter.Cancel)
			cancel := contract.CancelTurn{Turn: submitted.Turn, Reason: "enough"}
			if err := insist(ctx, "cancel", func() error { return s.threads.Cancel(ctx, of.ref(), cancel) }); err != nil {
				return turns, err
			}
		}
		var turn contract.Turn
		err = insist(ctx, "wait for "+submitted.Turn, func() (err error) {
			turn, err = s.threads.Wait(ctx, of.ref(), submitted.Turn)
			return err
		})
		if err != nil {
			return turns, err
		}
		turns = append(turns, turn)
	}
	err := insist(ctx, "close", func() error {
		return s.threads.Close(ctx, of.ref(), contract.Close{Reason: "the story is over"})
	})
	if err != nil {
		return turns, err
	}
	return turns, insist(ctx, "end", func() error {
		return s.temporal.GetWorkflow(ctx, of.ref().WorkflowID(), "").Get(ctx, nil)
	})
}

// insist tries until it succeeds, is refused or ctx ends.
func insist(ctx context.Context, what string, try func() error) error {
	for {
		err := try()
		if err == nil {
			return nil
		}
		if refused := (*signals.Error)(nil); errors.As(err, &refused) {
			return fmt.Errorf("%s: %w", what, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, err)
		case <-time.After(again):
		}
	}
}
