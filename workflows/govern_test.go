package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/temporal"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// asked is a step with writes of the tools named, each of which a person is asked
// about as change says.
func asked(change func(*catalog.Plan), tools ...string) step {
	return func(in activities.ModelTurnInput) (activities.ModelTurnResult, error) {
		for i := range tools {
			tools[i] = strings.TrimSuffix(tools[i], "!") + "!"
		}
		result, err := calling(tools...)(in)
		for i := range result.Calls {
			change(&result.Calls[i].Plan)
		}
		return result, err
	}
}

func grantable(p *catalog.Plan) { p.Grantable = true }

// replanned makes edits come to a plan.
func (h *harness) replanned(answer func(activities.ReplanInput) activities.PlannedCall) {
	var a *activities.Activities
	h.OnActivity(a.Replan, mock.Anything, mock.Anything).Return(
		func(_ context.Context, in activities.ReplanInput) (activities.ReplanResult, error) {
			return activities.ReplanResult{PlannedCall: answer(in)}, nil
		})
}

func (h *harness) decision(n int, change func(*contract.Decision)) contract.Decision {
	h.t.Helper()
	pending := h.state().Pending
	if len(pending) <= n {
		h.t.Fatalf("%d approvals wait, want more than %d", len(pending), n)
	}
	d := contract.Decision{Approval: pending[n].ID, Digest: pending[n].Digest, Verdict: contract.Approve, By: "bob"}
	change(&d)
	return d
}

func (h *harness) signalDecision(n int, change func(*contract.Decision)) {
	h.t.Helper()
	h.SignalWorkflow(contract.SignalApproval, h.decision(n, change))
}

func refusedAs(t *testing.T, code string) func(error) {
	return func(err error) {
		var app *temporal.ApplicationError
		if !errors.As(err, &app) || app.Type() != code {
			t.Errorf("refused with %v, want %s", err, code)
		}
	}
}

func planOf(in activities.ReplanInput) activities.PlannedCall {
	return activities.PlannedCall{
		Call: contract.Call{ID: in.Call, Tool: in.Tool, Input: in.Input},
		Plan: catalog.Plan{
			Tool: in.Tool, Operation: catalog.Write, NeedsApproval: true, Preview: in.Input, DescriptorDigest: "d-" + in.Tool, InputDigest: "edited",
		},
	}
}

// An edit is planned anew, and the call is made with it and with nothing else.
func TestEditedCallIsMadeAsEdited(t *testing.T) {
	h := newHarness(t, calling("pay!"), answer("done"))
	h.replanned(planOf)
	h.at(0, func() { h.submit("m1", "hi") })
	h.at(time.Minute, func() {
		h.signalDecision(0, func(d *contract.Decision) { d.Verdict, d.Input = contract.Edit, json.RawMessage(`{"n":2}`) })
	})
	h.at(2*time.Minute, func() { h.close() })
	h.run()
	if len(h.writes) != 1 || h.writes[0].Call.InputDigest != "edited" {
		t.Fatalf("writes are %+v, want one of the edited call", h.writes)
	}
	part := h.part("t1-s1-c1-a")
	if part.Status != contract.PartDone || part.Decision.Verdict != contract.Edit || part.Decision.Input != nil ||
		string(part.Approval.Preview) != `{"n":2}` || len(part.Approval.Votes) != 1 || part.Approval.Votes[0].Digest != part.Approval.Digest {
		t.Errorf("the approval is %+v, %+v", part, part.Approval)
	}
	if text := h.messages()[2].Text; !strings.Contains(text, `a person changed the input before the call was made: {"n":2}`) {
		t.Errorf("the agent is told %q", text)
	}
}

