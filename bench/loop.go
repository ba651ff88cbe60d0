package bench

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// Names of the bare loop: an agent as one would first write it on Temporal, with
// an activity for each model turn and one for each call.
const (
	bareQueue  = "bare"
	bareSignal = "go"
)

// bareLoop asks a model that answers at once, and calls a tool that does nothing,
// in turn.
func bareLoop(ctx workflow.Context, calls int) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	for i := range calls + 1 {
		if err := workflow.ExecuteActivity(ctx, bareModel, i).Get(ctx, nil); err != nil {
			return err
		}
		if i < calls {
			if err := workflow.ExecuteActivity(ctx, bareTool, i).Get(ctx, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// bareOnMessage runs a model activity for each message: an update, or a signal.
func bareOnMessage(ctx workflow.Context) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	messages := 0
	err := workflow.SetUpdateHandler(ctx, bareSignal, func(workflow.Context, int) error { messages++; return nil })
	if err != nil {
		return err
	}
	signals := workflow.GetSignalChannel(ctx, bareSignal)
	workflow.Go(ctx, func(ctx workflow.Context) {
		for signals.Receive(ctx, nil) {
			messages++
		}
	})
	for {
		if err := workflow.Await(ctx, func() bool { return messages > 0 }); err != nil {
			return err
		}
		messages--
		if err := workflow.ExecuteActivity(ctx, bareModel, 0).Get(ctx, nil); err != nil {
			return err
		}
	}
}

// bareAsked is told each time the bare model is asked, while it is set.
var bareAsked chan time.Time

func bareModel(context.Context, int) (string, error) {
	if bareAsked != nil {
		select {
		case bareAsked <- time.Now():
		default:
		}
	}
	return "call the tool", nil
}

func bareTool(context.Context, int) (string, error) { return "nothing", nil }

func startBare(c client.Client) (worker.Worker, error) {
	w := worker.New(c, bareQueue, worker.Options{})
	w.RegisterWorkflow(bareLoop)
	w.RegisterWorkflow(bareOnMessage)
	w.RegisterActivity(bareModel)
	w.RegisterActivity(bareTool)
	return w, w.Start()
}

// calls measures a turn in which the model asks for one read after the other,
// against the bare loop.
func calls(ctx context.Context, report *Report) error {
	return onStage(ctx, func(ctx context.Context, s *stage) error {
		bare, err := startBare(s.temporal)
		if err != nil {
			return err
		}
		defer bare.Stop()
		for _, n := range []int{10, 50} {
			steps := make([][]activities.ModelCall, n)
			for i := range steps {
				steps[i] = []activities.ModelCall{call("read", `{}`)}
			}
			s.model.steps.Store(&steps)
			ours := func(ctx context.Context) error { return s.turn(ctx, s.newThread(), "go", 0) }
			baseline := func(ctx context.Context) error {
				run, err := s.temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{TaskQueue: bareQueue}, bareLoop, n)
				if err != nil {
					return err
				}
				return run.Get(ctx, nil)
			}
			if _, _, err := pairs(ctx, 2, ours, baseline); err != nil { // warm up
				return err
			}
			took, bareTook, err := pairs(ctx, 11+300/n, ours, baseline) // the shorter ones vary more
			if err != nil {
				return err
			}
			if err := report.Compare(fmt.Sprintf("calls_over_turns_%d", n), ms(took), ms(bareTook), "ms"); err != nil {
				return err
			}
		}
		return nil
	})
}

// firstModel measures how long it takes from a message to the model, for a new
// thread, for an update and for a signal, against the same on bare Temporal.
func firstModel(ctx context.Context, report *Report) error {
	return onStage(ctx, func(ctx context.Context, s *stage) error {
		bare, err := startBare(s.temporal)
		if err != nil {
			return err
		}
		defer bare.Stop()
		oursAsked := make(chan time.Time, 1)
		s.model.asked.Store(&oursAsked)
		bareAsked = make(chan time.Time, 1)
		defer func() { bareAsked = nil }()

		thread := s.newThread()
		if err := s.turn(ctx, thread, "hello", 0); err != nil {
			return err
		}
		<-oursAsked
		loop, err := s.temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{TaskQueue: bareQueue}, bareOnMessage)
		if err != nil {
			return err
		}
		for _, by := range []struct {
			name string
			ours func(context.Context) error
			bare func(context.Context) error
		}{
			{
				"start",
				func(ctx context.Context) error {
					_, err := s.threads.Send(ctx, s.newThread(), contract.Submission{Text: "hello"})
					return err
				},
				func(ctx context.Context) error { return s.bareStart(ctx) },
			},
			{
				"update",
				func(ctx context.Context) error {
					_, err := s.threads.Send(ctx, thread, contract.Submission{Text: "hello"})
					return err
				},
				func(ctx context.Context) error {
					update, err := s.temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
						WorkflowID: loop.GetID(), UpdateName: bareSignal, Args: []any{1},
						WaitForStage: client.WorkflowUpdateStageCompleted,
					})
					if err != nil {
						return err
					}
					return update.Get(ctx, nil)
				},
			},
			{
				"signal",
				func(ctx context.Context) error {
					s.opened++
					return s.temporal.SignalWorkflow(ctx, thread.WorkflowID(), "", contract.SignalSubmit,
						contract.Submission{ID: fmt.Sprintf("s%d", s.opened), Text: "hello"})
				},
				func(ctx context.Context) error {
					return s.temporal.SignalWorkflow(ctx, loop.GetID(), "", bareSignal, 1)
				},
			},
		} {
			ours := func(ctx context.Context) error { return until(ctx, by.ours, oursAsked) }
			baseline := func(ctx context.Context) error { return until(ctx, by.bare, bareAsked) }
			if _, _, err := pairs(ctx, 5, ours, baseline); err != nil { // warm up
				return err
			}
			took, bareTook, err := pairs(ctx, 81, ours, baseline)
			if err != nil {
				return err
			}
			if err := report.Compare(by.name+"_to_model", ms(took), ms(bareTook), "ms"); err != nil {
				return err
			}
		}
		return s.temporal.TerminateWorkflow(ctx, loop.GetID(), "", "measured")
	})
}

// bareStart opens a bare workflow with its first message, as Heddle opens a
// thread: by update-with-start.
func (s *stage) bareStart(ctx context.Context) error {
	s.opened++
	start := s.temporal.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
		ID: fmt.Sprintf("bare-%d", s.opened), TaskQueue: bareQueue,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
	}, bareOnMessage)
	update, err := s.temporal.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: start,
		UpdateOptions: client.UpdateWorkflowOptions{
			UpdateName: bareSignal, Args: []any{1}, WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	if err != nil {
		return err
	}
	return update.Get(ctx, nil)
}

// until does something and waits until the model has been asked. It leaves the
// workflow a moment to come to rest, so that the next message finds it idle.
func until(ctx context.Context, do func(context.Context) error, asked <-chan time.Time) error {
	if err := do(ctx); err != nil {
		return err
	}
	select {
	case <-asked:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
