package workflows_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
	"github.com/heddle-dev/heddle/workflows"
)

func TestPlainAnswer(t *testing.T) {
	h := newHarness(t, answer("Hello Ada"))
	h.at(time.Second, func() { h.submit("m1", "Hi") })
	h.at(time.Minute, h.close)
	h.run()

	if err := h.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	turn := h.state().Recent[0]
	if turn.Status != contract.StatusCompleted || turn.Answer != "Hello Ada" || *turn.AnswerIndex != 1 {
		t.Errorf("turn = %+v", turn)
	}
	if got := roles(h.messages()); got != "user assistant" {
		t.Errorf("transcript: %s", got)
	}
	if in := h.models[0]; in.Upto != 1 || in.Turn != "t1" || in.Step != 1 {
		t.Errorf("the model was asked with %+v", in)
	}
}

func TestReadsOfOneModelTurnAreOneActivity(t *testing.T) {
	h := newHarness(t, calling("orders.get", "orders.get", "orders.find"), answer("done"))
	h.at(time.Second, func() { h.submit("m1", "look") })
	h.at(time.Minute, h.close)
	h.run()

	if len(h.reads) != 1 || len(h.reads[0].Calls) != 3 {
		t.Fatalf("batches = %+v, want one of three reads", h.reads)
	}
	if got := roles(h.messages()); got != "user assistant tool tool tool assistant" {
		t.Errorf("transcript: %s", got)
	}
	if p := h.part("t1-s1-c2"); p.Parent != "t1-s1-reads" || p.Status != contract.PartDone {
		t.Errorf("part of a read = %+v", p)
	}
}

func TestWriteWaitsForApproval(t *testing.T) {
	for _, test := range []struct {
		name    string
		verdict contract.Verdict
		writes  int
		code    string
		part    contract.PartStatus
	}{
		{"approved", contract.Approve, 1, "", contract.PartDone},
		{"denied", contract.Deny, 0, contract.CodeApprovalDenied, contract.PartDenied},
		{"expired", "", 0, contract.CodeApprovalExpired, contract.PartExpired},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHarness(t, calling("orders.refund!"), answer("done"))
			h.at(time.Second, func() { h.submit("m1", "refund") })
			h.at(time.Hour, func() {
				if len(h.writes) > 0 {
					t.Error("the write ran before anyone approved it")
				}
				if s := h.state(); s.Status != contract.StatusWaiting || s.Turn.Status != contract.StatusWaiting {
					t.Errorf("state = %s, turn %s, want waiting", s.Status, s.Turn.Status)
				}
				if test.verdict != "" {
					h.decide(0, test.verdict)
				}
			})
			h.at(100*time.Hour, h.close)
			h.run()

			if len(h.writes) != test.writes {
				t.Fatalf("%d writes, want %d", len(h.writes), test.writes)
			}
			tool := h.messages()[2]
			if test.code == "" && (tool.Problem != nil || tool.Text != `{"written":true}`) ||
				test.code != "" && (tool.Problem == nil || tool.Problem.Code != test.code) {
				t.Errorf("the agent was told %+v", tool)
			}
			if p := h.part("t1-s1-c1-a"); p.Status != test.part || p.EndedAt == nil {
				t.Errorf("approval part = %+v", p)
			}
			if turn := h.state().Recent[0]; turn.Status != contract.StatusCompleted {
				t.Errorf("turn = %+v; waiting for a person must not count against its time", turn)
			}
		})
	}
}

// One model turn with a read and two writes: the read does not wait for the
// people, the writes run in the order in which they may, one result each.
func TestSeveralApprovalsAtOnce(t *testing.T) {
	h := newHarness(t, calling("read", "delete!", "pay!"), answer("done"))
	h.at(time.Second, func() { h.submit("m1", "go") })
	h.at(time.Minute, func() {
		if len(h.reads) != 1 {
			t.Error("the read waited for a person")
		}
		h.decide(1, contract.Approve)
	})
	h.at(2*time.Minute, func() {
		if len(h.writes) != 1 || h.writes[0].Call.Tool != "pay" {
			t.Errorf("writes = %+v, want pay while delete waits", h.writes)
		}
		h.decide(0, contract.Deny)
	})
	stale := contract.Decision{Approval: "t0-s1-c1-a", Digest: "x", Verdict: contract.Approve}
	h.at(3*time.Minute, func() { h.SignalWorkflow(contract.SignalApproval, stale) })
	h.at(4*time.Minute, h.close)
	h.run()

	if len(h.writes) != 1 {
		t.Fatalf("writes = %+v", h.writes)
	}
	told := h.messages()[2:5]
	if told[0].Problem != nil || told[1].Problem == nil || told[1].Problem.Code != contract.CodeApprovalDenied || told[2].Problem != nil {
		t.Errorf("results in call order = %+v", told)
	}
	if p := h.part("refused-1"); p.Problem.Code != contract.ErrUnknownApproval {
		t.Errorf("stale decision: %+v", p)
	}
}