// An edit that does not fit changes nothing, and says why.
func TestRefusedEditChangesNothing(t *testing.T) {
	h := newHarness(t, calling("pay!"), answer("done"))
	h.replanned(func(in activities.ReplanInput) activities.PlannedCall {
		return activities.PlannedCall{Problem: &contract.Problem{Code: catalog.CodeInvalidInput, Message: "/n: too large"}}
	})
	h.at(0, func() { h.submit("m1", "hi") })
	h.at(time.Minute, func() {
		h.signalDecision(0, func(d *contract.Decision) { d.Verdict, d.Input = contract.Edit, json.RawMessage(`{"n":2}`) })
	})
	h.at(2*time.Minute, func() { h.decide(0, contract.Approve) })
	h.at(3*time.Minute, func() { h.close() })
	h.run()
	if len(h.writes) != 1 || h.writes[0].Call.InputDigest != "i" {
		t.Fatalf("writes are %+v, want one of the call as it was", h.writes)
	}
	if p := h.part("refused-1").Problem; p == nil || !strings.Contains(p.Message, "/n: too large") {
		t.Errorf("the refusal is %+v", p)
	}
}

// Four eyes: so many people, each another, and not who asked.
func TestFourEyes(t *testing.T) {
	h := newHarness(t, asked(func(p *catalog.Plan) { p.Approvers = 2 }, "pay"), answer("done"))
	by := func(name string) contract.Decision {
		return h.decision(0, func(d *contract.Decision) { d.By = name })
	}
	h.at(0, func() { h.submit("m1", "hi") })
	h.at(time.Minute, func() {
		h.update(contract.UpdateDecide, by(strings.ToUpper(start.User)), refusedAs(t, contract.ErrNotPermitted))
		h.update(contract.UpdateDecide, by(" "), refusedAs(t, contract.ErrNotPermitted))
		h.update(contract.UpdateDecide, by("bob"), nil)
	})
	h.at(2*time.Minute, func() {
		h.update(contract.UpdateDecide, by("bob"), nil) // the same again
		if pending := h.state().Pending; len(pending) != 1 || len(pending[0].Votes) != 1 || len(h.writes) != 0 {
			t.Errorf("after one vote: %+v, %d writes", pending, len(h.writes))
		}
	})
	h.at(3*time.Minute, func() { h.update(contract.UpdateDecide, by("eve"), nil) })
	h.at(4*time.Minute, func() { h.close() })
	h.run()
	if len(h.writes) != 1 || h.writes[0].Call.Approvers != 2 {
		t.Fatalf("writes are %+v", h.writes)
	}
	votes := h.part("t1-s1-c1-a").Approval.Votes
	if len(votes) != 2 || votes[0].By != "bob" || votes[1].By != "eve" || votes[1].At.IsZero() {
		t.Errorf("votes are %+v", votes)
	}
}

// Who edits has agreed to the edited call; whoever agreed to the other has not.
func TestEditRestartsTheVote(t *testing.T) {
	h := newHarness(t, asked(func(p *catalog.Plan) { p.Approvers = 2 }, "pay"), answer("done"))
	h.replanned(func(in activities.ReplanInput) activities.PlannedCall {
		p := planOf(in)
		p.Plan.Approvers = 2
		return p
	})
	h.at(0, func() { h.submit("m1", "hi") })
	h.at(time.Minute, func() { h.decide(0, contract.Approve) }) // bob
	h.at(2*time.Minute, func() {
		h.signalDecision(0, func(d *contract.Decision) {
			d.Verdict, d.Input, d.By = contract.Edit, json.RawMessage(`{"n":2}`), "eve"
		})
	})
	h.at(3*time.Minute, func() {
		votes := h.state().Pending[0].Votes
		if len(votes) != 1 || votes[0].By != "eve" || len(h.writes) != 0 {
			t.Errorf("after the edit: votes %+v, %d writes", votes, len(h.writes))
		}
		h.decide(0, contract.Approve)
	})
	h.at(4*time.Minute, func() { h.close() })
	h.run()
	if len(h.writes) != 1 || h.writes[0].Call.InputDigest != "edited" {
		t.Fatalf("writes are %+v", h.writes)
	}
}

