package durability

import (
	"encoding/json"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// doubt waits until a person is asked what became of a write.
func (b *bed) doubt() contract.Reconciliation {
	b.t.Helper()
	for part, err := range b.Watch(b.ctx(), b.start.ThreadRef, 0) {
		b.must(err)
		if part.Kind == contract.KindReconciliation && part.Status == contract.PartWaiting {
			return *part.Reconciliation
		}
	}
	b.t.Fatal("nobody was asked what became of the write")
	return contract.Reconciliation{}
}

// find says what became of a write.
func (b *bed) find(r contract.Reconciliation, finding contract.Finding, result string) {
	b.t.Helper()
	b.must(b.Reconcile(b.ctx(), b.start.ThreadRef, contract.Reconcile{
		Reconciliation: r.ID, Finding: finding, Result: json.RawMessage(result), By: "bob", Comment: "looked it up",
	}))
}

// lose sends a write and kills its worker, at the gate of the name, before it can
// tell how it ended.
func (b *bed) lose(script, gate string) (turn string) {
	b.t.Helper()
	turn = b.send(script)
	awaitGate(b.t, b.worker, gate)
	b.worker.Kill()
	openGate(b.t, b.worker, gate)
	b.worker.Start(b.t)
	return turn
}

// A worker is killed after it has sent a write. What the tool finds out decides.
func TestLostWriteIsReconciledByItsTool(t *testing.T) {
	server := testkit.DevServer(t)
	for name, test := range map[string]struct{ script, gate, told, golden string }{
		"applied":     {"looked:w|say:done", "w", `{"done":"w (looked up)"}`, "reconciled_applied"},
		"not applied": {"dark:w|say:done", "w", `{"done":"w"}`, "reconciled_not_applied"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, server)
			turn := b.lose(test.script, test.gate)
			if ended := b.wait(turn); ended.Status != contract.StatusCompleted {
				t.Fatalf("turn = %+v, problem %v", ended, ended.Problem)
			}
			tool := "test." + strings.SplitN(test.script, ":", 2)[0]
			if text, problem := b.told(tool); text != test.told || problem != nil {
				t.Errorf("the agent was told %s, %v, want %s", text, problem, test.told)
			}
			if got := b.effects(); got != "w" {
				t.Errorf("effects %q, want one", got)
			}
			b.replay(test.golden, "")
		})
	}
}

// In a snippet, the call that is reconciled resolves like any other.
func TestLostWriteOfASnippetIsReconciled(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	b.start.Agent = "coder"
	turn := b.lose(`(await test.looked({ name: "w" })).done`, "w")
	if ended := b.wait(turn); ended.Status != contract.StatusCompleted || b.effects() != "w" {
		t.Errorf("turn = %+v, problem %v, effects %q", ended, ended.Problem, b.effects())
	}
	if text := b.story(); !strings.Contains(text, "looked up") {
		t.Errorf("the snippet did not get what was looked up:\n%s", text)
	}
	b.replay("reconciled_in_snippet", "")
}

// Where the tool cannot tell, a person is asked; the worker is killed once more while
// they look.
func TestLostWriteIsReconciledByAPerson(t *testing.T) {
	server := testkit.DevServer(t)
	for name, test := range map[string]struct {
		script, gate    string
		finding         contract.Finding
		result          string
		told, effects   string
		problem, golden string
	}{
		"applied":     {"early:w|say:done", "w", contract.FindingApplied, `{"done":"by hand"}`, `{"done":"by hand"}`, "w", "", "person_found_applied"},
		"not applied": {"dark:w|say:done", "w", contract.FindingNotApplied, ``, `{"done":"w"}`, "w", "", "person_found_not_applied"},
		"abandoned":   {"early:w|say:done", "w", contract.FindingAbandoned, ``, ``, "w", contract.CodeOutcomeUnknown, "person_abandoned"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, server)
			b.file("dumb", "")
			turn := b.lose(test.script, test.gate)
			r := b.doubt()
			if r.Key == "" || r.Reason == "" || r.ExpiresAt == nil || r.Left {
				t.Errorf("reconciliation %+v", r)
			}
			b.restart()
			b.find(r, test.finding, test.result)
			b.find(r, test.finding, test.result) // says the same again
			if ended := b.wait(turn); ended.Status != contract.StatusCompleted || b.effects() != test.effects {
				t.Fatalf("turn = %+v, problem %v, effects %q", ended, ended.Problem, b.effects())
			}
			tool := "test." + strings.SplitN(test.script, ":", 2)[0]
			text, problem := b.told(tool)
			if test.problem != "" && (problem == nil || problem.Code != test.problem) {
				t.Errorf("the agent was told %v, want %s", problem, test.problem)
			}
			if test.problem == "" && (problem != nil || text != test.told) {
				t.Errorf("the agent was told %s, %v, want %s", text, problem, test.told)
			}
			b.refusesLateAnswers(r, test.finding)
			b.replay(test.golden, "")
		})
	}
}

