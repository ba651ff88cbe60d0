package signals_test

import (
	"sync/atomic"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/proto"

	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// Whoever waits begins at the end of the history, however long it is.
func TestWaitingReadsNoOldHistory(t *testing.T) {
	b := setUp(t)
	for range 10 {
		b.say(t, "echo")
	}
	for range 20 {
		// A machine that is busy may be too late to seek the end, and then reads all of it.
		sought, read, old := b.eventsOfAWait(t)
		if !sought {
			continue
		}
		// The cancellation takes four events.
		if read == 0 || read > 8 {
			t.Errorf("read %d events, want a few; the history had %d before", read, old)
		}
		return
	}
	t.Error("the end of the history is never found")
}

// eventsOfAWait waits for a turn that is cancelled meanwhile. It returns whether the end
// of the history could be sought, how many events were read, and how many there were
// before.
func (b *bed) eventsOfAWait(t *testing.T) (sought bool, read, old int) {
	t.Helper()
	turn := b.send(t, "hang")
	old = historyLength(t, b)

	var found atomic.Bool
	var events atomic.Int64
	waits := make(chan struct{}, 100)
	c := signals.NewClient(interceptHistory(b.temporal, func(
		in *workflowservice.GetWorkflowExecutionHistoryRequest, next historyCall,
	) (*workflowservice.GetWorkflowExecutionHistoryResponse, error) {
		if in.HistoryEventFilterType == enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT && in.WaitNewEvent {
			waits <- struct{}{}
		}
		response, err := next()
		events.Add(int64(len(response.GetHistory().GetEvents())))
		if in.HistoryEventFilterType == enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT && err == nil {
			found.Store(true)
		}
		return response, err
	}), nil)
	ended := make(chan error)
	go func() {
		_, err := c.Wait(within(t), b.ref(), turn)
		ended <- err
	}()
	<-waits
	if err := b.Cancel(within(t), b.ref(), contract.CancelTurn{}); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return found.Load(), int(events.Load()), old
}

// A server may differ in how it pages a history, and forget what it had said.
func TestWatchOnOtherServers(t *testing.T) {
	for name, hook := range map[string]historyHook{
		"cannot go to the end": func(in *workflowservice.GetWorkflowExecutionHistoryRequest, next historyCall) (*workflowservice.GetWorkflowExecutionHistoryResponse, error) {
			if in.HistoryEventFilterType == enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT {
				return nil, serviceerror.NewDeadlineExceeded("long poll")
			}
			return next()
		},
		"refuses a token": func() historyHook {
			refusals := 2
			return func(in *workflowservice.GetWorkflowExecutionHistoryRequest, next historyCall) (*workflowservice.GetWorkflowExecutionHistoryResponse, error) {
				if len(in.NextPageToken) > 0 && refusals > 0 {
					refusals--
					return nil, serviceerror.NewInvalidArgument("current branch changed")
				}
				return next()
			}
		}(),
		"sends raw history": func(_ *workflowservice.GetWorkflowExecutionHistoryRequest, next historyCall) (*workflowservice.GetWorkflowExecutionHistoryResponse, error) {
			response, err := next()
			for _, event := range response.GetHistory().GetEvents() {
				data, err := proto.Marshal(&historypb.History{Events: []*historypb.HistoryEvent{event}})
				if err != nil {
					return nil, err
				}
				response.RawHistory = append(response.RawHistory, &commonpb.DataBlob{Data: data, EncodingType: enumspb.ENCODING_TYPE_PROTO3})
			}
			if response != nil {
				response.History = nil
			}
			return response, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := setUp(t)
			b.Client = signals.NewClient(interceptHistory(b.temporal, hook), &signals.Options{TaskQueue: b.queue})
			b.say(t, "echo")
			done := make(chan []contract.Part)
			go func() { done <- watched(t, b.Client, b.ref(), 0, never) }()
			if turn := b.say(t, "echo 2"); turn.Answer != "2" {
				t.Errorf("turn %+v", turn)
			}
			b.closed(t)
			<-done
		})
	}
}