// A grant lets further calls of the tool pass, as many as it is for.
func TestGrant(t *testing.T) {
	h := newHarness(t, asked(grantable, "pay"), asked(grantable, "pay", "pay", "ship"), answer("done"))
	h.at(0, func() { h.submit("m1", "hi") })
	h.at(time.Minute, func() {
		h.signalDecision(0, func(d *contract.Decision) { d.Grant = &contract.GrantTerms{Calls: 1} })
	})
	h.at(2*time.Minute, func() {
		if pending := h.state().Pending; len(pending) != 2 || pending[0].Call != "t1-s2-c2" || pending[1].Tool != "ship" {
			t.Errorf("pending are %+v, want the second call and the other tool's", pending)
		}
		h.decide(1, contract.Deny)
		h.decide(0, contract.Deny)
	})
	h.at(3*time.Minute, func() { h.close() })
	h.run()
	if len(h.writes) != 2 || !h.writes[1].Call.Granted || !h.writes[1].Call.Approved || h.writes[0].Call.Granted {
		t.Fatalf("writes are %+v", h.writes)
	}
	if p := h.part("grant-g1"); p.Status != contract.PartDone || p.Grant.Used != 1 || p.Grant.By != "bob" {
		t.Errorf("the grant's part is %+v", p)
	}
	if p := h.part("t1-s2-c1"); p.GrantID != "g1" {
		t.Errorf("the call's part names grant %q", p.GrantID)
	}
}

// What a grant does not cover is asked about.
func TestGrantCoversNothingElse(t *testing.T) {
	soon := h0.Add(90 * time.Second)
	for name, c := range map[string]struct {
		terms  contract.GrantTerms
		first  func(*catalog.Plan)
		second func(*catalog.Plan)
	}{
		"another resource": {contract.GrantTerms{Resource: "a"}, grantable, func(p *catalog.Plan) { p.Grantable, p.ResourceKey = true, "b" }},
		"a changed tool":   {contract.GrantTerms{}, grantable, func(p *catalog.Plan) { p.Grantable, p.DescriptorDigest = true, "changed" }},
		"a policy's rule":  {contract.GrantTerms{}, grantable, func(*catalog.Plan) {}},
		"a later time":     {contract.GrantTerms{Until: &soon}, grantable, grantable},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, asked(c.first, "pay"), answer("one"), asked(c.second, "pay"), answer("two"))
			h.SetStartTime(h0)
			h.at(0, func() { h.submit("m1", "hi") })
			h.at(time.Minute, func() { h.signalDecision(0, func(d *contract.Decision) { d.Grant = &c.terms }) })
			h.at(2*time.Minute, func() { h.submit("m2", "again") })
			h.at(3*time.Minute, func() {
				if pending := h.state().Pending; len(pending) != 1 {
					t.Errorf("%d approvals wait, want one", len(pending))
				}
				h.close()
			})
			h.run()
			if len(h.writes) != 1 {
				t.Errorf("%d writes, want the first alone", len(h.writes))
			}
		})
	}
}

var h0 = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

func TestGrantsThatAreRefused(t *testing.T) {
	past := h0.Add(-time.Hour)
	h := newHarness(t, asked(func(p *catalog.Plan) { p.Grantable = p.Tool == "pay" }, "pay", "always"), answer("done"))
	h.SetStartTime(h0)
	h.at(0, func() { h.submit("m1", "hi") })
	h.at(time.Minute, func() {
		refuse := refusedAs(t, contract.ErrInvalid)
		h.update(contract.UpdateDecide, h.decision(1, func(d *contract.Decision) { d.Grant = &contract.GrantTerms{} }), refuse)
		h.update(contract.UpdateDecide, h.decision(0, func(d *contract.Decision) { d.Grant = &contract.GrantTerms{Until: &past} }), refuse)
		h.SignalWorkflow(contract.SignalRevokeGrant, contract.RevokeGrant{Grant: "g7"})
	})
	h.at(2*time.Minute, func() { h.close() })
	h.run()
	if p := h.part("refused-1").Problem; p == nil || p.Code != contract.ErrUnknownGrant {
		t.Errorf("the refusal is %+v", p)
	}
}

