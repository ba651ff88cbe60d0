package workflows_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

var wantsEmail = activities.Asked{
	From: "shop (https://shop.example)", Message: "Where to?",
	Schema: json.RawMessage(`{"type":"object","properties":{"email":{"type":"string","format":"email"},"copies":{"type":"integer","default":1}},"required":["email"]}`),
	State:  &contract.Ref{Digest: "sha256:state", Size: 9},
}

// asks makes each write ask before it is carried out.
func (h *harness) asks(asked activities.Asked) {
	h.write = func(in activities.WriteInput) (activities.CallResult, error) {
		if in.Answer == nil {
			return activities.CallResult{
				ID: in.Call.ID, Asks: &asked, Problem: &contract.Problem{Code: contract.CodeInputRequired, Message: asked.Message},
			}, nil
		}
		return activities.CallResult{ID: in.Call.ID, Result: json.RawMessage(`{"written":true}`)}, nil
	}
}

// question returns the one that waits.
func (h *harness) question() contract.Question {
	h.t.Helper()
	questions := h.state().Questions
	if len(questions) != 1 {
		h.t.Fatalf("%d questions wait, want 1", len(questions))
	}
	return questions[0]
}

func (h *harness) accept(content string) contract.Answer {
	return contract.Answer{Question: h.question().ID, Action: contract.Accept, Content: json.RawMessage(content), By: "bob"}
}

func TestAnsweredCallIsMadeAgainWithTheAnswer(t *testing.T) {
	h := newHarness(t, calling("buy!"), answer("done"))
	h.asks(wantsEmail)
	h.at(0, func() { h.submit("m1", "hi") })
	h.at(time.Minute, func() { h.decide(0, contract.Approve) })
	h.at(2*time.Minute, func() {
		state := h.state()
		if state.Status != contract.StatusWaiting || state.Turn.Status != contract.StatusWaiting || len(state.Pending) != 0 {
			t.Errorf("state is %+v", state)
		}
		q := h.question()
		if q.Message != "Where to?" || q.From == "" || !strings.HasPrefix(q.ID, "t1-s1-c1-q1-") || q.ExpiresAt.Sub(q.AskedAt) != activities.DefaultLimits.ApprovalExpiry {
			t.Errorf("the question is %+v", q)
		}
		for content, field := range map[string]string{
			`{}`: "content.email: is missing", `{"email":"x"}`: "content.email: want an email", `{"email":"a@b","n":1}`: "content.n: the question has no such field",
			`{"email":"a@b","copies":1.5}`: "content.copies: want a whole number", `[]`: "content: want a JSON object",
		} {
			h.update(contract.UpdateAnswer, h.accept(content), func(err error) {
				refusedAs(t, contract.ErrInvalid)(err)
				if !strings.Contains(err.Error(), field) {
					t.Errorf("%s is refused with %v, want %q", content, err, field)
				}
			})
		}
	})
	var given contract.Answer
	h.at(3*time.Minute, func() {
		given = h.accept(`{"email":"a@b"}`)
		h.update(contract.UpdateAnswer, given, nil)
	})
	h.at(4*time.Minute, func() {
		h.update(contract.UpdateAnswer, given, nil) // again
		given.Content = json.RawMessage(`{"email":"c@d"}`)
		h.update(contract.UpdateAnswer, given, refusedAs(t, contract.ErrAlreadyAnswered))
		given.Question = "t9-s1-c1-q1-00000000"
		h.update(contract.UpdateAnswer, given, refusedAs(t, contract.ErrUnknownQuestion))
		h.close()
	})
	h.run()
	if len(h.writes) != 2 || h.writes[0].Answer != nil {
		t.Fatalf("writes are %+v", h.writes)
	}
	if a := h.writes[1].Answer; string(a.Content) != `{"email":"a@b","copies":1}` || a.State == nil || *a.State != *wantsEmail.State || a.Declined {
		t.Errorf("the call is made with %+v", a)
	}
	part := h.part(h.writes[1].Answer.Question)
	if part.Kind != contract.KindQuestion || part.Status != contract.PartDone || part.Parent != "t1-s1-c1" || part.Answer.By != "bob" || part.Answer.Content != nil {
		t.Errorf("the part is %+v, %+v", part, part.Answer)
	}
	if call := h.part("t1-s1-c1"); call.Status != contract.PartDone {
		t.Errorf("the call is %+v", call)
	}
	if text := h.messages()[2].Text; text != `{"written":true}` {
		t.Errorf("the agent is told %q", text)
	}
}

