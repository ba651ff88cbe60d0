package durability

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/audit"
	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

const auditedPolicy = `
audit: audit
policy:
  - {name: frozen, effect: block, tools: [test.thing]}
  - {name: look, effect: ask, tools: [test.gate]}
  - {name: open, effect: allow, tools: [test.read, test.free]}
`

// audited are the entries of the worker's audit log, which is as it was written.
func (b *bed) audited() (entries []catalog.Entry) {
	b.t.Helper()
	files, err := filepath.Glob(filepath.Join(b.worker.Dir, "audit", "audit-*.jsonl"))
	b.must(err)
	for _, path := range files {
		file, err := os.Open(path)
		b.must(err)
		_, err = audit.Verify(file, "")
		b.must(err)
		_, err = file.Seek(0, 0)
		b.must(err)
		for scanner := bufio.NewScanner(file); scanner.Scan(); {
			var line struct {
				Record struct {
					Entry catalog.Entry `json:"entry"`
				} `json:"record"`
			}
			b.must(json.Unmarshal(scanner.Bytes(), &line))
			entries = append(entries, line.Record.Entry)
		}
		b.must(file.Close())
	}
	return entries
}

// Who decided what about which call stands in the audit log.
func TestDecisionsAreAudited(t *testing.T) {
	b := newBedOf(t, testkit.DevServer(t), map[string]string{"heddle.yaml": config + auditedPolicy})
	digests := map[string]string{}
	next := func() contract.Approval {
		ap := b.pending(1)[0]
		digests[b.start.Thread+ap.ID] = ap.Digest
		return ap
	}
	turn := b.send("write:a|write:b|write:c|write:d|pair:e|say:done")
	b.decide(next(), func(d *contract.Decision) { d.Comment = "the customer is right" })
	b.decide(next(), func(d *contract.Decision) { d.Verdict, d.By, d.Comment = contract.Deny, "eve", "not today" })
	b.decide(next(), func(d *contract.Decision) { d.Verdict, d.Input = contract.Edit, json.RawMessage(`{"name":"edited"}`) })
	b.decide(next(), func(d *contract.Decision) { d.Grant = &contract.GrantTerms{Calls: 3} })
	pair := next()
	b.decide(pair, func(*contract.Decision) {})
	b.restart()
	b.decide(pair, func(d *contract.Decision) { d.By = "eve" })
	b.wait(turn)
	b.must(b.Revoke(b.ctx(), b.start.ThreadRef, contract.RevokeGrant{Grant: "g1", By: "eve", Reason: "enough"}))
	b.wait(b.send("thing:f|say:done"))
	ref := b.start.ThreadRef
	b.start.Agent, b.start.Thread = "hasty", ref.Thread+"-hasty"
	b.wait(b.send("write:late|say:done"))

	type decision struct{ Verdict, Approval, Tool, By, Comment, Grant string }
	var got []decision
	for _, e := range b.audited() {
		if e.Kind != catalog.EntryDecision {
			continue
		}
		d := e.Decision
		grant := ""
		if d.Grant != nil {
			grant = d.Grant.ID
		}
		got = append(got, decision{d.Verdict, d.Approval, e.Tool, d.By, d.Comment, grant})
		if e.Tenant != ref.Tenant || d.At.IsZero() || e.DescriptorDigest == "" || d.Verdict != "revoke" && (d.Call+"-a" != d.Approval || e.InputDigest == "") {
			t.Errorf("entry = %s", asJSON(e))
		}
		if shown := digests[e.Thread+d.Approval]; shown != "" && d.Verdict != "revoke" && (d.Digest == shown) != (d.Verdict != "edit") {
			t.Errorf("%s of %s has the digest %s, shown was %s", d.Verdict, d.Approval, d.Digest, shown)
		}
	}
	want := []decision{
		{"approve", "t1-s1-c1-a", "test.write", "bob", "the customer is right", ""},
		{"deny", "t1-s2-c1-a", "test.write", "eve", "not today", ""},
		{"edit", "t1-s3-c1-a", "test.write", "bob", "", ""},
		{"approve", "t1-s4-c1-a", "test.write", "bob", "", "g1"},
		{"approve", "t1-s5-c1-a", "test.pair", "bob", "", ""},
		{"approve", "t1-s5-c1-a", "test.pair", "eve", "", ""},
		{"revoke", "t1-s4-c1-a", "test.write", "eve", "enough", "g1"},
		{"expire", "t1-s1-c1-a", "test.write", "", "", ""},
	}
	got = slices.Compact(got) // one that was being written as its workflow task ran out of time comes twice
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the decisions in the audit log (-want +got):\n%s", diff)
	}
	b.start.ThreadRef = ref
	b.replay("audited_decisions", "")
}