func TestDecisionsThatAreRefused(t *testing.T) {
	h := newHarness(t, calling("refund!"), answer("done"))
	h.at(time.Second, func() { h.submit("m1", "refund") })
	var good contract.Decision
	h.at(time.Minute, func() {
		ap := h.state().Pending[0]
		good = contract.Decision{Approval: ap.ID, Digest: ap.Digest, Verdict: contract.Deny}
		for _, bad := range []struct {
			decision contract.Decision
			code     string
			says     string
		}{
			{contract.Decision{Approval: ap.ID, Digest: "sha256:other", Verdict: contract.Approve}, contract.ErrDigestMismatch, "digest"},
			{contract.Decision{Approval: "nope", Digest: ap.Digest, Verdict: contract.Approve}, contract.ErrUnknownApproval, "nope"},
			{contract.Decision{Approval: ap.ID, Digest: ap.Digest, Verdict: "maybe"}, contract.ErrInvalid, "verdict"},
			{contract.Decision{Approval: ap.ID, Verdict: contract.Approve}, contract.ErrInvalid, "digest"},
		} {
			h.update(contract.UpdateDecide, bad.decision, wantRefusal(t, bad.code, bad.says))
		}
		h.update(contract.UpdateDecide, good, nil)
	})
	h.at(2*time.Minute, func() {
		h.update(contract.UpdateDecide, good, nil) // the same again changes nothing
		other := good
		other.Verdict = contract.Approve
		h.update(contract.UpdateDecide, other, wantRefusal(t, contract.ErrAlreadyDecided, "denied"))
	})
	h.at(3*time.Minute, h.close)
	h.run()

	if len(h.writes) != 0 {
		t.Errorf("writes = %+v", h.writes)
	}
}

func TestSubmissionsThatAreRefused(t *testing.T) {
	h := newHarness(t, answer("one"))
	h.at(time.Second, func() { h.submit("m1", "hi") })
	h.at(time.Minute, func() {
		for _, bad := range []struct {
			submission contract.Submission
			code, says string
		}{
			{contract.Submission{ID: "m1", Text: "something else"}, contract.ErrSubmissionConflict, "m1"},
			{contract.Submission{ID: "m2", Text: strings.Repeat("x", contract.MaxText+1)}, contract.ErrInvalid, "text"},
			{contract.Submission{ID: "m2"}, contract.ErrInvalid, "text"},
			{contract.Submission{Text: "hi"}, contract.ErrInvalid, "id"},
			{contract.Submission{ID: "a b", Text: "hi"}, contract.ErrInvalid, "id"},
		} {
			h.update(contract.UpdateSubmit, bad.submission, wantRefusal(t, bad.code, bad.says))
		}
		h.submit("m1", "hi") // the same again begins no second turn
	})
	h.at(2*time.Minute, h.close)
	h.run()

	if len(h.models) != 1 || len(h.state().Recent) != 1 {
		t.Errorf("%d model turns and %d turns, want 1 and 1", len(h.models), len(h.state().Recent))
	}
}

func TestMessagesQueue(t *testing.T) {
	h := newHarness(t, calling("refund!"), answer("first"), answer("second"), answer("third"))
	h.at(time.Second, func() { h.submit("m1", "1") })
	h.at(2*time.Second, func() { h.submit("m2", "2") })
	h.at(3*time.Second, func() { h.SignalWorkflow(contract.SignalSubmit, contract.Submission{ID: "m3", Text: "3"}) })
	h.at(4*time.Second, func() { h.SignalWorkflow(contract.SignalSubmit, contract.Submission{ID: "m4", Text: "4"}) })
	h.at(time.Minute, func() {
		if q := h.state().Queue; len(q) != 3 || q[0].ID != "t2" || q[0].Status != contract.StatusQueued {
			t.Errorf("queue = %+v", q)
		}
		h.SignalWorkflow(contract.SignalCancelTurn, contract.CancelTurn{Turn: "t4", Reason: "never mind"})
		h.decide(0, contract.Approve)
	})
	h.at(2*time.Minute, h.close)
	h.run()

	var got []string
	for _, turn := range h.state().Recent {
		got = append(got, turn.ID+" "+string(turn.Status)+" "+turn.Answer)
	}
	want := "t4 cancelled |t1 completed first|t2 completed second|t3 completed third"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("turns: %s\nwant:  %s", s, want)
	}
}

