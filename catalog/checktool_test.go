package catalog_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
)

func TestNewRefusesDescriptorsThatMakeNoSense(t *testing.T) {
	for part, change := range map[string]func(*catalog.Tool){
		`trust is "much"`:                         func(t *catalog.Tool) { t.Trust = "much" },
		"only a write is destructive":             func(t *catalog.Tool) { t.Operation, t.Destructive = catalog.Read, true },
		"a brace is not closed":                   func(t *catalog.Tool) { t.ResourceKey = "order/{order" },
		"input of example number 1 is no JSON":    func(t *catalog.Tool) { t.Examples = []catalog.Example{{Input: json.RawMessage(`[1]`)}} },
		`secret "a b": ' ' is not allowed`:        func(t *catalog.Tool) { t.Secrets = []string{"a b"} },
		"9 examples, at most 8":                   func(t *catalog.Tool) { t.Examples = make([]catalog.Example, 9) },
		"description of example number 1 is not ": func(t *catalog.Tool) { t.Examples = []catalog.Example{{Description: "\xff"}} },
	} {
		tool := write("orders.refund")
		change(&tool)
		if _, err := catalog.New(of("s", tool)); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error is %v, want one that says %q", err, part)
		}
	}
	fine := write("orders.refund")
	fine.Capabilities, fine.Tags = []string{"files.write", "net:https"}, []string{"billing"}
	fine.Secrets, fine.Examples = []string{"billing/api-key"}, []catalog.Example{{Input: json.RawMessage(` {"a":1}`)}}
	if _, err := catalog.New(of("s", fine)); err != nil {
		t.Error(err)
	}
}

// TestDigestCoversWhatAPersonAgreesTo: what changes the protection of a tool, or
// what it is, voids an approval; what does not, does not.
func TestDigestCoversWhatAPersonAgreesTo(t *testing.T) {
	digest := func(tool catalog.Tool) string {
		plan := broker(t, of("s", tool)).Plan(t.Context(), everyone, catalog.Request{Tool: tool.ID})
		if plan.Error != nil {
			t.Fatal(plan.Error)
		}
		return plan.DescriptorDigest
	}
	before := digest(write("orders.refund"))
	for name, change := range map[string]func(*catalog.Tool){
		"trust":       func(t *catalog.Tool) { t.Trust = catalog.TrustRemote },
		"destructive": func(t *catalog.Tool) { t.Destructive = true },
		"idempotent":  func(t *catalog.Tool) { t.Idempotent = true },
		"independent": func(t *catalog.Tool) { t.Independent = true },
		"secrets":     func(t *catalog.Tool) { t.Secrets = []string{"key"} },
		"resource":    func(t *catalog.Tool) { t.ResourceKey = "ledger" },
		"title":       func(t *catalog.Tool) { t.Title = "x" },
		"operation":   func(t *catalog.Tool) { t.Operation = catalog.Read },
	} {
		tool := write("orders.refund")
		change(&tool)
		if digest(tool) == before {
			t.Errorf("%s is not in the digest", name)
		}
	}
	same := write("orders.refund")
	same.Source, same.Timeout, same.Examples = "elsewhere", 1000, []catalog.Example{{Input: json.RawMessage(`{}`)}}
	if digest(same) != before {
		t.Error("source, timeout or examples are in the digest")
	}
}

func TestRemoteWordLowersNothing(t *testing.T) {
	tool := write("issues.create")
	tool.Trust, tool.Approval = catalog.TrustRemote, catalog.ApprovalNever
	plan := broker(t, of("s", tool)).Plan(t.Context(), everyone, catalog.Request{Tool: tool.ID})
	if plan.Error != nil || !plan.NeedsApproval {
		t.Errorf("plan is %+v, want one that needs approval", plan)
	}
}

func TestNamespaceAndName(t *testing.T) {
	for id, want := range map[string][2]string{"orders.get": {"orders", "get"}, "orders.items.list": {"orders", "items.list"}} {
		d := catalog.Descriptor{ID: id}
		if got := [2]string{d.Namespace(), d.Name()}; got != want {
			t.Errorf("%s is %q, want %q", id, got, want)
		}
	}
}