// The rule that decided about a call, its time and what it used stand in the audit log
// and in the timeline, whoever has made the call.
func TestEveryCallSaysWhatDecided(t *testing.T) {
	b := newBedOf(t, testkit.DevServer(t), map[string]string{"heddle.yaml": config + auditedPolicy})
	thread := b.start.Thread
	turn := b.send("read:a free:b gate:c thing:d|say:done")
	openGate(t, b.worker, "c")
	b.approve(b.pending(1)[0])
	b.wait(turn)
	b.start.Agent, b.start.Thread = "broker", thread+"-gateway"
	b.wait(b.send(`call:{"id":"test.read","input":{"name":"a"}} batch:{"calls":[{"id":"test.free","input":{"name":"b"}},{"id":"test.thing","input":{"name":"d"}}]}|say:done`))
	b.start.Agent, b.start.Thread = "coder", thread+"-snippet"
	turn = b.send(`
		await test.read({ name: "a" });
		await tools.search({ query: "write" });
		await test.free({ name: "b" });
		await test.thing({ name: "d" }).catch(() => {});
		await test.gate({ name: "c" });`)
	b.approve(b.pending(1)[0])
	b.answer(turn)

	rules := map[string]string{"test.read": "allow open", "test.free": "allow open", "test.gate": "ask look", "test.thing": "block frozen"}
	for name, calls := range map[string]int{"": 4, "-gateway": 3, "-snippet": 4} {
		b.start.Thread = thread + name
		found := 0
		for _, p := range b.parts() {
			switch p.Kind {
			case contract.KindCall:
				found++
				if p.Policy == nil || p.Policy.Verdict+" "+p.Policy.Rule != rules[p.Tool] || !strings.Contains(p.Policy.Place, "heddle.yaml:") {
					t.Errorf("call %s of %s says it was decided by %+v", p.ID, p.Tool, p.Policy)
				}
				if p.Usage == nil || p.Usage.Calls != 1 || p.Usage.InputBytes != 12 || (p.Usage.OutputBytes == 12) != (p.Problem == nil) {
					t.Errorf("call %s of %s used %+v", p.ID, p.Tool, p.Usage)
				}
			case contract.KindSearch:
				if p.Usage == nil || p.Usage.OutputBytes == 0 || p.Usage.Calls != 0 {
					t.Errorf("search %s used %+v", p.ID, p.Usage)
				}
			case contract.KindExecute:
				if p.Usage == nil || p.Usage.Calls != 4 || p.Usage.InputBytes != 48 || p.Usage.OutputBytes != 36 {
					t.Errorf("snippet %s used %+v", p.ID, p.Usage)
				}
			case contract.KindBatch:
				if p.Usage == nil || p.Usage.Calls != 1 || p.Usage.OutputBytes != 12 {
					t.Errorf("batch %s used %+v", p.ID, p.Usage)
				}
			}
		}
		if found != calls {
			t.Errorf("thread %s shows %d calls, want %d: %s", b.start.Thread, found, calls, asJSON(b.parts()))
		}
		audited := 0
		for _, e := range b.audited() {
			if e.Thread != b.start.Thread || rules[e.Tool] == "" {
				continue
			}
			audited++
			if e.Policy == nil || string(e.Policy.Verdict)+" "+e.Policy.Rule != rules[e.Tool] {
				t.Errorf("%s of %s in the audit log says it was decided by %+v", e.Kind, e.Tool, e.Policy)
			}
		}
		if audited < calls { // a read of a snippet is planned and made in one
			t.Errorf("the audit log has %d entries of thread %s", audited, b.start.Thread)
		}
	}
}

// parts are those of the thread's timeline.
func (b *bed) parts() []contract.Part {
	b.t.Helper()
	parts, err := signals.NewReader(b.client, nil).Parts(b.ctx(), b.start.WorkflowID(), "")
	b.must(err)
	return parts
}