func TestCancelledTurn(t *testing.T) {
	h := newHarness(t, calling("refund!", "pay!"), answer("next"))
	h.at(time.Second, func() { h.submit("m1", "refund") })
	h.at(time.Minute, func() {
		h.SignalWorkflow(contract.SignalCancelTurn, contract.CancelTurn{Reason: "wrong customer"})
	})
	h.at(2*time.Minute, func() { h.submit("m2", "hello?") })
	h.at(3*time.Minute, h.close)
	h.run()

	turns := h.state().Recent
	if turns[0].Status != contract.StatusCancelled || !strings.Contains(turns[0].Problem.Message, "wrong customer") {
		t.Errorf("turn = %+v", turns[0])
	}
	if turns[1].Status != contract.StatusCompleted {
		t.Errorf("the next turn = %+v", turns[1])
	}
	if p := h.part("t1-s1-c2-a"); p.Status != contract.PartCancelled {
		t.Errorf("approval = %+v, want withdrawn", p)
	}
	if got := roles(h.messages()); got != "user assistant tool tool user assistant" {
		t.Errorf("transcript: %s; every call needs a result", got)
	}
	if len(h.writes) != 0 {
		t.Errorf("writes = %+v", h.writes)
	}
	if n := openParts(h.parts()); n != "" {
		t.Errorf("parts left open: %s", n)
	}
}

func TestModelFailureEndsTheTurnNotTheThread(t *testing.T) {
	refused := temporal.NewNonRetryableApplicationError("model: invalid_request (HTTP 400): no such model", activities.ErrTypeModel, nil)
	h := newHarness(t, failing(refused), answer("now it works"))
	h.at(time.Second, func() { h.submit("m1", "hi") })
	h.at(time.Minute, func() { h.submit("m2", "again") })
	h.at(2*time.Minute, h.close)
	h.run()

	turns := h.state().Recent
	if turns[0].Status != contract.StatusFailed || turns[0].Problem.Code != contract.CodeModel ||
		!strings.Contains(turns[0].Problem.Message, "no such model") {
		t.Errorf("turn = %+v", turns[0])
	}
	if turns[1].Status != contract.StatusCompleted {
		t.Errorf("next turn = %+v", turns[1])
	}
}

func TestLimitsEndATurn(t *testing.T) {
	limited := func(limits activities.Limits, s step) step {
		return func(in activities.ModelTurnInput) (activities.ModelTurnResult, error) {
			result, err := s(in)
			result.Limits = &limits
			return result, err
		}
	}
	for _, test := range []struct {
		name   string
		limits activities.Limits
		says   string
	}{
		{"steps", activities.Limits{Steps: 2}, "limits.steps"},
		{"calls", activities.Limits{Calls: 3}, "limits.calls"},
		{"tokens", activities.Limits{Tokens: 15}, "limits.tokens"},
		{"input", activities.Limits{InputBytes: 20}, "limits.input_bytes"},
		{"output of calls", activities.Limits{OutputBytes: 20}, "limits.output_bytes"},
		{"thread", activities.Limits{Thread: contract.Limits{Calls: 3}}, "limits.thread.calls of agent support: a thread may use 3, and this one came to 4"},
		{"output", activities.Limits{}, "max_output_tokens"},
	} {
		t.Run(test.name, func(t *testing.T) {
			second := calling("read", "read")
			if test.name == "output" {
				second = func(activities.ModelTurnInput) (activities.ModelTurnResult, error) {
					return activities.ModelTurnResult{Text: "and so", Stop: activities.StopLength}, nil
				}
			}
			h := newHarness(t, limited(test.limits, calling("read", "read")), second, answer("done"))
			h.at(time.Second, func() { h.submit("m1", "go") })
			h.at(time.Minute, h.close)
			h.run()
			turn := h.state().Recent[0]
			if turn.Status != contract.StatusFailed || turn.Problem.Code != contract.CodeLimit || !strings.Contains(turn.Problem.Message, test.says) {
				t.Errorf("turn = %+v, problem %v", turn, turn.Problem)
			}
			if test.name != "output" {
				wantLimit(t, turn.Problem, test.says, "agent")
			}
			if test.name == "calls" && len(h.reads) != 1 {
				t.Errorf("%d batches ran, want 1: no call past the limit", len(h.reads))
			}
		})
	}
}

func wantLimit(t *testing.T, p *contract.Problem, says, setBy string) {
	t.Helper()
	if limit := limitOf(t, p); !strings.HasPrefix(says, limit.Limit) || limit.SetBy != setBy {
		t.Errorf("problem = %v, details %s", p, limit.String())
	}
}

// limitOf is the limit that a problem tells of.
func limitOf(t *testing.T, p *contract.Problem) catalog.Exceeded {
	t.Helper()
	var details struct {
		Limit catalog.Exceeded `json:"limit"`
	}
	if p == nil || json.Unmarshal(p.Details, &details) != nil {
		t.Fatalf("problem = %v, details %s", p, p.Details)
	}
	return details.Limit
}

