package workflows_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// unknown is how a write ends that may have been applied.
func unknown(in activities.WriteInput) (activities.CallResult, error) {
	return activities.CallResult{ID: in.Call.ID, Problem: &contract.Problem{
		Code: contract.CodeOutcomeUnknown, Message: "http_500: no. The call may or may not have been applied: do not repeat it; find out, or tell the user",
	}}, nil
}

// writing is a step in which the model asks for writes that need no approval, each
// given as tool and resource.
func writing(calls ...string) step {
	return func(in activities.ModelTurnInput) (activities.ModelTurnResult, error) {
		result, err := calling(calls...)(in)
		for i := range result.Calls {
			tool, resource, _ := strings.Cut(calls[i], " ")
			c := &result.Calls[i]
			c.Tool, c.Plan.Tool, c.Plan.Operation, c.Plan.ResourceKey = tool, tool, catalog.Write, resource
			c.Plan.InputDigest = fmt.Sprint("i", i)
		}
		return result, err
	}
}

// codes are what the calls of the thread ended with.
func (h *harness) codes() map[string]string {
	codes := map[string]string{}
	for _, m := range h.messages() {
		if m.Role == contract.RoleTool {
			codes[m.Call] = m.Text
			if m.Problem != nil {
				codes[m.Call] = m.Problem.Code
			}
		}
	}
	return codes
}

func (h *harness) wantCodes(want map[string]string) {
	h.t.Helper()
	got, _ := json.Marshal(h.codes())
	wanted, _ := json.Marshal(want)
	if string(got) != string(wanted) {
		h.t.Errorf("calls ended with %s, want %s", got, wanted)
	}
}

func (h *harness) say(id string, finding contract.Finding, result string) {
	h.SignalWorkflow(contract.SignalReconcile, contract.Reconcile{Reconciliation: id, Finding: finding, Result: json.RawMessage(result), By: "bob"})
}

// What became of a write is looked up within the rules of the message.
func TestLookUpWithinTheRulesOfTheMessage(t *testing.T) {
	h := newHarness(t, writing("orders.refund"), answer("done"))
	h.write = unknown
	rules := []contract.Rule{{Tools: []string{"orders.get"}, Effect: "block"}}
	h.reconcile = func(in activities.ReconcileInput) (activities.ReconcileResult, error) {
		if len(in.Thread.PromptPolicy) != 1 || in.Thread.PromptPolicy[0].Effect != "block" {
			t.Errorf("the rules of the message are %v", in.Thread.PromptPolicy)
		}
		return activities.ReconcileResult{Found: catalog.FoundApplied, Result: activities.CallResult{Result: json.RawMessage(`1`)}}, nil
	}
	h.at(0, func() { h.update(contract.UpdateSubmit, contract.Submission{ID: "s1", Text: "do", Policy: rules}, nil) })
	h.at(time.Hour, func() {
		h.wantCodes(map[string]string{"t1-s1-c1": "1"})
		h.close()
	})
	h.run()
}

// While the tool of one write finds out, another write to the same resource waits, and
// goes on as if nothing had been.
func TestWriteWaitsWhileAToolFindsOut(t *testing.T) {
	h := newHarness(t, writing("orders.refund order/1", "orders.close order/1", "orders.note"), answer("done"))
	h.write = func(in activities.WriteInput) (activities.CallResult, error) {
		if in.Call.Tool == "orders.refund" {
			return unknown(in)
		}
		return activities.CallResult{ID: in.Call.ID, Result: json.RawMessage(`"` + in.Call.Tool + `"`)}, nil
	}
	asked := 0
	h.reconcile = func(in activities.ReconcileInput) (activities.ReconcileResult, error) {
		if asked++; asked < 3 {
			return activities.ReconcileResult{}, errors.New("the target is away")
		}
		return activities.ReconcileResult{Found: catalog.FoundApplied, Result: activities.CallResult{Result: json.RawMessage(`"found"`)}}, nil
	}
	h.at(time.Minute, func() { h.submit("m1", "go") })
	h.at(time.Hour, h.close)
	h.run()
	h.wantCodes(map[string]string{"t1-s1-c1": `"found"`, "t1-s1-c2": `"orders.close"`, "t1-s1-c3": `"orders.note"`})
	if order := []string{h.writes[1].Call.Tool, h.writes[2].Call.Tool}; order[0] != "orders.note" || order[1] != "orders.close" {
		t.Errorf("order of writes %v: the one that has nothing to do with it comes first", order)
	}
	if p := h.part("t1-s1-c1-r"); p.Status != contract.PartDone || !strings.HasPrefix(p.Title, "Applied: ") {
		t.Errorf("part %+v", p)
	}
}

// A turn is cancelled while its write is under way, whose outcome then is unknown: the
// call ends, the reconciliation goes on, and nobody is forgotten.
func TestCancelledWriteOfUnknownOutcome(t *testing.T) {
	h := newHarness(t, writing("orders.refund order/1"), writing("orders.close order/1"), answer("done"))
	h.dropsNoWrite()
	h.write = func(in activities.WriteInput) (activities.CallResult, error) {
		h.SignalWorkflow(contract.SignalCancelTurn, contract.CancelTurn{Turn: "t1"})
		return unknown(in)
	}
	h.at(time.Minute, func() { h.submit("m1", "go") })
	h.at(2*time.Minute, func() {
		state := h.state()
		if state.Status != contract.StatusIdle || len(state.Reconciliations) != 1 || !state.Reconciliations[0].Left || state.Reconciliations[0].ExpiresAt != nil {
			t.Errorf("state %+v", state)
		}
		h.submit("m2", "again")
	})
	h.at(3*time.Minute, func() { h.say("t1-s1-c1-r", contract.FindingNotApplied, "") })
	h.at(4*time.Minute, func() {
		if open := h.state().Reconciliations; len(open) != 0 {
			t.Errorf("open %+v", open)
		}
	})
	h.at(time.Hour, h.close)
	h.run()
	h.wantCodes(map[string]string{"t1-s1-c1": contract.CodeOutcomeUnknown, "t2-s1-c1": contract.CodeReconciliationOpen})
	if len(h.writes) != 1 {
		t.Errorf("%d writes", len(h.writes))
	}
}

