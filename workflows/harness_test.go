package workflows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
	"github.com/heddle-dev/heddle/workflows"
)

// start is the thread of these tests.
var start = contract.Start{
	ThreadRef: contract.ThreadRef{Tenant: "acme", Thread: "t"}, Agent: "support", User: "ada",
}

// harness runs a thread in Temporal's test environment with activities that play
// a script.
type harness struct {
	*testsuite.TestWorkflowEnvironment
	t *testing.T

	// admit and write stand in for the activities, where a test sets them.
	admit func() error
	write func(activities.WriteInput) (activities.CallResult, error)
	// reconcile and conclude find out what became of a write.
	reconcile func(activities.ReconcileInput) (activities.ReconcileResult, error)
	conclude  func(activities.ConcludeInput) (activities.ReconcileResult, error)

	mu     sync.Mutex
	models []activities.ModelTurnInput
	reads  []activities.BatchReadInput
	writes []activities.WriteInput
}

// step is what the model says when it is asked.
type step func(activities.ModelTurnInput) (activities.ModelTurnResult, error)

// patient is a worker on a machine that is busy: a workflow that gets no processor for a
// second is no deadlock.
var patient = worker.Options{DeadlockDetectionTimeout: time.Minute}

func newHarness(t *testing.T, steps ...step) *harness {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	h := &harness{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment(), t: t}
	w := &workflows.Worker{Agents: []string{"support"}, Modes: []string{"build", "plan"}}
	h.RegisterWorkflowWithOptions(w.AgentThread, workflow.RegisterOptions{Name: contract.WorkflowType})
	h.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: start.WorkflowID()})
	h.SetTestTimeout(2 * time.Minute)
	h.SetWorkerOptions(patient)

	var a *activities.Activities
	h.RegisterActivity(a)
	h.OnActivity(a.ModelTurn, mock.Anything, mock.Anything).Return(
		func(_ context.Context, in activities.ModelTurnInput) (activities.ModelTurnResult, error) {
			h.mu.Lock()
			n := len(h.models)
			h.models = append(h.models, in)
			h.mu.Unlock()
			if n >= len(steps) {
				return activities.ModelTurnResult{}, fmt.Errorf("the script has no step %d", n+1)
			}
			return steps[n](in)
		}).Maybe()
	h.OnActivity(a.BatchRead, mock.Anything, mock.Anything).Return(
		func(_ context.Context, in activities.BatchReadInput) (activities.BatchReadResult, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.reads = append(h.reads, in)
			var result activities.BatchReadResult
			for _, c := range in.Calls {
				result.Results = append(result.Results, activities.CallResult{ID: c.ID, Result: json.RawMessage(`{"read":true}`)})
			}
			return result, nil
		}).Maybe()
	h.OnActivity(a.Write, mock.Anything, mock.Anything).Return(
		func(_ context.Context, in activities.WriteInput) (activities.CallResult, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.writes = append(h.writes, in)
			if h.write != nil {
				return h.write(in)
			}
			return activities.CallResult{ID: in.Call.ID, Result: json.RawMessage(`{"written":true}`)}, nil
		}).Maybe()
	h.OnActivity(a.Reconcile, mock.Anything, mock.Anything).Return(
		func(_ context.Context, in activities.ReconcileInput) (activities.ReconcileResult, error) {
			if h.reconcile != nil {
				return h.reconcile(in)
			}
			return activities.ReconcileResult{Found: catalog.FoundNothing, Key: "key", Reason: "no books"}, nil
		}).Maybe()
	h.OnActivity(a.Conclude, mock.Anything, mock.Anything).Return(
		func(_ context.Context, in activities.ConcludeInput) (activities.ReconcileResult, error) {
			if h.conclude != nil {
				return h.conclude(in)
			}
			return activities.ReconcileResult{Found: in.Finding, Key: "key", Result: activities.CallResult{Result: in.Result}}, nil
		}).Maybe()
	h.OnActivity(a.Archive, mock.Anything, mock.Anything).Return(
		func(ctx context.Context, _ activities.ArchiveInput) (activities.ArchiveResult, error) {
			var cursor int64
			h.between(ctx, func() { cursor = h.state().Cursor })
			return activities.ArchiveResult{Archive: contract.Ref{Digest: "sha256:archive", Size: 1}, Cursor: cursor}, nil
		}).Maybe()
	h.OnActivity(a.Admit, mock.Anything, mock.Anything).Return(
		func(_ context.Context, start contract.Start) error {
			if h.admit != nil {
				return h.admit()
			}
			return temporal.NewApplicationError("the worker has no agent "+start.Agent, contract.ErrUnknownAgent)
		}).Maybe()
	return h
}

// between has an activity, which is no part of the workflow, do something between two
// steps of that. On a busy machine it waits long for one, and says that it is alive.
func (h *harness) between(ctx context.Context, do func()) {
	done := make(chan struct{})
	h.at(0, func() {
		do()
		close(done)
	})
	for {
		select {
		case <-done:
			return
		case <-time.After(time.Second):
			activity.RecordHeartbeat(ctx)
		}
	}
}

