package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/catalog"
)

type auditor struct {
	entries []catalog.Entry
	err     error
}

func (a *auditor) Audit(e catalog.Entry) error {
	a.entries = append(a.entries, e)
	return a.err
}

func audited(t *testing.T, ruling catalog.Ruling) (*catalog.Broker, *auditor, *int) {
	t.Helper()
	made := 0
	broker, err := catalog.New(fixed{"mine", []catalog.Tool{{
		Descriptor: catalog.Descriptor{
			ID: "orders.pay", Description: "Pays.", Operation: catalog.Write, Input: json.RawMessage(`{"type":"object"}`), ResourceKey: "order/{id}",
		},
		Call: func(context.Context, catalog.Call) (json.RawMessage, error) {
			made++
			return json.RawMessage(`{"paid":true}`), nil
		},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	a := &auditor{}
	broker.Report(a)
	broker.Govern(judge(func(catalog.Question) catalog.Ruling { return ruling }), catalog.Modes{})
	return broker, a, &made
}

// What becomes of a call is recorded, step by step, without what it is about.
func TestEntriesOfACall(t *testing.T) {
	ask := catalog.Ruling{Verdict: catalog.VerdictAsk, Rule: "money", Place: "heddle.yaml:3"}
	broker, a, _ := audited(t, ask)
	scope := catalog.Scope{Tenant: "acme", User: "ann", Thread: "t", Agent: "a", Tools: []string{"*"}}
	req := catalog.Request{Tool: "orders.pay", Input: json.RawMessage(`{"id":"A-1"}`), IdempotencyKey: "k"}
	plan := broker.Plan(t.Context(), scope, req)
	if o := broker.Dispatch(t.Context(), scope, req, plan); o.Error != nil {
		t.Fatal(o.Error)
	}
	who := catalog.Entry{
		Tenant: "acme", User: "ann", Thread: "t", Agent: "a", Tool: "orders.pay", Operation: catalog.Write, Resource: "order/A-1", InputBytes: 12,
		Policy: &catalog.Decided{Verdict: catalog.VerdictAsk, Rule: "money", Place: "heddle.yaml:3"}, Asked: []string{},
		DescriptorDigest: plan.DescriptorDigest, InputDigest: plan.InputDigest,
	}
	planned, begun := who, who
	planned.Kind, planned.NeedsApproval = catalog.EntryPlan, true
	begun.Kind, begun.Approved, begun.IdempotencyKey = catalog.EntryBegin, true, "k"
	called := begun
	called.Kind, called.OutputBytes = catalog.EntryCall, 13
	for i := range a.entries {
		a.entries[i].DurationMS = 0
	}
	if diff := cmp.Diff([]catalog.Entry{planned, begun, called}, a.entries); diff != "" {
		t.Error(diff)
	}
}

func TestEntryOfABlock(t *testing.T) {
	broker, a, made := audited(t, catalog.Ruling{Verdict: catalog.VerdictBlock, Rule: "frozen", Place: "heddle.yaml:4"})
	if o := callIt(t.Context(), broker, "acme", "orders.pay", `{"id":"A-1"}`); o.Error == nil || *made != 0 {
		t.Fatalf("outcome = %+v", o)
	}
	if len(a.entries) != 2 {
		t.Fatalf("entries = %+v", a.entries)
	}
	for i, kind := range []string{catalog.EntryPlan, catalog.EntryCall} {
		e := a.entries[i]
		if e.Kind != kind || e.Code != catalog.CodePolicyBlocked || e.Policy == nil || *e.Policy != (catalog.Decided{Verdict: catalog.VerdictBlock, Rule: "frozen", Place: "heddle.yaml:4"}) {
			t.Errorf("entry = %+v", e)
		}
	}
}

// A write that cannot be recorded is not made.
func TestNoWriteWithoutAnEntry(t *testing.T) {
	broker, a, made := audited(t, catalog.Ruling{})
	a.err = errors.New("no space left on device")
	o := callIt(t.Context(), broker, "acme", "orders.pay", `{"id":"A-1"}`)
	if o.Error == nil || o.Error.Code != catalog.CodeNotMade || o.Error.Effect != catalog.EffectNone || !strings.Contains(o.Error.Message, "no space") || *made != 0 {
		t.Errorf("outcome = %+v, made %d times", o.Error, *made)
	}
}