// The backend bounds turns and threads when it opens a thread; the rest of the thread
// asks no model.
func TestLimitsOfTheBackend(t *testing.T) {
	for says, start := range map[string]contract.Start{
		"turn_limits.steps":   {TurnLimits: &contract.Limits{Steps: 1}},
		"thread_limits.calls": {ThreadLimits: &contract.Limits{Calls: 1}},
		"thread_limits.steps": {ThreadLimits: &contract.Limits{Steps: 1}},
	} {
		t.Run(says, func(t *testing.T) {
			h := newHarness(t, calling("read"), calling("read"), answer("done"))
			h.at(time.Second, func() { h.submit("m1", "go") })
			h.at(time.Minute, h.close)
			start.ThreadRef, start.Agent = contract.ThreadRef{Tenant: "acme", Thread: "t"}, "support"
			h.ExecuteWorkflow(contract.WorkflowType, workflows.Input{Start: start})
			turn := h.state().Recent[0]
			if turn.Problem == nil || !strings.Contains(turn.Problem.Message, says) {
				t.Errorf("problem = %v", turn.Problem)
			}
			wantLimit(t, turn.Problem, says, "thread")
			if len(h.reads) != 1 {
				t.Errorf("%d batches ran, want 1", len(h.reads))
			}
		})
	}
}

// What an activity finds of the agent's limits of a thread ends the turn.
func TestThreadThatHasComeToALimit(t *testing.T) {
	over := func(in activities.ModelTurnInput) (activities.ModelTurnResult, error) {
		if in.Used == nil || in.Used.Steps != 1 || in.Used.InputTokens != 0 {
			t.Errorf("the activity is told of %+v", in.Used)
		}
		return activities.ModelTurnResult{Limits: &activities.Limits{}, Refused: &contract.Problem{Code: contract.CodeLimit, Message: "limits.thread.steps"}}, nil
	}
	h := newHarness(t, answer("one"), over)
	h.at(time.Second, func() { h.submit("m1", "go") })
	h.at(2*time.Second, func() { h.submit("m2", "go on") })
	h.at(time.Minute, h.close)
	h.run()
	if turns := h.state().Recent; turns[1].Status != contract.StatusFailed || turns[1].Problem.Message != "limits.thread.steps" {
		t.Errorf("turns = %+v", turns)
	}
	if n := h.state().Messages; n != 3 {
		t.Errorf("%d messages, want no answer to the second", n)
	}
}

func TestUnknownAgentFailsAtOnce(t *testing.T) {
	h := newHarness(t)
	bad := start
	bad.Agent = "nobody"
	h.ExecuteWorkflow(contract.WorkflowType, bad)
	var app *temporal.ApplicationError
	if err := h.GetWorkflowError(); !errors.As(err, &app) || app.Type() != contract.ErrUnknownAgent || !strings.Contains(app.Message(), "nobody") {
		t.Errorf("error = %v", err)
	}
}

func TestClosingCancelsWhatRunsAndWhatWaits(t *testing.T) {
	h := newHarness(t, calling("refund!"))
	h.at(time.Second, func() { h.submit("m1", "1") })
	h.at(2*time.Second, func() { h.submit("m2", "2") })
	h.at(time.Minute, h.close)
	h.run()

	if err := h.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	state := h.state()
	if state.Status != contract.StatusClosed || len(state.Recent) != 2 || len(state.Pending) != 0 ||
		state.Recent[0].Status != contract.StatusCancelled || state.Recent[1].Status != contract.StatusCancelled {
		t.Errorf("state = %+v", state)
	}
}

func TestCancellingTheWorkflowEndsItInOrder(t *testing.T) {
	h := newHarness(t, calling("refund!"))
	h.at(time.Second, func() { h.submit("m1", "1") })
	h.at(time.Minute, h.CancelWorkflow)
	h.run()

	var canceled *temporal.CanceledError
	if err := h.GetWorkflowError(); !errors.As(err, &canceled) {
		t.Errorf("error = %v, want cancelled", err)
	}
	if state := h.state(); state.Status != contract.StatusClosed || state.Recent[0].Status != contract.StatusCancelled {
		t.Errorf("state = %+v", state)
	}
}

func wantRefusal(t *testing.T, code, says string) func(error) {
	return func(err error) {
		var app *temporal.ApplicationError
		if !errors.As(err, &app) || app.Type() != code || !strings.Contains(app.Message(), says) {
			t.Errorf("refused with %v, want %s that says %q", err, code, says)
		}
	}
}

func roles(messages []contract.Message) string {
	var all []string
	for _, m := range messages {
		all = append(all, string(m.Role))
	}
	return strings.Join(all, " ")
}

func openParts(parts []contract.Part) string {
	var open []string
	for _, p := range parts {
		if p.EndedAt == nil {
			open = append(open, p.ID)
		}
	}
	return strings.Join(open, " ")
}
