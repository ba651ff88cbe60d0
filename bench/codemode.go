package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// snippets measures what snippets cost: events in history, and time against bare
// activities of the same server.
func snippets(ctx context.Context, report *Report) error {
	return onStage(ctx, func(ctx context.Context, s *stage) error {
		bare, err := startBare(s.temporal)
		if err != nil {
			return err
		}
		defer bare.Stop()
		bare.RegisterWorkflow(bareParallel)
		bare.RegisterActivity(bareSlow)
		for range 3 { // warm up
			if _, err := s.run(ctx, `return 1`, 0); err != nil {
				return err
			}
		}
		for _, measure := range []func(context.Context, *Report) error{
			s.snippetEvents, s.snippetOverhead, s.snippetTurns, s.slowReads, s.resumes, s.manySnippets, s.childMemory,
		} {
			if err := measure(ctx, report); err != nil {
				return err
			}
		}
		return nil
	})
}

// code is a call that runs a snippet.
func code(source string) activities.ModelCall {
	input, _ := json.Marshal(map[string]string{"code": source}) // of strings: cannot fail
	return activities.ModelCall{Name: activities.ExecuteTool, Input: string(input)}
}

// passage is what lies in a history between the schedules of two activities.
type passage struct {
	took   time.Duration
	events int
}

// run runs a snippet on a new thread and returns the passage from its first
// segment to the model turn after it.
func (s *stage) run(ctx context.Context, source string, approvals int) (passage, error) {
	s.model.steps.Store(&[][]activities.ModelCall{{code(source)}})
	thread := s.newThread()
	thread.Agent = coder
	if err := s.turn(ctx, thread, "go", approvals); err != nil {
		return passage{}, err
	}
	return s.passage(ctx, thread.WorkflowID(), "Segment", 1, "ModelTurn")
}

// passage returns what lies between the nth schedule of an activity and the next
// one of another.
func (s *stage) passage(ctx context.Context, workflowID, activity string, nth int, next string) (passage, error) {
	var from *historypb.HistoryEvent
	events := s.temporal.GetWorkflowHistory(ctx, workflowID, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for seen := 0; events.HasNext(); {
		event, err := events.Next()
		if err != nil {
			return passage{}, err
		}
		name := event.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName()
		switch {
		case from == nil && name == activity:
			if seen++; seen == nth {
				from = event
			}
		case from != nil && name == next:
			return passage{
				took:   event.GetEventTime().AsTime().Sub(from.GetEventTime().AsTime()),
				events: int(event.GetEventId() - from.GetEventId()),
			}, nil
		}
	}
	return passage{}, fmt.Errorf("the history of %s has no %s that a %s follows", workflowID, activity, next)
}

// The sources of the snippets that are measured.
const (
	reads20   = `for (let i = 0; i < 20; i++) await bench.read({})`
	batch100  = `await tools.batch({ calls: Array.from({ length: 100 }, () => ({ id: "bench.read", input: {} })) })`
	oneFree   = `await bench.free({})`
	threeFree = `for (let i = 0; i < 3; i++) await bench.free({})`
	oneAsked  = `await bench.write({})`
	twoAsked  = `await bench.write({}); await bench.write({})`
	slow100   = `await Promise.all(Array.from({ length: 100 }, () => bench.slow({})))`
)

// snippetEvents counts the events from a snippet's call to its result.
func (s *stage) snippetEvents(ctx context.Context, report *Report) error {
	events := map[string]int{}
	for source, approvals := range map[string]int{
		reads20: 0, batch100: 0, oneFree: 0, threeFree: 0, oneAsked: 1, twoAsked: 2,
	} {
		p, err := s.run(ctx, source, approvals)
		if err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
		events[source] = p.events
	}
	return errors.Join(
		report.Add("codemode_events_20_sequential_reads", float64(events[reads20]), "events"),
		report.Add("codemode_events_batch_100", float64(events[batch100]), "events"),
		report.Add("codemode_events_per_write", float64(events[threeFree]-events[oneFree])/2, "events"),
		report.Add("codemode_events_per_approved_write", float64(events[twoAsked]-events[oneAsked]), "events"),
	)
}

// snippetOverhead compares a snippet without a call, and each further read of one,
// with a bare activity.
func (s *stage) snippetOverhead(ctx context.Context, report *Report) error {
	const reads = 200
	var empty, full, bare []time.Duration
	for range 21 {
		p, err := s.run(ctx, `return 1`, 0)
		if err != nil {
			return err
		}
		q, err := s.run(ctx, fmt.Sprintf(`for (let i = 0; i < %d; i++) await bench.read({})`, reads), 0)
		if err != nil {
			return err
		}
		loop, err := s.temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{TaskQueue: bareQueue}, bareLoop, 1)
		if err == nil {
			err = loop.Get(ctx, nil)
		}
		if err != nil {
			return err
		}
		b, err := s.passage(ctx, loop.GetID(), "bareTool", 1, "bareModel")
		if err != nil {
			return err
		}
		empty, full, bare = append(empty, p.took), append(full, q.took), append(bare, b.took)
	}
	perRead := (median(full) - median(empty)) / reads
	return errors.Join(
		report.Compare("codemode_execute_overhead", ms(median(empty)), ms(median(bare)), "ms"),
		report.Compare("codemode_read_overhead", ms(perRead), ms(median(bare)), "ms"),
	)
}