// answer is a step in which the model has the last word.
func answer(text string) step {
	return func(activities.ModelTurnInput) (activities.ModelTurnResult, error) {
		return activities.ModelTurnResult{Text: text, Stop: activities.StopEnd}, nil
	}
}

// calling is a step in which the model asks for calls, given as "tool" for a
// read and "tool!" for a write that needs approval.
func calling(tools ...string) step {
	return func(in activities.ModelTurnInput) (activities.ModelTurnResult, error) {
		result := activities.ModelTurnResult{Stop: activities.StopCalls, Usage: contract.Usage{InputTokens: 10, OutputTokens: 5}}
		for i, tool := range tools {
			planned := activities.PlannedCall{
				Call: contract.Call{ID: fmt.Sprintf("%s-s%d-c%d", in.Turn, in.Step, i+1), Tool: tool, Input: json.RawMessage(`{"n":1}`)},
				Plan: catalog.Plan{Tool: tool, Operation: catalog.Read, DescriptorDigest: "d-" + tool, InputDigest: "i"},
			}
			if name, write := trimmed(tool); write {
				planned.Tool, planned.Plan.Tool = name, name
				planned.Plan.Operation, planned.Plan.NeedsApproval = catalog.Write, true
				planned.Plan.Reason, planned.Plan.Preview = "it is a write", json.RawMessage(`{"n":1}`)
			}
			result.Calls = append(result.Calls, planned)
		}
		return result, nil
	}
}

func trimmed(tool string) (string, bool) {
	if n := len(tool) - 1; tool[n] == '!' {
		return tool[:n], true
	}
	return tool, false
}

// failing is a step in which the model gives no reply.
func failing(err error) step {
	return func(activities.ModelTurnInput) (activities.ModelTurnResult, error) {
		return activities.ModelTurnResult{}, err
	}
}

// at does something at a time after the start.
func (h *harness) at(d time.Duration, do func()) { h.RegisterDelayedCallback(do, d) }

// submit sends a message and fails the test if it is refused.
// dropsNoWrite has a write that was begun go on when its turn is cancelled, as it does on
// a server: the test environment drops it like one that was not begun.
func (h *harness) dropsNoWrite() {
	h.OnGetVersion("withdraw-write", workflow.DefaultVersion, workflow.Version(1)).Return(workflow.DefaultVersion)
	h.OnGetVersion(mock.Anything, workflow.DefaultVersion, workflow.Version(1)).Return(workflow.Version(1))
}

func (h *harness) submit(id, text string) {
	h.update(contract.UpdateSubmit, contract.Submission{ID: id, Text: text}, nil)
}

// update sends an update and checks how it is taken: refused with the type of
// error wanted, or accepted where that is nil.
func (h *harness) update(name string, arg any, refused func(error)) {
	h.t.Helper()
	h.UpdateWorkflow(name, "", &testsuite.TestUpdateCallback{
		OnAccept: func() {},
		OnReject: func(err error) {
			if refused == nil {
				h.t.Errorf("update %s was refused: %v", name, err)
				return
			}
			refused(err)
		},
		OnComplete: func(_ any, err error) {
			if err != nil {
				h.t.Errorf("update %s failed: %v", name, err)
			}
		},
	}, arg)
}

func (h *harness) close() { h.SignalWorkflow(contract.SignalClose, contract.Close{Reason: "done"}) }

// decide answers the nth approval that waits.
func (h *harness) decide(n int, verdict contract.Verdict) {
	pending := h.state().Pending
	if len(pending) <= n {
		h.t.Errorf("%d approvals wait, want more than %d", len(pending), n)
		return
	}
	h.SignalWorkflow(contract.SignalApproval, contract.Decision{
		Approval: pending[n].ID, Digest: pending[n].Digest, Verdict: verdict, By: "bob", Comment: "because",
	})
}

func (h *harness) run() { h.ExecuteWorkflow(contract.WorkflowType, workflows.Input{Start: start}) }

func (h *harness) state() contract.State {
	return query[contract.State](h, contract.QueryState)
}

func (h *harness) messages() []contract.Message {
	return query[contract.TranscriptPage](h, contract.QueryTranscript, contract.TranscriptQuery{}).Messages
}

func (h *harness) parts() []contract.Part {
	return query[contract.TimelinePage](h, contract.QueryTimeline, contract.TimelineQuery{}).Parts
}

func (h *harness) part(id string) contract.Part {
	h.t.Helper()
	for _, p := range h.parts() {
		if p.ID == id {
			return p
		}
	}
	h.t.Fatalf("the timeline has no part %s", id)
	return contract.Part{}
}

func query[T any](h *harness, name string, args ...any) T {
	h.t.Helper()
	var value T
	encoded, err := h.QueryWorkflow(name, args...)
	if err != nil {
		h.t.Fatalf("query %s: %v", name, err)
	}
	if err := encoded.Get(&value); err != nil {
		h.t.Fatalf("query %s: %v", name, err)
	}
	return value
}
