package workflows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// freely is a step with writes that nobody is asked about.
func freely(tools ...string) step {
	return asked(func(p *catalog.Plan) { p.NeedsApproval = false }, tools...)
}

// undoBy has each write say how it is undone, and each undo planned as a write that
// nobody is asked about.
func (h *harness) undoBy(write func(activities.WriteInput) activities.CallResult) {
	h.write = func(in activities.WriteInput) (activities.CallResult, error) {
		result := write(in)
		result.ID = in.Call.ID
		if result.Problem == nil && result.Undo == nil && !strings.HasPrefix(in.Call.Tool, "un") {
			result.Undo = &catalog.Undo{Tool: "un" + in.Call.Tool, Input: json.RawMessage(fmt.Sprintf(`{"of":%q}`, in.Call.ID))}
		}
		return result, nil
	}
	var a *activities.Activities
	h.OnActivity(a.Reconcile, mock.Anything, mock.Anything).Return(activities.ReconcileResult{Found: catalog.FoundNothing}, nil)
	h.replanned(func(in activities.ReplanInput) activities.PlannedCall {
		planned := planOf(in)
		planned.Plan.NeedsApproval = false
		return planned
	})
}

func (h *harness) written() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var tools []string
	for _, in := range h.writes {
		tools = append(tools, in.Call.Tool)
	}
	return strings.Join(tools, " ")
}

func (h *harness) undo(id, turn string) {
	h.SignalWorkflow(contract.SignalSubmit, contract.Submission{ID: id, Text: turn, Run: contract.RunUndo})
}

// abandon has nobody find out what became of a call.
func (h *harness) abandon(call string) {
	h.SignalWorkflow(contract.SignalReconcile, contract.Reconcile{Reconciliation: call + "-r", Finding: contract.FindingAbandoned, By: "bob"})
}

func done(activities.WriteInput) activities.CallResult {
	return activities.CallResult{Result: json.RawMessage(`1`)}
}

// ended is how a turn that has ended did so.
func (h *harness) ended(id string) contract.Turn {
	h.t.Helper()
	for _, turn := range h.state().Recent {
		if turn.ID == id {
			return turn
		}
	}
	h.t.Fatalf("turn %s has not ended", id)
	return contract.Turn{}
}

// The writes of a turn are undone in reverse order, once.
func TestTurnIsUndoneInReverse(t *testing.T) {
	h := newHarness(t, freely("a", "b"), calling("look"), freely("c"), answer("done"), freely("d"), answer("other"))
	h.undoBy(done)
	h.at(0, func() { h.submit("s1", "do") })
	h.at(time.Minute, func() { h.submit("s2", "do more") })
	h.at(2*time.Minute, func() { h.undo("undo-t1", "t1") })
	h.at(3*time.Minute, func() { h.undo("undo-t1", "t1"); h.undo("again", "t1") })
	h.at(4*time.Minute, func() {
		if written := h.written(); written != "a b c d unc unb una" {
			t.Errorf("written %q", written)
		}
		undo, again := h.ended("t3"), h.ended("t4")
		if undo.Status != contract.StatusCompleted || undo.Answer != "Undone: c (t1-s3-c1), b (t1-s1-c2), a (t1-s1-c1)." || again.Answer != undo.Answer {
			t.Errorf("the undo %+v, problem %v; again %+v", undo, undo.Problem, again)
		}
		if p := h.part("t3-u1"); p.Undoes != "t1-s3-c1" || p.Tool != "unc" || p.Status != contract.PartDone || p.Turn != "t3" {
			t.Errorf("the part of the undo %+v", p)
		}
		messages := h.messages()
		if last := messages[len(messages)-2:]; last[0].Text != "Undo what you did in turn t1." || last[1].Role != contract.RoleAssistant {
			t.Errorf("the transcript ends with %+v", last)
		}
		h.close()
	})
	h.run()
	if len(h.models) != 6 {
		t.Errorf("the model was asked %d times", len(h.models))
	}
}

// What cannot be undone is said, and does not keep the rest from being undone.
func TestUndoSaysWhatIsNotUndone(t *testing.T) {
	h := newHarness(t, freely("a", "b", "c", "d"), answer("done"))
	h.undoBy(func(in activities.WriteInput) activities.CallResult {
		switch in.Call.Tool {
		case "b":
			return activities.CallResult{Result: json.RawMessage(`1`), Undo: &catalog.Undo{Reason: "it is sealed"}}
		case "c":
			return activities.CallResult{Problem: &contract.Problem{Code: contract.CodeOutcomeUnknown}}
		case "d":
			return activities.CallResult{Problem: &contract.Problem{Code: "closed"}} // not applied: nothing to undo
		}
		return done(in)
	})
	h.at(0, func() { h.submit("s1", "do") })
	h.at(30*time.Second, func() { h.abandon("t1-s1-c3") })
	h.at(time.Minute, func() { h.undo("u", "t1") })
	h.at(2*time.Minute, func() {
		const want = "Undone: a (t1-s1-c1). Not undone: c (t1-s1-c3): it may or may not have been applied; b (t1-s1-c2): it is sealed."
		if undo := h.ended("t2"); undo.Status != contract.StatusCompleted || undo.Answer != want {
			t.Errorf("the undo %+v, problem %v", undo, undo.Problem)
		}
		h.close()
	})
	h.run()
}

