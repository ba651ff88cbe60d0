package durability

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.temporal.io/api/enums/v1"

	"github.com/heddle-dev/heddle/internal/blobs"
	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// What comes into the timeline while a run is being archived is neither in the
// archive nor, but for the newest parts, in the next run, unless care is taken.
func TestTimelineIsWholeWithTheArchive(t *testing.T) {
	b := newBed(t, testkit.StartServer(t, "limit.historyCount.suggestContinueAsNew=30"))
	b.wait(b.send("say:hello"))
	const senders, each = 8, 100
	failures := make(chan error, senders)
	for range senders {
		go func() {
			for range each {
				err := b.client.SignalWorkflow(b.ctx(), b.start.WorkflowID(), "", contract.SignalCancelTurn, contract.CancelTurn{Turn: "nope"})
				if err != nil {
					failures <- err
					return
				}
			}
			failures <- nil
		}()
	}
	for range senders {
		b.must(<-failures)
	}
	b.wait(b.send("say:bye"))
	b.must(b.Close(b.ctx(), b.start.ThreadRef, contract.Close{}))
	store, err := blobs.Open(b.ctx(), filepath.Join(b.worker.Dir, ".heddle", "blobs"))
	b.must(err)
	defer store.Close()
	for name, client := range map[string]*signals.Client{
		"without the archive": b.Client,
		"with the archive":    signals.NewClient(b.client, &signals.Options{Archive: store}),
	} {
		refused := map[string]bool{}
		for part, err := range client.Watch(b.ctx(), b.start.ThreadRef, 0) {
			b.must(err)
			if part.Kind == contract.KindError {
				refused[part.ID] = true
			}
		}
		if len(refused) != senders*each {
			t.Errorf("%s: the timeline tells of %d refused signals, want %d", name, len(refused), senders*each)
		}
	}
}

// A workflow that is cancelled while its run is archived ends as cancelled.
func TestCancelledWhileArchived(t *testing.T) {
	b := newBed(t, testkit.StartServer(t, "limit.historyCount.suggestContinueAsNew=30"))
	folder := filepath.Join(b.worker.Dir, ".heddle", "blobs")
	turn := b.send("gate:start|read:b|read:c|read:d|read:e|say:done")
	awaitGate(t, b.worker, "start")
	b.must(os.Rename(folder, folder+".away"))
	b.must(os.Symlink("nowhere", folder)) // the archive cannot be written
	openGate(t, b.worker, "start")
	b.worker.WaitOutput(t, "store the archive")
	b.must(b.client.CancelWorkflow(b.ctx(), b.start.WorkflowID(), ""))
	b.must(os.Symlink(folder+".away", folder+".back"))
	b.must(os.Rename(folder+".back", folder)) // in one step: the worker must not find nothing and make another
	if ended := b.wait(turn); ended.Status != contract.StatusCancelled {
		t.Errorf("the turn is %s, want cancelled", ended.Status)
	}
	_ = b.client.GetWorkflow(b.ctx(), b.start.WorkflowID(), "").Get(b.ctx(), nil)
	described, err := b.client.DescribeWorkflow(b.ctx(), b.start.WorkflowID(), "")
	b.must(err)
	if got := described.RawResponse.GetWorkflowExecutionInfo().GetStatus(); got != enums.WORKFLOW_EXECUTION_STATUS_CANCELED {
		t.Errorf("the workflow ended as %s, want Canceled", got)
	}
}

// A signal that the server took is told of, whatever run it falls into.
func TestNoSubmissionIsLostAtContinueAsNew(t *testing.T) {
	b := newBed(t, testkit.StartServer(t, "limit.historyCount.suggestContinueAsNew=30"))
	b.wait(b.send("say:hello"))
	const n = 200
	for i := range n {
		b.signal(contract.SignalSubmit, contract.Submission{ID: fmt.Sprintf("s%d", i), Text: "say:x"})
	}
	b.until("the thread is idle", func() bool {
		state, err := b.State(b.ctx(), b.start.ThreadRef)
		b.must(err)
		return state.Status == contract.StatusIdle
	})
	b.must(b.Close(b.ctx(), b.start.ThreadRef, contract.Close{}))
	begun, refused := map[string]bool{}, 0
	for part, err := range b.Watch(b.ctx(), b.start.ThreadRef, 0) {
		b.must(err)
		switch {
		case part.Kind == contract.KindError:
			refused++
		case part.Kind == contract.KindMilestone && part.Submission != "":
			begun[part.Submission] = true
		}
	}
	if got := len(begun) - 1 + refused; got != n {
		t.Errorf("%d of %d signals were taken or refused; the others are lost", got, n)
	}
}