// refusesLateAnswers says otherwise of what was answered, of what never was, and
// what is nonsense.
func (b *bed) refusesLateAnswers(r contract.Reconciliation, finding contract.Finding) {
	b.t.Helper()
	other := contract.FindingAbandoned
	if finding == other {
		other = contract.FindingNotApplied
	}
	for _, test := range []struct {
		in   contract.Reconcile
		code string
	}{
		{contract.Reconcile{Reconciliation: r.ID, Finding: other}, contract.ErrAlreadyDecided},
		{contract.Reconcile{Reconciliation: "t1-s9-c9-r", Finding: other}, contract.ErrUnknownReconciliation},
		{contract.Reconcile{Reconciliation: r.ID, Finding: "perhaps"}, contract.ErrInvalid},
	} {
		var err error
		b.until("the client has looked before it sends the answer", func() bool { // which it does only if that is quick
			err = b.Reconcile(b.ctx(), b.start.ThreadRef, test.in)
			return err != nil
		})
		if !hasCode(err, test.code) {
			b.t.Errorf("answer %+v: %v, want %s", test.in, err, test.code)
		}
		b.signal(contract.SignalReconcile, test.in) // past what the client foresees
	}
	refused := map[string]bool{}
	for part, err := range b.Watch(b.ctx(), b.start.ThreadRef, 0) {
		b.must(err)
		if part.Kind == contract.KindError {
			refused[part.ID+part.Problem.Code] = true
			if len(refused) == 3 {
				return
			}
		}
	}
}

// While a person is asked, the model cannot do the same by another road, and what has
// nothing to do with it goes on.
func TestOpenReconciliationBlocksItsResource(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	b.file("dumb", "")
	turn := b.lose("looked:w thing:w looked:w write:other|say:done", "w")
	r := b.doubt()
	b.approve(b.pending(1)[0]) // that of thing has been withdrawn
	b.done("t1-s1-c4")
	b.find(r, contract.FindingApplied, `{"done":"w"}`)
	if ended := b.wait(turn); ended.Status != contract.StatusCompleted || b.effects() != "other w" {
		t.Errorf("turn = %+v, problem %v, effects %q", ended, ended.Problem, b.effects())
	}
	codes := map[string]string{}
	messages, err := b.Transcript(b.ctx(), b.start.ThreadRef, 0, 0)
	b.must(err)
	for _, m := range messages {
		if m.Problem != nil {
			codes[m.Call] = m.Problem.Code
		}
	}
	want := map[string]string{"t1-s1-c2": contract.CodeReconciliationOpen, "t1-s1-c3": contract.CodeReconciliationOpen}
	if asJSON(codes) != asJSON(want) {
		t.Errorf("problems %v, want %v", codes, want)
	}
	b.replay("reconciliation_blocks", "")
}