// A grant that is revoked before a call begins stops it.
func TestRevokedGrantStopsTheCall(t *testing.T) {
	h := newHarness(t, asked(grantable, "pay"), asked(grantable, "pay", "pay"), answer("done"))
	h.at(0, func() { h.submit("m1", "hi") })
	h.at(time.Minute, func() {
		h.write = func(in activities.WriteInput) (activities.CallResult, error) {
			if in.Call.ID == "t1-s2-c1" { // while the one runs, the other waits in line
				h.SignalWorkflow(contract.SignalRevokeGrant, contract.RevokeGrant{Grant: "g1", By: "eve"})
			}
			return activities.CallResult{ID: in.Call.ID}, nil
		}
		h.signalDecision(0, func(d *contract.Decision) { d.Grant = &contract.GrantTerms{} })
	})
	h.at(2*time.Minute, func() { h.close() })
	h.run()
	if len(h.writes) != 2 {
		t.Errorf("%d writes, want the first two", len(h.writes))
	}
	if p := h.part("t1-s2-c2").Problem; p == nil || p.Code != contract.CodeGrantRevoked {
		t.Errorf("the second call ended with %+v", p)
	}
	if grants := h.state().Grants; len(grants) != 0 {
		t.Errorf("grants are %+v", grants)
	}
}

// A mode goes to all that has not begun.
func TestSetMode(t *testing.T) {
	h := newHarness(t, calling("pay!"), answer("done"))
	h.at(0, func() {
		h.update(contract.UpdateSetMode, contract.SetMode{Mode: "nope"}, refusedAs(t, contract.ErrUnknownMode))
		h.SignalWorkflow(contract.SignalSetMode, contract.SetMode{Mode: "nope"})
		h.update(contract.UpdateSetMode, contract.SetMode{Mode: "build"}, nil)
		h.submit("m1", "hi")
	})
	h.at(time.Minute, func() {
		h.SignalWorkflow(contract.SignalSetMode, contract.SetMode{Mode: "plan", By: "eve", Reason: "wait"})
		h.decide(0, contract.Approve)
	})
	h.at(2*time.Minute, func() { h.close() })
	h.run()
	if h.models[0].Thread.Mode != "build" || h.writes[0].Thread.Mode != "plan" || h.models[1].Thread.Mode != "plan" {
		t.Errorf("modes are %q, %q, %q", h.models[0].Thread.Mode, h.writes[0].Thread.Mode, h.models[1].Thread.Mode)
	}
	if mode := h.state().Mode; mode != "plan" {
		t.Errorf("the state's mode is %q", mode)
	}
	if p := h.part("refused-1").Problem; p == nil || p.Code != contract.ErrUnknownMode {
		t.Errorf("the refusal is %+v", p)
	}
}

// Reminders come on a durable timer, each after twice the time of the one before.
func TestReminders(t *testing.T) {
	h := newHarness(t, func(in activities.ModelTurnInput) (activities.ModelTurnResult, error) {
		result, err := calling("pay!")(in)
		result.Limits = &activities.Limits{ApprovalReminder: time.Hour}
		return result, err
	}, answer("done"))
	h.at(0, func() { h.submit("m1", "hi") })
	for at, want := range map[time.Duration]int{59 * time.Minute: 0, 61 * time.Minute: 1, 179 * time.Minute: 1, 181 * time.Minute: 2} {
		h.at(at, func() {
			if got := h.state().Pending[0].Reminders; got != want {
				t.Errorf("after %s: %d reminders, want %d", at, got, want)
			}
		})
	}
	h.at(4*time.Hour, func() { h.decide(0, contract.Approve) })
	h.at(48*time.Hour, func() { h.close() })
	h.run()
	if got := h.part("t1-s1-c1-a").Approval.Reminders; got != 2 {
		t.Errorf("%d reminders, want 2", got)
	}
}