func TestQuestionsEnd(t *testing.T) {
	decline := func(h *harness) {
		h.SignalWorkflow(contract.SignalAnswer, contract.Answer{Question: h.question().ID, Action: contract.Decline, Comment: "none of your business"})
	}
	told := wantsEmail
	told.TellDecline = true
	soon := wantsEmail
	soon.Expires = time.Minute
	for name, c := range map[string]struct {
		asked  activities.Asked
		do     func(*harness)
		code   string
		status contract.PartStatus
		writes int
	}{
		"declined":              {wantsEmail, decline, contract.CodeQuestionDeclined, contract.PartDenied, 1},
		"declined, and told so": {told, decline, "", contract.PartDenied, 2},
		"expired":               {wantsEmail, func(*harness) {}, contract.CodeQuestionExpired, contract.PartExpired, 1},
		"expired soon":          {soon, func(*harness) {}, contract.CodeQuestionExpired, contract.PartExpired, 1},
		"cancelled": {
			wantsEmail, func(h *harness) { h.SignalWorkflow(contract.SignalCancelTurn, contract.CancelTurn{}) },
			contract.CodeCancelled, contract.PartCancelled, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, calling("buy!"), answer("done"))
			h.asks(c.asked)
			h.at(0, func() { h.submit("m1", "hi") })
			h.at(time.Minute, func() { h.decide(0, contract.Approve) })
			h.at(90*time.Second, func() { c.do(h) })
			h.at(80*time.Hour, func() { h.close() })
			h.run()
			if len(h.writes) != c.writes {
				t.Fatalf("the call is made %d times, want %d", len(h.writes), c.writes)
			}
			parts := h.parts()
			i := slices.IndexFunc(parts, func(p contract.Part) bool { return p.Kind == contract.KindQuestion })
			if i < 0 || parts[i].Status != c.status || parts[i].EndedAt == nil {
				t.Errorf("the parts are %+v", parts)
			}
			problem := h.messages()[2].Problem
			switch {
			case c.code == "" && problem != nil, c.code != "" && (problem == nil || problem.Code != c.code):
				t.Errorf("the agent is told %+v, want %s", problem, c.code)
			case c.code == "" && !h.writes[1].Answer.Declined:
				t.Errorf("the call is made with %+v", h.writes[1].Answer)
			}
			if c.code == contract.CodeQuestionDeclined && !strings.Contains(problem.Message, "none of your business") {
				t.Errorf("the agent is told %q", problem.Message)
			}
			if state := h.state(); len(state.Questions) != 0 {
				t.Errorf("questions wait: %+v", state.Questions)
			}
		})
	}
}

// While one call asks, the others go on.
func TestQuestionsHoldUpNoOtherCall(t *testing.T) {
	h := newHarness(t, calling("buy!", "pay!"), answer("done"))
	h.write = func(in activities.WriteInput) (activities.CallResult, error) {
		if in.Call.Tool == "buy" && in.Answer == nil {
			return activities.CallResult{ID: in.Call.ID, Asks: &wantsEmail}, nil
		}
		return activities.CallResult{ID: in.Call.ID, Result: json.RawMessage(`1`)}, nil
	}
	h.at(0, func() { h.submit("m1", "hi") })
	h.at(time.Minute, func() { h.decide(0, contract.Approve); h.decide(1, contract.Approve) })
	h.at(2*time.Minute, func() {
		if got := len(h.writes); got != 2 {
			t.Errorf("%d writes, want both", got)
		}
		h.SignalWorkflow(contract.SignalAnswer, h.accept(`{"email":"a@b"}`))
	})
	h.at(3*time.Minute, func() { h.close() })
	h.run()
	if len(h.writes) != 3 || h.writes[1].Call.Tool != "pay" || h.writes[2].Call.Tool != "buy" {
		t.Errorf("writes are %+v", h.writes)
	}
}

// A call that asks without an end is ended.
func TestACallAsksSoManyTimes(t *testing.T) {
	h := newHarness(t, calling("buy!"), answer("done"))
	h.write = func(in activities.WriteInput) (activities.CallResult, error) {
		return activities.CallResult{ID: in.Call.ID, Asks: &activities.Asked{From: "x", Message: fmt.Sprint("once more, after ", len(h.writes))}}, nil
	}
	h.at(0, func() { h.submit("m1", "hi") })
	h.at(time.Minute, func() { h.decide(0, contract.Approve) })
	for i := range 10 {
		h.at(time.Duration(2+i)*time.Minute, func() {
			h.SignalWorkflow(contract.SignalAnswer, contract.Answer{Question: h.question().ID, Action: contract.Accept})
		})
	}
	h.at(time.Hour, func() { h.close() })
	h.run()
	if problem := h.messages()[2].Problem; problem == nil || problem.Code != contract.CodeLimit || len(h.writes) != 11 {
		t.Errorf("%d calls, the agent is told %+v", len(h.writes), problem)
	}
}
