package workflows_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/sdk/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
	"github.com/heddle-dev/heddle/workflows"
)

// previewing is a step that asks for so many writes, each with a preview whose
// characters take six bytes each in JSON.
func previewing(n int) step {
	return func(in activities.ModelTurnInput) (activities.ModelTurnResult, error) {
		result, err := calling(strings.Fields(strings.Repeat("pay! ", n))...)(in)
		for i := range result.Calls {
			result.Calls[i].Plan.Preview = json.RawMessage(`{"html":"` + strings.Repeat("<", 4000) + `"}`)
		}
		return result, err
	}
}

// What answers a query stays under what the server lets pass, whatever is asked.
func TestAnswersToQueriesAreBounded(t *testing.T) {
	const limit = 2 << 20
	const writes = 95
	h := newHarness(t, previewing(writes), answer(strings.Repeat("\x01", contract.MaxText)))
	h.at(time.Second, func() { h.submit("m1", strings.Repeat("&", contract.MaxText)) })
	h.at(time.Minute, func() {
		for name, arg := range map[string]any{
			contract.QueryState: nil, contract.QueryQueue: nil, contract.QueryCalls: contract.CallsQuery{},
			contract.QueryTimeline: contract.TimelineQuery{}, contract.QueryTranscript: contract.TranscriptQuery{},
		} {
			var args []any
			if arg != nil {
				args = []any{arg}
			}
			if size := len(query[json.RawMessage](h, name, args...)); size > limit {
				t.Errorf("query %s answers with %d bytes", name, size)
			}
		}
		if details := currentDetails(h); len(details) > 20_000 || len(details) < 1000 {
			t.Errorf("the current details are %d bytes long", len(details))
		}
		if n := len(h.state().Pending); n != writes {
			t.Errorf("%d approvals wait, want %d", n, writes)
		}
		seen := map[string]bool{}
		for after, more := int64(0), true; more; {
			page := query[contract.TimelinePage](h, contract.QueryTimeline, contract.TimelineQuery{After: after})
			for _, p := range page.Parts {
				seen[p.ID] = true
			}
			after, more = page.Cursor, page.More
		}
		if !seen["t1-s1-c1-a"] || !seen[fmt.Sprintf("t1-s1-c%d-a", writes)] {
			t.Error("paging through the timeline misses parts")
		}
		h.SignalWorkflow(contract.SignalCancelTurn, contract.CancelTurn{})
	})
	h.at(2*time.Minute, h.close)
	h.run()
	if err := h.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
}

func TestQueriesRefuseWhatIsNoRange(t *testing.T) {
	h := newHarness(t)
	h.at(time.Second, func() {
		for name, arg := range map[string]any{
			contract.QueryTimeline: contract.TimelineQuery{After: -1}, contract.QueryTranscript: contract.TranscriptQuery{From: -1},
		} {
			if _, err := h.QueryWorkflow(name, arg); err == nil {
				t.Errorf("query %s takes %+v", name, arg)
			}
		}
		h.close()
	})
	h.run()
}

// A starter cannot slip in what only the run before may leave.
func TestCarriedNeedsARunBefore(t *testing.T) {
	h := newHarness(t, answer("hi"))
	h.at(time.Second, func() { h.submit("m1", "hello") })
	h.at(time.Minute, h.close)
	h.ExecuteWorkflow(contract.WorkflowType, workflows.Input{Start: start, Carried: &workflows.Carried{
		Runs: 7, Length: 5, Current: &workflows.CarriedTurn{},
	}})
	if err := h.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	if state := h.state(); state.Runs != 1 || state.Messages != 2 {
		t.Errorf("state = %+v", state)
	}
}

func TestWorkflowIDMustBeTheThreads(t *testing.T) {
	h := newHarness(t)
	h.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: "thread/other/t"})
	h.at(time.Second, func() {
		h.update(contract.UpdateSubmit, contract.Submission{ID: "m1", Text: "hi"}, wantRefusal(t, contract.ErrInvalid, "thread/acme/t"))
		h.close()
	})
	h.run()
}

// Clients in other languages may set search attributes as lists. The server takes
// them, and so does the thread.
func TestSearchAttributesInAnotherForm(t *testing.T) {
	h := newHarness(t, answer("hi"))
	//lint:ignore SA1019 it is the untyped form that is tested
	err := h.SetSearchAttributesOnStart(map[string]any{
		contract.AttributeTenant: []string{"acme"}, contract.AttributeAgent: []string{"support"}, contract.AttributeStatus: []string{"active"},
	})
	if err != nil {
		t.Fatal(err)
	}
	h.at(time.Second, func() { h.submit("m1", "hello") })
	h.at(time.Minute, h.close)
	h.run()
	if err := h.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
}

// While a configuration with a new agent is rolled out, some workers have it and
// some do not.
func TestAnotherWorkerMayHaveTheAgent(t *testing.T) {
	h := newHarness(t, answer("hi"))
	asked := 0
	h.admit = func() error {
		if asked++; asked < 3 {
			return temporal.NewApplicationError("not here", contract.ErrUnknownAgent)
		}
		return nil
	}
	rolledOut := start
	rolledOut.Agent = "brand-new"
	h.at(0, func() {
		h.update(contract.UpdateSubmit, contract.Submission{ID: "m1", Text: "hi"}, wantRefusal(t, contract.ErrUnknownAgent, "brand-new"))
	})
	h.at(30*time.Second, func() { h.submit("m1", "hi") })
	h.at(time.Minute, h.close)
	h.ExecuteWorkflow(contract.WorkflowType, rolledOut)
	if err := h.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	if asked != 3 || h.state().Recent[0].Status != contract.StatusCompleted {
		t.Errorf("%d workers were asked; state = %+v", asked, h.state())
	}
}