// snippetTurns compares turns in which the model runs one snippet with bare
// workflows that have an activity in its place.
func (s *stage) snippetTurns(ctx context.Context, report *Report) error {
	turn := func(source string) func(context.Context) error {
		return func(ctx context.Context) error {
			s.model.steps.Store(&[][]activities.ModelCall{{code(source)}})
			thread := s.newThread()
			thread.Agent = coder
			return s.turn(ctx, thread, "go", 0)
		}
	}
	bare := func(run any, n int) func(context.Context) error {
		return func(ctx context.Context) error {
			execution, err := s.temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{TaskQueue: bareQueue}, run, n)
			if err != nil {
				return err
			}
			return execution.Get(ctx, nil)
		}
	}
	for _, c := range []struct {
		name     string
		ours     string
		baseline func(context.Context) error
		pairs    int
	}{
		{"codemode_50_sequential_reads", `for (let i = 0; i < 50; i++) await bench.read({})`, bare(bareLoop, 1), 25},
		{"codemode_50_parallel_reads", `await Promise.all(Array.from({ length: 50 }, () => bench.read({})))`, bare(bareLoop, 1), 25},
		{"codemode_100_slow_reads", slow100, bare(bareParallel, 100), 7},
	} {
		took, bareTook, err := pairs(ctx, c.pairs, turn(c.ours), c.baseline)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if err := report.Compare(c.name, ms(took), ms(bareTook), "ms"); err != nil {
			return err
		}
	}
	return nil
}

// slowReads measures a snippet of slow reads without the turn around it.
func (s *stage) slowReads(ctx context.Context, report *Report) error {
	var all []time.Duration
	for range 11 {
		p, err := s.run(ctx, slow100, 0)
		if err != nil {
			return err
		}
		all = append(all, p.took)
	}
	return report.Add("codemode_100_slow_reads_alone", ms(median(all)), "ms")
}

// slowness is how long a slow call takes.
const slowness = 10 * time.Millisecond

// bareParallel is a model turn with so many slow calls at once, each an activity.
func bareParallel(ctx workflow.Context, calls int) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	if err := workflow.ExecuteActivity(ctx, bareModel, 0).Get(ctx, nil); err != nil {
		return err
	}
	under := make([]workflow.Future, calls)
	for i := range under {
		under[i] = workflow.ExecuteActivity(ctx, bareSlow, i)
	}
	for _, call := range under {
		if err := call.Get(ctx, nil); err != nil {
			return err
		}
	}
	return workflow.ExecuteActivity(ctx, bareModel, 1).Get(ctx, nil)
}

func bareSlow(ctx context.Context, _ int) error { return rest(ctx) }

func readSlowly(ctx context.Context, in nothing) (blank, error) {
	if err := rest(ctx); err != nil {
		return blank{}, err
	}
	return readNothing(ctx, in)
}

func rest(ctx context.Context) error {
	select {
	case <-time.After(slowness):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// resumes measures how much longer a segment takes that has so many results to
// play again.
func (s *stage) resumes(ctx context.Context, report *Report) error {
	after := func(results int) (time.Duration, error) {
		var all []time.Duration
		for range 11 {
			s.model.steps.Store(&[][]activities.ModelCall{{code(
				fmt.Sprintf(`for (let i = 0; i < %d; i++) await bench.read({}); await bench.free({})`, results),
			)}})
			thread := s.newThread()
			thread.Agent = coder
			if err := s.turn(ctx, thread, "go", 0); err != nil {
				return 0, err
			}
			p, err := s.passage(ctx, thread.WorkflowID(), "Segment", 2, "ModelTurn")
			if err != nil {
				return 0, err
			}
			all = append(all, p.took)
		}
		return median(all), nil
	}
	none, err := after(0)
	if err != nil {
		return err
	}
	for _, results := range []int{200, 1000} {
		took, err := after(results)
		if err != nil {
			return err
		}
		if err := report.Add(fmt.Sprintf("codemode_resume_overhead_%d", results), ms(max(took-none, 0)), "ms"); err != nil {
			return err
		}
	}
	return nil
}

// manySnippets runs a snippet of ten reads on each of many threads at once, against
// as many bare workflows with an activity in its place.
func (s *stage) manySnippets(ctx context.Context, report *Report) error {
	const threads = 100
	s.model.steps.Store(&[][]activities.ModelCall{{code(`for (let i = 0; i < 10; i++) await bench.read({})`)}})
	starts := make([]contract.Start, threads)
	ours := func(ctx context.Context) error {
		for i := range starts {
			starts[i] = s.newThread()
			starts[i].Agent = coder
		}
		return together(threads, func(i int) error { return s.turn(ctx, starts[i], "go", 0) })
	}
	baseline := func(ctx context.Context) error {
		return together(threads, func(int) error {
			run, err := s.temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{TaskQueue: bareQueue}, bareLoop, 1)
			if err != nil {
				return err
			}
			return run.Get(ctx, nil)
		})
	}
	took, bareTook, err := pairs(ctx, 3, ours, baseline)
	if err != nil {
		return err
	}
	return report.Compare("codemode_100_at_once", ms(took), ms(bareTook), "ms")
}

func together(n int, do func(i int) error) error {
	failures := make(chan error, n)
	for i := range n {
		go func() { failures <- do(i) }()
	}
	var all error
	for range n {
		all = errors.Join(all, <-failures)
	}
	return all
}
