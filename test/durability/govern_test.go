package durability

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// describedBy is a tool's description, which a file in the worker's folder changes
// from one start to the next.
func describedBy(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return "Writes."
	}
	return string(text)
}

// decide sends a decision on the approval and waits for the thread's answer.
func (b *bed) decide(ap contract.Approval, change func(*contract.Decision)) contract.Decided {
	b.t.Helper()
	d := contract.Decision{Approval: ap.ID, Digest: ap.Digest, Verdict: contract.Approve, By: "bob"}
	change(&d)
	decided, err := b.Decide(b.ctx(), b.start.ThreadRef, d)
	b.must(err)
	return decided
}

func agree(*contract.Decision) {}

// problemOf is how the call came to its end.
func (b *bed) problemOf(call string) *contract.Problem {
	b.t.Helper()
	messages, err := b.Transcript(b.ctx(), b.start.ThreadRef, 0, 0)
	b.must(err)
	for _, m := range messages {
		if m.Role == contract.RoleTool && m.Call == call {
			return m.Problem
		}
	}
	b.t.Fatalf("call %s has no result", call)
	return nil
}

// configure writes the worker's configuration and starts it anew.
func (b *bed) configure(text string) {
	b.t.Helper()
	b.must(os.WriteFile(filepath.Join(b.worker.Dir, "heddle.yaml"), []byte(text), 0o600))
	b.restart()
}

// Paths by which people govern a thread: each replays, and is recorded.
var governed = map[string]func(*bed){
	"edited_write": func(b *bed) {
		turn := b.send("write:w|say:done")
		b.decide(b.pending(1)[0], func(d *contract.Decision) { d.Verdict, d.Input = contract.Edit, json.RawMessage(`{"name":"v"}`) })
		b.wait(turn)
		if got := b.effects(); got != "v" {
			b.t.Errorf("effects %q, want the edited one", got)
		}
	},
	"refused_edit": func(b *bed) {
		turn := b.send("write:w|say:done")
		ap := b.pending(1)[0]
		_, err := b.Decide(b.ctx(), b.start.ThreadRef, contract.Decision{
			Approval: ap.ID, Digest: ap.Digest, Verdict: contract.Edit, Input: json.RawMessage(`{"name":7}`),
		})
		if err == nil || !strings.Contains(err.Error(), "/name") {
			b.t.Errorf("the edit was answered with %v, want what is wrong with /name", err)
		}
		b.approve(ap)
		b.wait(turn)
		if got := b.effects(); got != "w" {
			b.t.Errorf("effects %q, want the one as it was", got)
		}
	},
	"granted_writes": func(b *bed) {
		turn := b.send("write:w|write:v write:u|say:done")
		b.decide(b.pending(1)[0], func(d *contract.Decision) { d.Grant = &contract.GrantTerms{} })
		b.wait(turn)
		b.must(b.Revoke(b.ctx(), b.start.ThreadRef, contract.RevokeGrant{Grant: "g1", By: "bob"}))
		turn = b.send("write:t|say:done")
		b.deny(b.pending(1)[0])
		b.wait(turn)
		if got := b.effects(); got != "u v w" {
			b.t.Errorf("effects %q, want the three that were granted", got)
		}
	},
	"four_eyes": func(b *bed) {
		turn := b.send("pair:w|say:done")
		ap := b.pending(1)[0]
		if decided := b.decide(ap, func(*contract.Decision) {}); decided.Missing != 1 || b.effects() != "" {
			b.t.Errorf("after one vote: %+v, effects %q", decided, b.effects())
		}
		if _, err := b.Decide(b.ctx(), b.start.ThreadRef, contract.Decision{
			Approval: ap.ID, Digest: ap.Digest, Verdict: contract.Approve, By: b.start.User,
		}); err == nil {
			b.t.Error("who asked was let decide")
		}
		b.decide(ap, func(d *contract.Decision) { d.By = "eve" })
		b.wait(turn)
		if got := b.effects(); got != "w" {
			b.t.Errorf("effects %q, want one", got)
		}
	},
	"switched_mode": func(b *bed) {
		turn := b.send("write:w|say:done")
		ap := b.pending(1)[0]
		set, err := b.SetMode(b.ctx(), b.start.ThreadRef, contract.SetMode{Mode: "plan", By: "bob"})
		if b.must(err); set.Mode != "plan" {
			b.t.Errorf("the answer is %+v", set)
		}
		b.approve(ap)
		b.wait(turn)
		if p := b.problemOf("t1-s1-c1"); p == nil || p.Code != catalog.CodeModeDenied || b.effects() != "" {
			b.t.Errorf("the call ended with %v, effects %q", p, b.effects())
		}
		b.signal(contract.SignalSetMode, contract.SetMode{Mode: "build"})
		b.until("the mode is build", func() bool { // nobody answers a signal
			state, err := b.State(b.ctx(), b.start.ThreadRef)
			b.must(err)
			return state.Mode == "build"
		})
		turn = b.send("free:v|say:done")
		b.wait(turn)
		if got := b.effects(); got != "v" {
			b.t.Errorf("effects %q, want the one after the switch back; the call ended with %v", got, b.problemOf("t2-s1-c1"))
		}
	},
	"thread_and_prompt_policy": func(b *bed) {
		b.start.Policy = []contract.Rule{{Name: "verified", Effect: "block", Tools: []string{"test.write"}, Reason: "the customer is not verified"}}
		b.wait(b.send("write:w free:a|say:done"))
		b.wait(b.sendWith(contract.Submission{
			Text: "free:b read:c|say:done", Policy: []contract.Rule{{Name: "look", Effect: "block", Operation: "write"}},
		}))
		b.wait(b.send("free:d|say:done"))
		for call, rule := range map[string]string{"t1-s1-c1": "verified", "t1-s1-c2": "", "t2-s1-c1": "look", "t2-s1-c2": "", "t3-s1-c1": ""} {
			p := b.problemOf(call)
			if (p == nil) != (rule == "") || p != nil && (p.Code != catalog.CodePolicyBlocked || !strings.Contains(p.Message, rule)) {
				b.t.Errorf("call %s ended with %v, want rule %q", call, p, rule)
			}
		}
		if got := b.effects(); got != "a d" {
			b.t.Errorf("effects %q", got)
		}
		turn := b.wait(b.sendWith(contract.Submission{Text: "say:done", Policy: []contract.Rule{{Effect: "block", When: "input.x >"}}}))
		if turn.Problem == nil || turn.Problem.Code != contract.ErrInvalid || !strings.Contains(turn.Problem.Message, "policy rule 1 of the prompt") {
			b.t.Errorf("turn = %+v, problem %v", turn, turn.Problem)
		}
	},
	"changed_tool": func(b *bed) {
		turn := b.send("write:w|write:w|say:done")
		ap := b.pending(1)[0]
		b.describe("Writes twice.")
		b.decide(ap, agree)
		b.decide(b.pending(1)[0], agree)
		b.wait(turn)
	},
	"reminded_approval": func(b *bed) {
		b.start.Agent = "reminded"
		turn := b.send("write:w|say:done")
		ap := b.pending(1)[0]
		for part, err := range b.Watch(b.ctx(), b.start.ThreadRef, 0) {
			if b.must(err); part.ID == ap.ID && part.Approval.Reminders > 0 {
				break
			}
		}
		b.approve(ap)
		b.wait(turn)
	},
}

