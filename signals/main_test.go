package signals_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

func TestMain(m *testing.M) { testkit.Main(m, nil) }

// bed is a thread of its own on the shared server, which nobody has opened yet.
type bed struct {
	*signals.Client
	temporal client.Client
	queue    string
	start    contract.Start
}

// newBed has no worker.
func newBed(t *testing.T, temporal client.Client) *bed {
	t.Helper()
	name := testkit.Name(t)
	return &bed{
		Client:   signals.NewClient(temporal, &signals.Options{TaskQueue: name}),
		temporal: temporal,
		queue:    name,
		start: contract.Start{
			ThreadRef: contract.ThreadRef{Tenant: "acme", Thread: name}, Agent: "fake", User: "ann", Roles: []string{"admin"},
		},
	}
}

// setUp has a worker.
func setUp(t *testing.T) *bed {
	t.Helper()
	b := newBed(t, testkit.DevServer(t).Client(t))
	startFake(t, b.temporal, b.queue)
	return b
}

func (b *bed) ref() contract.ThreadRef { return b.start.ThreadRef }

// send sends a message and returns its turn.
func (b *bed) send(t *testing.T, text string) string {
	t.Helper()
	sent, err := b.Send(within(t), b.start, contract.Submission{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return sent.Turn
}

// say sends a message and returns the turn when it has ended.
func (b *bed) say(t *testing.T, text string) contract.Turn {
	t.Helper()
	turn, err := b.Wait(within(t), b.ref(), b.send(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

// pending returns the approval that the thread waits for.
func (b *bed) pending(t *testing.T) contract.Approval {
	t.Helper()
	for part, err := range b.Watch(within(t), b.ref(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if part.Kind == contract.KindApproval && part.Status == contract.PartWaiting {
			return *part.Approval
		}
	}
	t.Fatal("the thread ended without an approval")
	return contract.Approval{}
}

// closed closes the thread and waits for its end.
func (b *bed) closed(t *testing.T) {
	t.Helper()
	if err := b.Close(within(t), b.ref(), contract.Close{}); err != nil {
		t.Fatal(err)
	}
	if err := b.temporal.GetWorkflow(within(t), b.ref().WorkflowID(), "").Get(within(t), nil); err != nil {
		t.Fatal(err)
	}
}

// within bounds a step of a test on a busy machine.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// shortly is for what has to fail.
func shortly(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// wantCode fails unless err is an *Error with the code.
func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var refused *signals.Error
	if !errors.As(err, &refused) || refused.Code != code {
		t.Errorf("error %v, want one with code %s", err, code)
	}
}
