package catalog_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
)

// look is a lookup by a tool that reads.
type look string

func (l look) Tool() string { return string(l) }
func (look) Input(string, json.RawMessage) (json.RawMessage, error) {
	return json.RawMessage(`{}`), nil
}

func (look) Judge(string, json.RawMessage, catalog.Outcome) (catalog.Reconciled, error) {
	return catalog.Reconciled{Found: catalog.FoundNotApplied}, nil
}

// The look-up of what became of a write goes the way of every call: a policy that
// blocks its tool stops it, and the audit log has it.
func TestPolicyBlocksLookups(t *testing.T) {
	looks, blocked := 0, false
	b := broker(t, of("mine", write("orders.pay"), withFunction(read("orders.list"), func(context.Context, catalog.Call) (json.RawMessage, error) {
		looks++
		return json.RawMessage(`{}`), nil
	})))
	b.LookUp(map[string]catalog.Lookup{"orders.pay": look("orders.list")})
	a := &auditor{}
	b.Report(a)
	b.Govern(judge(func(q catalog.Question) catalog.Ruling {
		if blocked && q.Tool.ID == "orders.list" {
			return catalog.Ruling{Verdict: catalog.VerdictBlock, Rule: "frozen"}
		}
		return catalog.Ruling{}
	}), catalog.Modes{})
	req := catalog.Request{Tool: "orders.pay", Input: json.RawMessage(`{}`), IdempotencyKey: "k"}
	plan := b.Plan(t.Context(), everyone, req)

	found, err := b.Reconcile(t.Context(), everyone, req, plan)
	if err != nil || found.Found != catalog.FoundNotApplied || looks != 1 {
		t.Fatalf("found %+v, error %v, %d looks", found, err, looks)
	}
	if last := a.entries[len(a.entries)-1]; last.Kind != catalog.EntryCall || last.Tool != "orders.list" || last.Code != "" {
		t.Errorf("entry = %+v", last)
	}
	blocked = true
	found, err = b.Reconcile(t.Context(), everyone, req, plan)
	if err != nil || found.Found != catalog.FoundNothing || !strings.Contains(found.Reason, catalog.CodePolicyBlocked) || looks != 1 {
		t.Errorf("found %+v, error %v, %d looks", found, err, looks)
	}
	if last := a.entries[len(a.entries)-1]; last.Tool != "orders.list" || last.Code != catalog.CodePolicyBlocked || last.Policy == nil || last.Policy.Rule != "frozen" {
		t.Errorf("entry = %+v", last)
	}
}