// What is tightened while a call waits for a person stops it, though the person
// agrees, and the caller gets the typed error.
func TestTightenedWhileAPersonIsAsked(t *testing.T) {
	server := testkit.DevServer(t)
	for name, c := range map[string]struct {
		tighten func(*bed)
		code    string
	}{
		"policy blocks": {func(b *bed) {
			b.configure(config + "policy:\n  - {name: frozen, effect: block, tools: [test.write], reason: stock is taken}\n")
		}, catalog.CodePolicyBlocked},
		"policy wants more people": {func(b *bed) {
			b.configure(config + "policy:\n  - {name: two, effect: ask, tools: [test.write], approvers: 2}\n")
		}, catalog.CodeApprovalRequired},
		"mode": {func(b *bed) {
			_, err := b.SetMode(b.ctx(), b.start.ThreadRef, contract.SetMode{Mode: "ask"})
			b.must(err)
		}, catalog.CodeModeDenied},
		"descriptor": {func(b *bed) { b.describe("Writes twice.") }, catalog.CodeDescriptorChanged},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, server)
			turn := b.send("write:w|say:done")
			ap := b.pending(1)[0]
			c.tighten(b)
			b.approve(ap)
			if ended := b.wait(turn); ended.Status != contract.StatusCompleted {
				t.Errorf("the turn ended as %+v, %v", ended, ended.Problem)
			}
			if p := b.problemOf("t1-s1-c1"); p == nil || p.Code != c.code {
				t.Errorf("the call ended with %v, want %s", p, c.code)
			}
			if got := b.effects(); got != "" {
				t.Errorf("effects %q, want none", got)
			}
		})
		t.Run(name+", of a snippet", func(t *testing.T) {
			b := newBed(t, server)
			b.start.Agent = "coder"
			turn := b.send(`await test.write({ name: "w" }).catch((e: any) => e.code)`)
			ap := b.pending(1)[0]
			c.tighten(b)
			b.approve(ap)
			if answer := b.answer(turn); string(answer.Result) != `"`+c.code+`"` {
				t.Errorf("the snippet came to %s, want %s", asJSON(answer), c.code)
			}
			if got := b.effects(); got != "" {
				t.Errorf("effects %q, want none", got)
			}
		})
	}
}

