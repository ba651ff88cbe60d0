package durability

import (
	"slices"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals/contract"
)

// rawSignal sends a signal whose payload is JSON text, well-formed or not.
func (b *bed) rawSignal(name, text string) {
	b.t.Helper()
	_, err := b.client.WorkflowService().SignalWorkflowExecution(b.ctx(), &workflowservice.SignalWorkflowExecutionRequest{
		Namespace:         "default",
		WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: b.start.WorkflowID()},
		SignalName:        name,
		Input: &commonpb.Payloads{Payloads: []*commonpb.Payload{{
			Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: []byte(text),
		}}},
	})
	b.must(err)
}

// What can be read of a malformed signal does not become part of the next one,
// and the timeline tells of it.
func TestMalformedSignalStandsAlone(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	turn := b.send("write:w|say:done")
	ap := b.pending(1)[0]
	b.worker.Kill() // so that the signals of a pair come together
	b.rawSignal(contract.SignalApproval, `{"approval":5,"by":"mallory","comment":"not mine"}`)
	b.rawSignal(contract.SignalApproval, `{"approval":"`+ap.ID+`","digest":"`+ap.Digest+`","verdict":"approve"}`)
	b.rawSignal(contract.SignalSubmit, `{"id":5,"user":"mallory","text":"nonsense"}`)
	b.rawSignal(contract.SignalSubmit, `{"id":"good","text":"say:good"}`)
	b.rawSignal(contract.SignalCancelTurn, `[`)
	b.worker.Start(t)
	b.wait(turn)
	b.wait("t2")
	b.must(b.Close(b.ctx(), b.start.ThreadRef, contract.Close{}))
	told := 0
	for part, err := range b.Watch(b.ctx(), b.start.ThreadRef, 0) {
		b.must(err)
		if part.Kind == contract.KindError {
			told++
		}
		if part.Decision != nil && (part.Decision.By != "" || part.Decision.Comment != "") {
			t.Errorf("the decision says by %q: %q; its signal did not", part.Decision.By, part.Decision.Comment)
		}
	}
	if told != 2 { // the SDK itself drops what is no JSON
		t.Errorf("the timeline tells of %d malformed signals, want 2", told)
	}
	messages, err := b.Transcript(b.ctx(), b.start.ThreadRef, 0, 0)
	b.must(err)
	for _, m := range messages {
		if m.User != "" {
			t.Errorf("message %d is said to be of user %q; its signal did not say so", m.Index, m.User)
		}
	}
}

// So many long results that even their beginnings are more than one payload may
// hold.
func TestManyLongResults(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	turn := b.send(strings.Repeat("big:5000 ", 200) + "|say:done")
	ended, err := b.Wait(b.ctx(), b.start.ThreadRef, turn)
	b.must(err)
	if ended.Status != contract.StatusCompleted {
		t.Errorf("turn = %+v, problem %v", ended, ended.Problem)
	}
	messages, err := b.Transcript(b.ctx(), b.start.ThreadRef, 0, 0)
	b.must(err)
	for _, m := range messages {
		if m.Problem != nil {
			t.Fatalf("message %d: %v", m.Index, m.Problem)
		}
	}
}

// A result that a heartbeat told of by reference is, after a crash, the same
// result to the agent as it would have been without.
func TestResultOutlivesItsWorkerWhole(t *testing.T) {
	server := testkit.DevServer(t)
	play := func(strike func(*bed)) string {
		b := newBed(t, server)
		turn := b.send("big:10000 gate:reads|say:done")
		awaitGate(t, b.worker, "reads")
		strike(b)
		openGate(t, b.worker, "reads")
		b.wait(turn)
		return b.story()
	}
	want := play(func(*bed) {})
	got := play(func(b *bed) {
		b.awaitHeartbeat()
		b.restart()
	})
	if got != want {
		t.Errorf("the transcript differs:\n%.3000s\nwant\n%.3000s", got, want)
	}
}

// awaitHeartbeat waits until the server knows something of the activity under
// way.
func (b *bed) awaitHeartbeat() {
	b.t.Helper()
	b.until("the server has a heartbeat", func() bool {
		return slices.ContainsFunc(b.underWay(), func(a *workflowpb.PendingActivityInfo) bool {
			return len(a.GetHeartbeatDetails().GetPayloads()) > 0
		})
	})
}