// After the deadline the caller gets outcome_unknown; the reconciliation stays open,
// goes on in the next run, and blocks, until someone answers it.
func TestReconciliationOutlivesItsCall(t *testing.T) {
	for name, agent := range map[string]string{"by its deadline": "impatient", "by a cancelled turn": "tester"} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, testkit.StartServer(t, "limit.historyCount.suggestContinueAsNew=40"))
			b.start.Agent = agent
			b.file("dumb", "")
			turn := b.lose("looked:w|say:done", "w")
			r := b.doubt()
			if agent == "tester" {
				b.must(b.Cancel(b.ctx(), b.start.ThreadRef, contract.CancelTurn{Turn: turn}))
			}
			b.wait(turn)
			if _, problem := b.told("test.looked"); problem == nil || problem.Code != contract.CodeOutcomeUnknown {
				t.Errorf("the agent was told %v", problem)
			}
			for range 4 {
				b.wait(b.send("read:a|read:b|say:on"))
			}
			state, err := b.State(b.ctx(), b.start.ThreadRef)
			b.must(err)
			if state.Runs < 2 || len(state.Reconciliations) != 1 || !state.Reconciliations[0].Left || state.Status != contract.StatusIdle {
				t.Fatalf("state %s", asJSON(state))
			}
			b.wait(b.send("thing:w|say:no"))
			if _, problem := b.told("test.thing"); problem == nil || problem.Code != contract.CodeReconciliationOpen {
				t.Errorf("the agent was told %v", problem)
			}
			b.listed(r)
			b.restart()
			b.find(r, contract.FindingApplied, `{"done":"w"}`)
			b.ended(r)
			b.free("thing/w")
			turn = b.send("thing:w|say:yes")
			b.approve(b.pending(1)[0])
			b.wait(turn)
			if got := b.effects(); got != "w w" {
				t.Errorf("effects %q", got)
			}
			if agent == "impatient" {
				b.replay("reconciliation_carried_first", state.FirstRunID)
				b.replay("reconciliation_carried_last", "")
			}
		})
	}
}

// listed waits until the thread is found by what it waits for.
func (b *bed) listed(r contract.Reconciliation) {
	b.t.Helper()
	b.until("the reconciliation is listed", func() (found bool) {
		for open, err := range b.Reconciliations(b.ctx(), signals.Filter{}) {
			b.must(err)
			found = found || open.ThreadRef == b.start.ThreadRef && open.ID == r.ID
		}
		return found
	})
}

// ended waits until a reconciliation is over.
func (b *bed) ended(r contract.Reconciliation) {
	b.t.Helper()
	for part, err := range b.Watch(b.ctx(), b.start.ThreadRef, 0) {
		b.must(err)
		if part.ID == r.ID && part.EndedAt != nil {
			return
		}
	}
}

// A worker that is paused, and not lost, ends the write that its server has given up.
// Nobody is asked while it still may: what it records in the claim is the outcome.
func TestOutcomeInTheClaimIsTheTruth(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	turn := b.send("lasting:w|say:done")
	awaitGate(t, b.worker, "w")
	b.must(syscall.Kill(b.worker.PID(), syscall.SIGSTOP))
	openGate(t, b.worker, "w")
	testkit.StartWorker(t, testkit.Worker{
		Server: b.server, TaskQueue: b.worker.TaskQueue, Files: map[string]string{"heddle.yaml": config},
	})
	b.part(contract.KindReconciliation)
	b.must(syscall.Kill(b.worker.PID(), syscall.SIGCONT))
	if ended := b.wait(turn); ended.Status != contract.StatusCompleted || b.effects() != "w" {
		t.Errorf("turn = %+v, problem %v, effects %q", ended, ended.Problem, b.effects())
	}
	if text, problem := b.told("test.lasting"); text != `{"done":"w"}` || problem != nil {
		t.Errorf("the agent was told %s, %v", text, problem)
	}
	if r := b.part(contract.KindReconciliation).Reconciliation; r.AskedAt != nil {
		t.Errorf("a person was asked: %+v", r)
	}
	b.replay("outcome_in_the_claim", "")
}

// part waits for a part of a kind, and returns it as it is now.
func (b *bed) part(kind contract.Kind) contract.Part {
	b.t.Helper()
	for part, err := range b.Watch(b.ctx(), b.start.ThreadRef, 0) {
		b.must(err)
		if part.Kind == kind {
			return part
		}
	}
	b.t.Fatalf("there was no part of kind %s", kind)
	return contract.Part{}
}

func hasCode(err error, code string) bool {
	var refused *signals.Error
	return errors.As(err, &refused) && refused.Code == code
}