// A person finds that nothing was applied; the second attempt is of unknown outcome
// too, and is another reconciliation.
func TestWriteThatIsUnknownTwice(t *testing.T) {
	h := newHarness(t, writing("orders.refund"), answer("done"))
	h.write = unknown
	h.at(time.Minute, func() { h.submit("m1", "go") })
	h.at(2*time.Minute, func() {
		h.say("t1-s1-c1-r", contract.FindingNotApplied, "")
		h.say("t1-s1-c1-r", contract.FindingNotApplied, "")
		h.say("t1-s1-c1-r", contract.FindingApplied, "")
	})
	h.at(3*time.Minute, func() { h.say("t1-s1-c1-r2", contract.FindingApplied, `{"refund":1}`) })
	h.at(time.Hour, h.close)
	h.run()
	h.wantCodes(map[string]string{"t1-s1-c1": `{"refund":1}`})
	if len(h.writes) != 2 || h.writes[1].Attempt != 2 || h.writes[1].Again {
		t.Errorf("writes %+v", h.writes)
	}
	refused := 0
	for _, p := range h.parts() {
		if p.Kind == contract.KindError && p.Problem.Code == contract.ErrAlreadyDecided {
			refused++
		}
	}
	if refused != 1 {
		t.Errorf("%d refused answers, want 1", refused)
	}
}

// With so many open reconciliations the thread makes no further write.
func TestTooManyReconciliations(t *testing.T) {
	var calls []string
	for i := range contract.MaxReconciliations {
		calls = append(calls, fmt.Sprintf("orders.refund order/%d", i))
	}
	h := newHarness(t, writing(calls...), writing("orders.note"), answer("done"))
	h.write = unknown
	h.at(time.Minute, func() { h.submit("m1", "go") })
	h.at(2*time.Minute, func() {
		h.SignalWorkflow(contract.SignalCancelTurn, contract.CancelTurn{Turn: "t1"})
		h.submit("m2", "note")
	})
	h.at(3*time.Minute, func() {
		if state := h.state(); len(state.Reconciliations) != contract.MaxReconciliations {
			t.Errorf("%d reconciliations", len(state.Reconciliations))
		}
	})
	h.at(time.Hour, h.close)
	h.run()
	if code := h.codes()["t2-s1-c1"]; code != contract.CodeReconciliationOpen || len(h.writes) != contract.MaxReconciliations {
		t.Errorf("the write ended with %s, %d were made", code, len(h.writes))
	}
}

// Open reconciliations go on in the next run, in little space, and can be answered
// there.
func TestReconciliationsAreCarried(t *testing.T) {
	var calls []string
	for i := range contract.MaxReconciliations {
		calls = append(calls, fmt.Sprintf("orders.refund order/%d/%s", i, strings.Repeat("x", catalog.MaxResourceKey-16)))
	}
	h := newHarness(t, writing(calls...))
	h.write = unknown
	h.at(time.Minute, func() { h.submit("m1", "go") })
	h.at(2*time.Minute, func() { h.SignalWorkflow(contract.SignalCancelTurn, contract.CancelTurn{Turn: "t1"}) })
	h.at(3*time.Minute, func() {
		h.SetContinueAsNewSuggested(true)
		// Answered while the run gives way: not applied needs no more of this run.
		h.say("t1-s1-c1-r", contract.FindingNotApplied, "")
	})
	in := h.next()
	carried := in.Carried.Reconciliations
	if len(carried) < contract.MaxReconciliations-1 || !carried[len(carried)-1].Left {
		t.Errorf("%d reconciliations are carried", len(carried))
	}
	encoded, err := json.Marshal(in)
	if err != nil || len(encoded) > 32<<10 {
		t.Errorf("the next run is given %d bytes (%v)", len(encoded), err)
	}
}

// The tool cannot be asked in its time: then a person is, and may be wrong about what
// the claim knows.
func TestClaimIsBetterThanAPerson(t *testing.T) {
	h := newHarness(t, writing("orders.refund"), answer("done"))
	h.write = unknown
	h.reconcile = func(activities.ReconcileInput) (activities.ReconcileResult, error) {
		return activities.ReconcileResult{}, errors.New("the target is away")
	}
	h.conclude = func(activities.ConcludeInput) (activities.ReconcileResult, error) {
		return activities.ReconcileResult{Found: catalog.FoundApplied, Result: activities.CallResult{Result: json.RawMessage(`"recorded"`)}}, nil
	}
	h.at(time.Minute, func() { h.submit("m1", "go") })
	h.at(30*time.Minute, func() {
		open := h.state().Reconciliations
		if len(open) != 1 || !strings.Contains(open[0].Reason, "the target is away") || strings.Contains(open[0].Reason, "do not repeat") {
			t.Errorf("open %+v", open)
		}
		h.say("t1-s1-c1-r", contract.FindingNotApplied, "")
	})
	h.at(time.Hour, h.close)
	h.run()
	h.wantCodes(map[string]string{"t1-s1-c1": `"recorded"`})
}