// A write that no worker began is made by the next; one whose worker was lost is
// not.
func TestWritesThatWereNotSentAreScheduledAgain(t *testing.T) {
	for _, test := range []struct {
		name   string
		err    error
		writes int
		code   string
	}{
		{"the claim could not be made", temporal.NewApplicationError("gone", activities.ErrTypeNotSent), 2, ""},
		{"the worker had lost the agent", temporal.NewApplicationError("gone", contract.ErrUnknownAgent), 2, ""},
		{"nobody knows", temporal.NewNonRetryableApplicationError("result too large", "TMPRL1103", errors.New("late")), 1, contract.CodeOutcomeUnknown},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHarness(t, calling("pay!"), answer("done"))
			h.write = func(in activities.WriteInput) (activities.CallResult, error) {
				if len(h.writes) == 1 {
					return activities.CallResult{}, test.err
				}
				return activities.CallResult{ID: in.Call.ID, Result: json.RawMessage(`1`)}, nil
			}
			h.at(time.Second, func() { h.submit("m1", "pay") })
			h.at(time.Minute, func() { h.decide(0, contract.Approve) })
			h.at(time.Hour, h.close)
			h.run()
			told := h.messages()[2]
			if writes := len(h.writes); writes != test.writes || (told.Problem == nil) != (test.code == "") || told.Problem != nil && told.Problem.Code != test.code {
				t.Errorf("%d writes; the agent was told %+v", writes, told)
			}
		})
	}
}

// Once a write may have been applied, a later attempt that fails says nothing of
// the first: the agent is told what is known, that nobody knows.
func TestUnknownOutcomeOutlivesLaterFailures(t *testing.T) {
	unknown := activities.CallResult{Problem: &contract.Problem{Code: contract.CodeOutcomeUnknown, Message: "cut off"}}
	unreached := activities.CallResult{NotSent: true, Problem: &contract.Problem{Code: catalog.CodeToolFailed, Message: "connection refused"}}
	refused := activities.CallResult{Problem: &contract.Problem{Code: catalog.CodeToolFailed, Message: "409"}}
	applied := activities.CallResult{Result: json.RawMessage(`1`)}
	for _, test := range []struct {
		name   string
		come   []activities.CallResult // the last one from then on
		writes int
		code   string
	}{
		{"the target cannot be reached", []activities.CallResult{unknown, unreached}, 5, contract.CodeOutcomeUnknown},
		{"the target refuses", []activities.CallResult{unknown, refused}, 2, contract.CodeOutcomeUnknown},
		{"it is unknown each time", []activities.CallResult{unknown}, 5, contract.CodeOutcomeUnknown},
		{"it is applied in the end", []activities.CallResult{unknown, unreached, applied}, 3, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			keyed := func(in activities.ModelTurnInput) (activities.ModelTurnResult, error) {
				result, err := calling("pay!")(in)
				result.Calls[0].Plan.HonoursKeys = true
				return result, err
			}
			h := newHarness(t, keyed, answer("done"))
			h.write = func(in activities.WriteInput) (activities.CallResult, error) {
				n := len(h.writes)
				if in.Again != (n > 1) {
					t.Errorf("attempt %d: again is %t", n, in.Again)
				}
				result := test.come[min(n, len(test.come))-1]
				result.ID = in.Call.ID
				return result, nil
			}
			h.at(time.Second, func() { h.submit("m1", "pay") })
			h.at(time.Minute, func() { h.decide(0, contract.Approve) })
			h.at(time.Hour, h.close)
			h.run()
			told := h.messages()[2]
			if writes := len(h.writes); writes != test.writes || (told.Problem == nil) != (test.code == "") || told.Problem != nil && told.Problem.Code != test.code {
				t.Errorf("%d writes; the agent was told %+v", writes, told)
			}
		})
	}
}

func currentDetails(h *harness) string {
	h.t.Helper()
	return detailsOf(h.TestWorkflowEnvironment, h.t)
}

// detailsOf are the current details of the workflow of an environment.
func detailsOf(env *testsuite.TestWorkflowEnvironment, t *testing.T) string {
	t.Helper()
	encoded, err := env.QueryWorkflow("__temporal_workflow_metadata")
	if err != nil {
		t.Fatal(err)
	}
	var metadata sdk.WorkflowMetadata
	if err := encoded.Get(&metadata); err != nil {
		t.Fatal(err)
	}
	return metadata.GetCurrentDetails()
}

// A turn that is cancelled while a write is under way whose outcome is then unknown
// leaves the finding out to the thread, which goes on.
func TestCancelledTurnLeavesAnUnknownWriteToTheThread(t *testing.T) {
	h := newHarness(t, calling("pay!"), answer("next"))
	h.dropsNoWrite()
	h.write = func(in activities.WriteInput) (activities.CallResult, error) {
		h.SignalWorkflow(contract.SignalCancelTurn, contract.CancelTurn{Reason: "enough"})
		return activities.CallResult{ID: in.Call.ID, Problem: &contract.Problem{Code: contract.CodeOutcomeUnknown, Message: "cut off"}}, nil
	}
	h.at(time.Second, func() { h.submit("m1", "pay") })
	h.at(time.Minute, func() { h.decide(0, contract.Approve) })
	h.at(2*time.Minute, func() { h.submit("m2", "and now?") })
	h.at(time.Hour, h.close)
	h.run()
	recent := h.state().Recent
	if len(recent) != 2 || recent[0].Status != contract.StatusCancelled || recent[1].Status != contract.StatusCompleted {
		t.Errorf("the turns ended as %+v", recent)
	}
	if r := h.part("t1-s1-c1-r"); r.Kind != contract.KindReconciliation || !r.Reconciliation.Left {
		t.Errorf("the reconciliation is %+v", r)
	}
}
