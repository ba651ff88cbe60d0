package signals

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/heddle-dev/heddle/signals/contract"
)

// ResetTo is the point that a thread is reset to: a turn, or an event of the current
// run.
type ResetTo struct {
	// Turn is one that has begun, such as t3: the thread goes back to where it had
	// taken the message and not asked the model.
	Turn string
	// Event is the last event that is kept, at most: the thread goes back to the end
	// of the workflow task before it.
	Event int64
	// Reason is for the record.
	Reason string
}

// Validate names the first field that is wrong.
func (r ResetTo) Validate() error {
	switch {
	case (r.Turn == "") == (r.Event == 0):
		return fmt.Errorf("to: want either a turn or an event")
	case r.Event < 0:
		return fmt.Errorf("event: %d is negative", r.Event)
	case len(r.Reason) > contract.MaxReason:
		return fmt.Errorf("reason: is %d bytes long, at most %d are allowed", len(r.Reason), contract.MaxReason)
	}
	return nil
}

// Reset is a reset that was done.
type Reset struct {
	// Run is the new run; From and Event say which run it was made of, and up to
	// which event.
	Run   string `json:"run_id"`
	From  string `json:"from_run_id"`
	Event int64  `json:"event"`
	// Writes is how many writes lie after that point. Each that the thread asks for
	// again has the outcome that it had.
	Writes int `json:"writes"`
}

// claimMargin is how long before a claim may be forgotten it is no longer relied on.
const claimMargin = time.Hour

// Reset takes a thread back to an earlier point, from where it goes on: what the
// server calls to reset the workflow. Messages and decisions since then are given to it
// again.
//
// A write that was made after that point is not made again, if the thread asks for it
// alike: the claim of its key holds its outcome. The server keeps a claim for
// [contract.ClaimKept] and the namespace's retention, so a point before an older write
// is refused, with [contract.ErrForgotten]. [contract.ErrUnknownTurn]: no run that the
// server keeps has begun the turn.
func (c *Client) Reset(ctx context.Context, thread contract.ThreadRef, to ResetTo) (Reset, error) {
	if err := thread.Validate(); err != nil {
		return Reset{}, invalid(err)
	}
	if err := to.Validate(); err != nil {
		return Reset{}, invalid(err)
	}
	done, err := c.reset(ctx, thread, to)
	return done, in("reset", thread, err)
}

func (c *Client) reset(ctx context.Context, thread contract.ThreadRef, to ResetTo) (Reset, error) {
	point, err := c.resetPoint(ctx, thread, to)
	if err != nil {
		return Reset{}, err
	}
	kept, err := c.claimsKept(ctx)
	if err != nil {
		return Reset{}, err
	}
	if point.writes > 0 && time.Since(point.oldest) > kept-claimMargin {
		return Reset{}, refuse(contract.ErrForgotten,
			"to: a write of %s lies after that point, and its outcome is kept for %s only: after a reset it could be made twice; choose a later point, or open another thread",
			point.oldest.UTC().Format(time.RFC3339), kept)
	}
	reason := "heddle: reset to " + to.describe()
	if to.Reason != "" {
		reason += ": " + to.Reason
	}
	answer, err := c.temporal.ResetWorkflowExecution(ctx, &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: c.reader.namespace, WorkflowExecution: point.run.proto(), Reason: reason,
		RequestId: rand.Text(), WorkflowTaskFinishEventId: point.event,
	})
	if err != nil {
		return Reset{}, typed(err)
	}
	return Reset{Run: answer.GetRunId(), From: point.run.runID, Event: point.event, Writes: point.writes}, nil
}

func (r ResetTo) describe() string {
	if r.Turn != "" {
		return "turn " + r.Turn
	}
	return fmt.Sprintf("event %d", r.Event)
}

// claimsKept is how long the server remembers a write.
func (c *Client) claimsKept(ctx context.Context) (time.Duration, error) {
	described, err := c.reader.service.DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: c.reader.namespace})
	if err != nil {
		return 0, typed(err)
	}
	return contract.ClaimKept + described.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration(), nil
}

// resetPoint is where a reset goes to, and what lies after it.
type resetPoint struct {
	run execution
	// event ends the workflow task that is done anew; 0: it was not found.
	event int64
	// writes were scheduled after it, the first of them at oldest.
	writes int
	oldest time.Time
}

// wrote counts a write that lies after the point.
func (p *resetPoint) wrote(at time.Time) {
	if p.writes++; p.oldest.IsZero() || at.Before(p.oldest) {
		p.oldest = at
	}
}

// resetPoint looks for the point from the current run back.
func (c *Client) resetPoint(ctx context.Context, thread contract.ThreadRef, to ResetTo) (resetPoint, error) {
	described, err := c.reader.describe(ctx, execution{workflowID: thread.WorkflowID()})
	if err != nil {
		return resetPoint{}, err
	}
	point := resetPoint{run: execution{thread.WorkflowID(), described.runID}}
	for {
		before, err := c.scan(ctx, &point, to)
		switch {
		case err != nil:
			return point, err
		case point.event > 0:
			return point, nil
		case to.Event > 0:
			return point, refuse(contract.ErrInvalid, "to: the thread's current run has no workflow task that ended by event %d", to.Event)
		case before == "":
			return point, refuse(contract.ErrUnknownTurn, "to: the thread has begun no turn %q", to.Turn)
		}
		point.run.runID = before
	}
}

// scan reads a run for the point, and returns the run before.
func (c *Client) scan(ctx context.Context, point *resetPoint, to ResetTo) (before string, err error) {
	later := *point // the writes of later runs
	events := c.temporal.GetWorkflowHistory(ctx, point.run.workflowID, point.run.runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return "", typed(unknown(point.run, err))
		}
		if started := event.GetWorkflowExecutionStartedEventAttributes(); started != nil {
			before = started.GetContinuedExecutionRunId()
		}
		if at := c.isPoint(point.run, event, to); at > 0 && (to.Event > 0 || point.event == 0) {
			*point = later
			point.event = at
		}
		if scheduled := event.GetActivityTaskScheduledEventAttributes(); scheduled.GetActivityType().GetName() == contract.WriteActivity {
			point.wrote(event.GetEventTime().AsTime())
		}
	}
	return before, nil
}

// isPoint is the end of the workflow task that is done anew, if an event names one.
func (c *Client) isPoint(run execution, event *historypb.HistoryEvent, to ResetTo) int64 {
	if to.Event > 0 {
		if event.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED && event.GetEventId() <= to.Event {
			return event.GetEventId()
		}
		return 0
	}
	scheduled := event.GetActivityTaskScheduledEventAttributes()
	if scheduled.GetActivityType().GetName() != contract.ModelActivity {
		return 0
	}
	var in struct {
		Turn string `json:"turn"`
		Step int    `json:"step"`
	}
	if err := c.reader.convert(run).FromPayloads(scheduled.GetInput(), &in); err != nil || in.Turn != to.Turn || in.Step != 1 {
		return 0
	}
	return scheduled.GetWorkflowTaskCompletedEventId()
}
