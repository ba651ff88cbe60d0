package signals_test

import (
	"sync/atomic"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// Who sends a message and waits for its turn goes on where the last wait ended,
// whatever the thread has done since.
func TestWaitGoesOnWhereTheLastEnded(t *testing.T) {
	b := setUp(t)
	var searches atomic.Int64
	service := &interceptedService{
		WorkflowServiceClient: b.temporal.WorkflowService(),
		describe:              func() { searches.Add(1) },
		history: func(in *workflowservice.GetWorkflowExecutionHistoryRequest, next historyCall) (*workflowservice.GetWorkflowExecutionHistoryResponse, error) {
			if in.HistoryEventFilterType == enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT {
				searches.Add(1)
			}
			return next()
		},
	}
	c := signals.NewClient(&interceptedClient{b.temporal, service}, &signals.Options{TaskQueue: b.queue})
	other := signals.NewClient(b.temporal, &signals.Options{TaskQueue: b.queue})
	send := func(c *signals.Client, id, text string) string {
		t.Helper()
		sent, err := c.Send(within(t), b.start, contract.Submission{ID: id, Text: text})
		if err != nil {
			t.Fatal(err)
		}
		return sent.Turn
	}
	answer := func(c *signals.Client, turn string) string {
		t.Helper()
		ended, err := c.Wait(within(t), b.ref(), turn)
		if err != nil {
			t.Fatal(err)
		}
		return ended.Answer
	}

	for _, text := range []string{"1", "2", "3"} {
		if got := answer(c, send(c, "", "echo "+text)); got != text {
			t.Errorf("answer %q, want %q", got, text)
		}
	}
	if n := searches.Load(); n != 0 {
		t.Errorf("sought the end of the history %d times, want it known", n)
	}

	answer(other, send(other, "", "echo other"))
	if got := answer(c, send(c, "", "roll 4")); got != "4" {
		t.Errorf("after another's turn: %q", got)
	}
	if got := answer(c, send(c, "", "echo 5")); got != "5" {
		t.Errorf("after it continued as new: %q", got)
	}

	turn := send(c, "same", "echo 6")
	if got := answer(c, turn); got != "6" {
		t.Errorf("answer %q, want 6", got)
	}
	if again := send(c, "same", "echo 6"); again != turn || answer(c, again) != "6" {
		t.Errorf("the same submission again is turn %s, want %s and its answer", again, turn)
	}

	first, second := send(c, "", "echo 7"), send(c, "", "echo 8")
	if one, two := answer(c, first), answer(c, second); one != "7" || two != "8" {
		t.Errorf("two turns at once: %q, %q", one, two)
	}
}
