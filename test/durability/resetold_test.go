package durability

import (
	"context"
	"testing"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// aged is a server to which all that happened is longer ago.
type aged struct {
	client.Client
	by time.Duration
}

func (a aged) GetWorkflowHistory(ctx context.Context, id, run string, follow bool, filter enums.HistoryEventFilterType) client.HistoryEventIterator {
	return agedEvents{a.Client.GetWorkflowHistory(ctx, id, run, follow, filter), a.by}
}

type agedEvents struct {
	client.HistoryEventIterator
	by time.Duration
}

func (a agedEvents) Next() (*history.HistoryEvent, error) {
	event, err := a.HistoryEventIterator.Next()
	if err == nil {
		event.EventTime = timestamppb.New(event.GetEventTime().AsTime().Add(-a.by))
	}
	return event, err
}

// A reset to before a write that the server may have forgotten is refused and changes
// nothing; one that lies after such a write is not.
func TestResetRefusesAForgottenWrite(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	b.wait(b.send("free:a|say:one"))
	b.wait(b.send("read:b|say:two"))
	described, err := b.client.WorkflowService().DescribeNamespace(b.ctx(), &workflowservice.DescribeNamespaceRequest{Namespace: "default"})
	b.must(err)
	kept := contract.ClaimKept + described.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration()
	reset := func(turn string, age time.Duration) error {
		old := signals.NewClient(aged{b.client, age}, &signals.Options{TaskQueue: b.worker.TaskQueue})
		_, err := old.Reset(b.ctx(), b.start.ThreadRef, signals.ResetTo{Turn: turn})
		return err
	}
	before := b.runID()
	if err := reset("t1", kept-30*time.Minute); !hasCode(err, contract.ErrForgotten) || b.runID() != before {
		t.Errorf("reset to before a forgotten write: %v; run %s, was %s", err, b.runID(), before)
	}
	b.must(reset("t2", kept+time.Hour)) // the write lies before
	b.must(reset("t1", kept-2*time.Hour))
	if ended := b.wait("t2"); ended.Answer != "two" || b.effects() != "a" {
		t.Errorf("turn = %+v, effects %q", ended, b.effects())
	}
}
