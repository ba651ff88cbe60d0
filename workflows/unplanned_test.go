package workflows_test

import (
	"testing"
	"time"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

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