// An undo that fails stops there and says so; asked for anew, it goes on.
func TestFailedUndoStops(t *testing.T) {
	for name, test := range map[string]struct {
		code    string
		written string
		answer  string
	}{
		"not applied": {
			code: "closed", written: "a b c unc unb unb una", answer: "Undone: c (t1-s1-c3), b (t1-s1-c2), a (t1-s1-c1).",
		},
		"unknown": {
			code: contract.CodeOutcomeUnknown, written: "a b c unc unb una",
			answer: "Undone: c (t1-s1-c3), a (t1-s1-c1). Not undone: b (t1-s1-c2): its undo may or may not have been applied.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, freely("a", "b", "c"), answer("done"))
			failed := false
			h.undoBy(func(in activities.WriteInput) activities.CallResult {
				if in.Call.Tool == "unb" && !failed {
					failed = true
					return activities.CallResult{Problem: &contract.Problem{Code: test.code, Message: "no"}}
				}
				return done(in)
			})
			h.at(0, func() { h.submit("s1", "do") })
			h.at(time.Minute, func() { h.undo("u1", "t1") })
			if test.code == contract.CodeOutcomeUnknown {
				h.at(90*time.Second, func() { h.abandon("t2-u2") })
			}
			h.at(2*time.Minute, func() {
				undo := h.ended("t2")
				if undo.Status != contract.StatusFailed || undo.Problem == nil || undo.Problem.Code != test.code ||
					!strings.HasPrefix(undo.Answer, "Undone: c (t1-s1-c3). Not undone: ") ||
					!strings.HasSuffix(undo.Answer, "Stopped: the undo of b (call t1-s1-c2) by unb: no") {
					t.Errorf("the undo %+v, problem %+v", undo, undo.Problem)
				}
				h.undo("u2", "t1")
			})
			h.at(3*time.Minute, func() {
				if undo := h.ended("t3"); undo.Status != contract.StatusCompleted || undo.Answer != test.answer {
					t.Errorf("the second undo %+v, problem %v", undo, undo.Problem)
				}
				h.close()
			})
			h.run()
			if written := h.written(); written != test.written {
				t.Errorf("written %q, want %q", written, test.written)
			}
		})
	}
}

// An undo is an approved write like any other.
func TestUndoIsApproved(t *testing.T) {
	h := newHarness(t, freely("a", "b"), answer("done"))
	h.replanned(planOf)
	h.undoBy(done)
	h.at(0, func() { h.submit("s1", "do") })
	h.at(time.Minute, func() { h.undo("u", "t1") })
	h.at(2*time.Minute, func() { h.decide(0, contract.Approve) })
	h.at(3*time.Minute, func() { h.decide(0, contract.Deny) })
	h.at(4*time.Minute, func() {
		if undo := h.ended("t2"); undo.Status != contract.StatusFailed || undo.Problem.Code != contract.CodeApprovalDenied {
			t.Errorf("the undo %+v, problem %+v", undo, undo.Problem)
		}
		h.close()
	})
	h.run()
	if written := h.written(); written != "a b unb" {
		t.Errorf("written %q", written)
	}
}

// A turn that is cancelled with undo is undone before the messages that wait.
func TestCancelledTurnIsUndone(t *testing.T) {
	h := newHarness(t, freely("a"), calling("b!"), answer("next"))
	h.undoBy(done)
	h.at(0, func() { h.submit("s1", "do"); h.submit("s2", "wait") })
	h.at(time.Minute, func() { h.SignalWorkflow(contract.SignalCancelTurn, contract.CancelTurn{Undo: true}) })
	h.at(2*time.Minute, func() { h.undo(contract.UndoID("t1"), "t1") }) // it is undone already
	h.at(3*time.Minute, func() {
		if undo := h.ended("t3"); undo.Status != contract.StatusCompleted || undo.Answer != "Undone: a (t1-s1-c1)." {
			t.Errorf("the undo %+v, problem %v", undo, undo.Problem)
		}
		var order []string
		for _, turn := range h.state().Recent {
			order = append(order, turn.ID)
		}
		if got := strings.Join(order, " "); got != "t1 t3 t2" {
			t.Errorf("the turns ended in the order %s", got)
		}
		h.close()
	})
	h.run()
	if written := h.written(); written != "a una" {
		t.Errorf("written %q", written)
	}
}

