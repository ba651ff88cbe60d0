package signals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/proto"

	"github.com/heddle-dev/heddle/signals/contract"
)

const (
	// pollTimeout bounds one long poll. The server answers after 20 seconds even
	// if nothing happened.
	pollTimeout = time.Minute
	// seekTimeout bounds the search for the end of a history. It has to be less
	// than the second before its deadline at which the server ends a long poll.
	seekTimeout = 500 * time.Millisecond
	// A thread that is in the middle of something changes three times with each
	// activity, and a request for each change would cost the server about as much as
	// the activity. So there is a pause between two: a share of the time that the thread
	// has been busy, or until the model may have spoken again, within these bounds.
	leastPause = 10 * time.Millisecond
	mostPause  = 50 * time.Millisecond
	pauseShare = 25
)

// tail waits for a run to change, at its history's end.
type tail struct {
	reader *Reader
	run    execution
	// pace is how long changes may gather while the thread is in the middle of
	// something.
	pace time.Duration
	// token is the server's mark of how far the history was read. Empty: nothing
	// was read yet.
	token []byte
	// due is set once something has changed: it fires when that is to be reported.
	due <-chan time.Time
	// busySince is when the thread was first seen in the middle of something.
	busySince time.Time
	// asked is the event that has scheduled the latest model turn, spoke is when the last
	// one ended, by the server's clock, heard is when that was read, and cycle the time
	// since the one before, or since the first event that was read.
	asked int64
	spoke time.Time
	heard time.Time
	cycle time.Duration
	// polling is the long poll that is under way, if any.
	polling chan polled
	// meanwhile, unless nil, is called from time to time while nothing changes. It
	// reports whether there is no need to wait on.
	meanwhile func() (enough bool)
}

type polled struct {
	response *workflowservice.GetWorkflowExecutionHistoryResponse
	err      error
}

// seek goes to the end of the history without reading what lies before. A long
// poll for the close event, of a run that goes on, answers shortly before its
// deadline with a mark at the end; with a deadline this short that is at once.
// Should a server not do so, the history is read from its start, which is right
// too, only more work.
func (t *tail) seek(ctx context.Context) {
	seekCtx, cancel := context.WithTimeout(ctx, seekTimeout)
	defer cancel()
	response, err := t.reader.history(seekCtx, t.run, nil, enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT)
	if err == nil {
		t.token = response.GetNextPageToken()
	}
}

// wait returns when the thread may answer otherwise than before, with closed if
// the run has ended. A thread's answers change in a workflow task and never
// between two, so nothing else is reported. One that ends with an activity under
// way is a step in the middle of something, and there may be many a second: it
// is reported at the tail's pace, or with the next that is none. The model's last
// word in a turn is reported at once: what a thread is asked then it answers when the
// workflow task is done that takes it in.
func (t *tail) wait(ctx context.Context) (closed bool, err error) {
	defer func() { t.due = nil }()
	var beats <-chan time.Time
	if t.meanwhile != nil {
		ticker := time.NewTicker(progressPace)
		defer ticker.Stop()
		beats = ticker.C
	}
	for {
		var got polled
		select {
		case <-t.due:
			return false, nil
		case <-beats:
			if t.meanwhile() {
				return false, nil
			}
			continue
		case got = <-t.poll(ctx):
			t.polling = nil
		}
		var refused *serviceerror.InvalidArgument
		if len(t.token) > 0 && errors.As(got.err, &refused) {
			// The history is another one since, after a failover: read all of it.
			t.token = nil
			continue
		}
		if got.err != nil {
			return false, got.err
		}
		t.token = got.response.GetNextPageToken()
		if len(t.token) == 0 {
			return true, nil
		}
		events, err := eventsOf(got.response)
		if err != nil {
			return false, err
		}
		seen := t.read(events)
		if seen.answered || seen.changed && seen.underWay == "" {
			t.busySince = time.Time{}
			return false, nil
		}
		if seen.changed {
			t.gather()
		}
		if t.busySince.IsZero() {
			t.busySince = time.Now()
		}
		if seen.underWay == contract.ModelActivity && !seen.spoken {
			continue // nothing happens until it ends
		}
		rest := min(max(time.Since(t.busySince)/pauseShare, t.cycle-time.Since(t.heard), leastPause), mostPause)
		if !pause(ctx, rest) {
			return false, ctx.Err()
		}
	}
}

// gather has what changes reported within a pace.
func (t *tail) gather() {
	if t.due == nil {
		t.due = time.After(t.pace)
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// news is what events tell.
type news struct {
	// changed: a workflow task was done.
	changed bool
	// underWay is the type of the activity that the last one has scheduled, if it has.
	underWay string
	// spoken: that was a model turn, and it has ended; answered: with no call.
	spoken, answered bool
}

func (t *tail) read(events []*historypb.HistoryEvent) (seen news) {
	if t.spoke.IsZero() && len(events) > 0 {
		t.spoke = events[0].GetEventTime().AsTime()
	}
	for _, event := range events {
		switch event.GetEventType() {
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
			seen = news{changed: true}
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
			seen.underWay = event.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName()
			if seen.underWay == contract.ModelActivity {
				t.asked = event.GetEventId()
			}
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
			done := event.GetActivityTaskCompletedEventAttributes()
			if done.GetScheduledEventId() == t.asked {
				seen.spoken, seen.answered = true, t.reader.isLast(t.run, done)
				spoke := event.GetEventTime().AsTime()
				t.cycle, t.spoke, t.heard = spoke.Sub(t.spoke), spoke, time.Now()
			}
		}
	}
	return seen
}

// isLast reports whether a model turn has asked for no call. One that cannot be
// decoded is taken for one that has.
func (r *Reader) isLast(run execution, done *historypb.ActivityTaskCompletedEventAttributes) bool {
	var result struct {
		Calls []json.RawMessage `json:"calls"`
	}
	return r.convert(run).FromPayloads(done.GetResult(), &result) == nil && len(result.Calls) == 0
}

// poll returns the long poll that is under way, or begins one. It ends with ctx.
func (t *tail) poll(ctx context.Context) <-chan polled {
	if t.polling == nil {
		polling := make(chan polled, 1)
		token := t.token
		go func() {
			var got polled
			got.err = patiently(ctx, pollTimeout, func(ctx context.Context) (err error) {
				got.response, err = t.reader.history(ctx, t.run, token, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
				return err
			})
			polling <- got
		}()
		t.polling = polling
	}
	return t.polling
}

// history long-polls a run's history from where the token ends.
func (r *Reader) history(
	ctx context.Context, run execution, token []byte, filter enumspb.HistoryEventFilterType,
) (*workflowservice.GetWorkflowExecutionHistoryResponse, error) {
	response, err := r.service.GetWorkflowExecutionHistory(ctx, &workflowservice.GetWorkflowExecutionHistoryRequest{
		Namespace:              r.namespace,
		Execution:              run.proto(),
		NextPageToken:          token,
		HistoryEventFilterType: filter,
		WaitNewEvent:           true,
		SkipArchival:           true,
	})
	return response, unknown(run, err)
}

// eventsOf returns the events of a page, which some servers send encoded.
func eventsOf(response *workflowservice.GetWorkflowExecutionHistoryResponse) ([]*historypb.HistoryEvent, error) {
	events := response.GetHistory().GetEvents()
	for _, blob := range response.GetRawHistory() {
		var batch historypb.History
		if err := proto.Unmarshal(blob.GetData(), &batch); err != nil {
			return nil, fmt.Errorf("decode a page of history: %w", err)
		}
		events = append(events, batch.GetEvents()...)
	}
	return events, nil
}