// A tool that changes while a person is asked about a call of it is not called as it was
// agreed to. Who is asked about the next call of it is shown what has changed, once.
func TestToolChangesWhileAPersonIsAsked(t *testing.T) {
	server := testkit.DevServer(t)
	for name, start := range map[string]func(*bed) string{
		"a call": func(b *bed) string { return b.send("write:w|write:w|write:v|say:done") },
		"of a snippet": func(b *bed) string {
			b.start.Agent = "coder"
			return b.send(`for (const name of ["w", "w", "v"]) await test.write({ name }).catch(() => {})`)
		},
	} {
		for verdict, want := range map[contract.Verdict]string{contract.Approve: "w", contract.Deny: ""} {
			t.Run(name+", "+string(verdict), func(t *testing.T) {
				b := newBed(t, server)
				turn := start(b)
				first := b.pending(1)[0]
				b.describe("Writes twice.")
				b.decide(first, agree)
				second := b.pending(1)[0]
				if second.Call == first.Call || second.Digest == first.Digest || second.InputDigest != first.InputDigest ||
					second.Changed != "description\n- Writes.\n+ Writes twice." || first.Changed != "" {
					t.Errorf("the new approval is %+v", second)
				}
				var refused *signals.Error
				if _, err := b.Decide(b.ctx(), b.start.ThreadRef, contract.Decision{Approval: second.ID, Digest: first.Digest, Verdict: contract.Approve}); !errors.As(err, &refused) ||
					refused.Code != contract.ErrDigestMismatch {
					t.Errorf("with the digest of the one before: %v", err)
				}
				b.decide(second, func(d *contract.Decision) { d.Verdict = verdict })
				third := b.pending(1)[0]
				if third.Changed != "" {
					t.Errorf("the approval after that is %+v", third)
				}
				b.decide(third, func(d *contract.Decision) { d.Verdict = contract.Deny })
				b.wait(turn)
				if got := b.effects(); got != want {
					t.Errorf("effects %q, want %q", got, want)
				}
			})
		}
	}
}

// describe has another worker describe the tool test.write in other words.
func (b *bed) describe(words string) {
	b.t.Helper()
	b.must(os.WriteFile(filepath.Join(b.worker.Dir, "description"), []byte(words), 0o600))
	b.restart()
}

// revokeInLine grants the calls of a tool with the first, w, and revokes that while the
// second, v, is at a gate and the third, u, behind it.
func (b *bed) revokeInLine() {
	b.t.Helper()
	openGate(b.t, b.worker, "w")
	b.decide(b.pending(1)[0], func(d *contract.Decision) { d.Grant = &contract.GrantTerms{} })
	awaitGate(b.t, b.worker, "v")
	b.shown(3, "test.guarded") // what asks for a call after that has no grant
	b.must(b.Revoke(b.ctx(), b.start.ThreadRef, contract.RevokeGrant{Grant: "g1"}))
	for part, err := range b.Watch(b.ctx(), b.start.ThreadRef, 0) {
		if b.must(err); part.Kind == contract.KindGrant && part.Status == contract.PartCancelled {
			break
		}
	}
	openGate(b.t, b.worker, "v")
	openGate(b.t, b.worker, "u")
}

// A grant that is revoked while a call that it let pass is in line stops it.
func TestGrantRevokedWhileACallIsInLine(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	turn := b.send("guarded:w|guarded:v guarded:u|say:done")
	b.revokeInLine()
	b.wait(turn)
	if p := b.problemOf("t1-s2-c2"); p == nil || p.Code != contract.CodeGrantRevoked || b.effects() != "v w" {
		t.Errorf("the call ended with %v, effects %q", p, b.effects())
	}
}

// The same for the calls of a snippet.
func TestGrantRevokedWhileACallOfASnippetIsInLine(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	b.start.Agent = "coder"
	turn := b.send(`
		await test.guarded({ name: "w" });
		const rest = await Promise.all(["v", "u"].map((name) => test.guarded({ name }).then(() => "made").catch((e: any) => e.code)));
		return rest.join(" ")`)
	b.revokeInLine()
	if answer := b.answer(turn); string(answer.Result) != `"made grant_revoked"` || b.effects() != "v w" {
		t.Errorf("the snippet came to %s, effects %q", asJSON(answer), b.effects())
	}
}

// Grants and the mode go on in the next run.
func TestGrantsAndModeOutliveARun(t *testing.T) {
	b := newBed(t, testkit.StartServer(t, shortRuns))
	turn := b.send("write:w|say:done")
	b.decide(b.pending(1)[0], func(d *contract.Decision) { d.Grant = &contract.GrantTerms{} })
	b.wait(turn)
	_, err := b.SetMode(b.ctx(), b.start.ThreadRef, contract.SetMode{Mode: "build"})
	b.must(err)
	for range 4 {
		b.wait(b.send("read:a|read:b|read:c|read:d|say:done"))
	}
	b.wait(b.send("write:v|say:done"))
	state, err := b.State(b.ctx(), b.start.ThreadRef)
	b.must(err)
	if state.Runs < 2 || state.Mode != "build" || len(state.Grants) != 1 || state.Grants[0].Used != 1 || b.effects() != "v w" {
		t.Errorf("runs %d, mode %q, grants %+v, effects %q", state.Runs, state.Mode, state.Grants, b.effects())
	}
}