// A write whose undo can never be made is left, and those before it are undone.
func TestUndoThatDoesNotFit(t *testing.T) {
	h := newHarness(t, freely("a", "b", "c", "d"), answer("done"))
	h.replanned(func(in activities.ReplanInput) activities.PlannedCall {
		planned := planOf(in)
		planned.Plan.NeedsApproval = false
		switch in.Tool {
		case "unb":
			return activities.PlannedCall{Call: planned.Call, Problem: &contract.Problem{Code: catalog.CodeInvalidInput, Message: "/id is null"}}
		case "unc":
			planned.Plan.Operation = catalog.Read
		}
		return planned
	})
	h.undoBy(done)
	h.at(0, func() { h.submit("s1", "do") })
	h.at(time.Minute, func() { h.undo("u", "t1") })
	h.at(2*time.Minute, func() {
		const want = "Undone: d (t1-s1-c4), a (t1-s1-c1). Not undone: c (t1-s1-c3): unc cannot undo it: it is no tool that writes; " +
			"b (t1-s1-c2): unb cannot undo it: /id is null."
		if undo := h.ended("t2"); undo.Status != contract.StatusCompleted || undo.Answer != want {
			t.Errorf("the undo %+v, problem %v", undo, undo.Problem)
		}
		h.close()
	})
	h.run()
	if written := h.written(); written != "a b c d und una" {
		t.Errorf("written %q", written)
	}
}

// The approvals of an undo expire when the agent's limits say so.
func TestUndoWithinTheLimitsOfTheAgent(t *testing.T) {
	h := newHarness(t, freely("a"), answer("done"))
	var a *activities.Activities
	h.OnActivity(a.Replan, mock.Anything, mock.Anything).Return(
		func(_ context.Context, in activities.ReplanInput) (activities.ReplanResult, error) {
			result := activities.ReplanResult{PlannedCall: planOf(in)}
			if in.Limits {
				result.Limits = &activities.Limits{ApprovalExpiry: time.Minute}
			}
			return result, nil
		})
	h.undoBy(done)
	h.at(0, func() { h.submit("s1", "do") })
	h.at(time.Minute, func() { h.undo("u", "t1") })
	h.at(3*time.Minute, func() {
		if undo := h.ended("t2"); undo.Status != contract.StatusFailed || undo.Problem.Code != contract.CodeApprovalExpired {
			t.Errorf("the undo %+v, problem %v", undo, undo.Problem)
		}
		h.close()
	})
	h.run()
}

func TestUndoOfNoTurn(t *testing.T) {
	h := newHarness(t, answer("done"))
	h.undoBy(done)
	h.at(0, func() { h.submit("s1", "do") })
	h.at(time.Minute, func() {
		for i, turn := range []string{"t9", "x", "t0", "t01"} {
			h.undo(fmt.Sprint("u", i), turn)
		}
		h.undo("u9", "t1")
		h.update(contract.UpdateSubmit, contract.Submission{ID: "bad", Text: "no turn", Run: contract.RunUndo}, refusedAs(t, contract.ErrInvalid))
	})
	h.at(2*time.Minute, func() {
		for i := range 4 {
			if undo := h.ended(fmt.Sprint("t", i+2)); undo.Status != contract.StatusFailed || undo.Problem.Code != contract.ErrUnknownTurn {
				t.Errorf("the undo %+v, problem %+v", undo, undo.Problem)
			}
		}
		if undo := h.ended("t6"); undo.Status != contract.StatusCompleted || undo.Answer != "Nothing was undone." {
			t.Errorf("the undo of a turn without writes %+v", undo)
		}
		h.close()
	})
	h.run()
}

// A cancelled turn does not try a write again that was not sent.
func TestCancelledTurnTriesNoMore(t *testing.T) {
	h := newHarness(t, freely("a"))
	h.write = func(in activities.WriteInput) (activities.CallResult, error) {
		if len(h.writes) == 2 { // the next attempt would come after two seconds
			h.at(500*time.Millisecond, func() { h.SignalWorkflow(contract.SignalCancelTurn, contract.CancelTurn{}) })
		}
		return activities.CallResult{ID: in.Call.ID, NotSent: true, Problem: &contract.Problem{Code: "away", Message: "no"}}, nil
	}
	h.at(0, func() { h.submit("s1", "do") })
	h.at(time.Minute, func() { h.close() })
	h.run()
	if written := h.written(); written != "a a" {
		t.Errorf("written %q, want two attempts before the turn was cancelled", written)
	}
}
