package workflows_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// changing is a step in which the model asks for a write of a tool that is described
// somewhere.
func changing(in activities.ModelTurnInput) (activities.ModelTurnResult, error) {
	result, err := calling("pay!")(in)
	result.Calls[0].Described = &contract.Ref{Digest: "sha256:described", Size: 9}
	return result, err
}

// A tool that changes each time is not called, and people are not asked about it for ever.
func TestToolThatAlwaysChangesIsNotCalled(t *testing.T) {
	h := newHarness(t, changing, answer("done"))
	h.write = func(in activities.WriteInput) (activities.CallResult, error) {
		return activities.CallResult{ID: in.Call.ID, Problem: &contract.Problem{Code: catalog.CodeDescriptorChanged, Message: "it has changed"}}, nil
	}
	plans := 0
	h.replanned(func(in activities.ReplanInput) activities.PlannedCall {
		plans++
		if in.Before == nil {
			t.Errorf("plan %d is compared with nothing", plans)
		}
		planned := planOf(in)
		planned.Plan.DescriptorDigest = fmt.Sprint("d", plans)
		planned.Described, planned.Changed = &contract.Ref{Digest: fmt.Sprint("sha256:", plans), Size: 9}, "description"
		return planned
	})
	h.at(0, func() { h.submit("m1", "hi") })
	var asked []string
	for n := range 6 {
		h.at(time.Duration(n+1)*time.Minute, func() {
			asked = append(asked, h.state().Pending[0].ID)
			h.decide(0, contract.Approve)
		})
	}
	h.at(time.Hour, func() {
		if pending := h.state().Pending; len(pending) > 0 {
			t.Errorf("people are asked for %+v", pending)
		}
		h.close()
	})
	h.run()
	want := []string{"t1-s1-c1-a", "t1-s1-c1-a2", "t1-s1-c1-a3", "t1-s1-c1-a4", "t1-s1-c1-a5", "t1-s1-c1-a6"}
	if !slices.Equal(asked, want) || len(h.writes) != 6 || plans != 5 {
		t.Errorf("asked %v, with %d attempts and %d plans", asked, len(h.writes), plans)
	}
	if p := h.messages()[2].Problem; p == nil || p.Code != catalog.CodeDescriptorChanged {
		t.Errorf("the agent is told %+v", p)
	}
}

// A tool that has changed and needs nobody's consent by now is called; one that can no
// longer be planned is not.
func TestToolThatHasChanged(t *testing.T) {
	for name, c := range map[string]struct {
		plan   func(*activities.PlannedCall)
		writes int
		code   string
	}{
		"needs no consent": {func(p *activities.PlannedCall) { p.Plan.NeedsApproval = false }, 2, ""},
		"is gone": {func(p *activities.PlannedCall) {
			*p = activities.PlannedCall{Problem: &contract.Problem{Code: catalog.CodeToolNotFound, Message: "there is no such tool"}}
		}, 1, catalog.CodeToolNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, changing, answer("done"))
			h.write = func(in activities.WriteInput) (activities.CallResult, error) {
				if in.Call.DescriptorDigest != "changed" {
					return activities.CallResult{ID: in.Call.ID, Problem: &contract.Problem{Code: catalog.CodeDescriptorChanged, Message: "it has changed"}}, nil
				}
				return activities.CallResult{ID: in.Call.ID, Result: json.RawMessage(`{}`)}, nil
			}
			h.replanned(func(in activities.ReplanInput) activities.PlannedCall {
				planned := planOf(in)
				planned.Plan.DescriptorDigest = "changed"
				c.plan(&planned)
				return planned
			})
			h.at(0, func() { h.submit("m1", "hi") })
			h.at(time.Minute, func() { h.decide(0, contract.Approve) })
			h.at(time.Hour, func() { h.close() })
			h.run()
			code := ""
			if p := h.messages()[2].Problem; p != nil {
				code = p.Code
			}
			if len(h.writes) != c.writes || code != c.code {
				t.Errorf("%d attempts, and the agent is told %q", len(h.writes), code)
			}
			if c.writes == 2 && h.writes[1].Call.Approved {
				t.Error("what was agreed to before counts for the changed tool")
			}
		})
	}
}

// unplanned is a step in which the model asks for a call that cannot be planned yet.
func unplanned(kind activities.CallKind) step {
	return func(in activities.ModelTurnInput) (activities.ModelTurnResult, error) {
		result, err := calling("crm.find")(in)
		result.Calls[0].Plan = catalog.Plan{Tool: "crm.find"}
		result.Calls[0].Kind, result.Calls[0].Asks = kind, &activities.Asked{From: "crm", Message: "May the agent?", URL: "https://login.example.com"}
		return result, err
	}
}

// A call that cannot be planned before a person has answered is planned then, once.
func TestCallIsPlannedAfterTheAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		kind  activities.CallKind
		reply func(h *harness)
		plan  *contract.Problem
		plans int
		// writes are the attempts, text and code what the agent is told.
		writes     int
		text, code string
	}{
		"a read":     {reply: (*harness).agree, plans: 1, writes: 1, text: `{"written":true}`},
		"no tool":    {reply: (*harness).agree, plan: &contract.Problem{Code: catalog.CodeToolNotFound, Message: "none"}, plans: 1, code: catalog.CodeToolNotFound},
		"a function": {kind: activities.CallConnect, reply: (*harness).agree, text: `{"connected":true}`},
		"declined": {reply: func(h *harness) {
			h.SignalWorkflow(contract.SignalAnswer, contract.Answer{Question: h.question().ID, Action: contract.Decline})
		}, code: contract.CodeQuestionDeclined},
		"cancelled":  {reply: func(h *harness) { h.SignalWorkflow(contract.SignalCancelTurn, contract.CancelTurn{}) }, code: contract.CodeCancelled},
		"in no time": {reply: func(*harness) {}, code: contract.CodeQuestionExpired},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, unplanned(c.kind), answer("done"))
			plans := 0
			h.replanned(func(in activities.ReplanInput) activities.PlannedCall {
				plans++
				planned := planOf(in)
				planned.Plan.Operation, planned.Plan.NeedsApproval, planned.Problem = catalog.Read, false, c.plan
				return planned
			})
			h.at(0, func() { h.submit("m1", "hi") })
			h.at(time.Minute, func() { c.reply(h) })
			h.at(1000*time.Hour, func() { h.close() })
			h.run()
			told := h.messages()[2]
			code := ""
			if told.Problem != nil {
				code = told.Problem.Code
			}
			if plans != c.plans || len(h.writes) != c.writes || told.Text != c.text || code != c.code {
				t.Errorf("%d plans, %d attempts, and the agent is told %q, %q", plans, len(h.writes), told.Text, code)
			}
		})
	}
}

// agree answers the question that waits.
func (h *harness) agree() {
	h.SignalWorkflow(contract.SignalAnswer, contract.Answer{Question: h.question().ID, Action: contract.Accept})
}
