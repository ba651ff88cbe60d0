package catalog_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/catalog"
)

func TestMatchPattern(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"*", "workspace.write", true},
		{"workspace.*", "workspace.write", true},
		{"workspace.*", "workspace", false},
		{"work*", "workspace.write", true},
		{"workspace.write", "workspace.write", true},
		{"workspace.write", "workspace.write2", false},
		{"workspace", "workspace.write", false},
	} {
		if got := catalog.MatchPattern(c.pattern, c.name); got != c.want {
			t.Errorf("MatchPattern(%q, %q) = %v", c.pattern, c.name, got)
		}
	}
}

func TestCheckPattern(t *testing.T) {
	for pattern, want := range map[string]string{
		"*": "", "workspace.*": "", "web/read": "", "a:b*": "",
		"": "empty", "*.write": "not allowed", "a*b": "not allowed", "ü": "not allowed", strings.Repeat("a", 65): "65 bytes",
	} {
		err := catalog.CheckPattern(pattern)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("CheckPattern(%q) = %v, want %q", pattern, err, want)
		}
	}
}

// What a tool takes is part of what a person approves, and a tool without it has
// the digest that it always had.
func TestDigestCoversCapabilitiesAndTags(t *testing.T) {
	digest := func(change func(*catalog.Tool)) string {
		tool := write("orders.refund")
		change(&tool)
		plan := broker(t, of("s", tool)).Plan(t.Context(), everyone, catalog.Request{Tool: tool.ID})
		if plan.Error != nil {
			t.Fatal(plan.Error)
		}
		return plan.DescriptorDigest
	}
	seen := map[string]string{}
	for name, change := range map[string]func(*catalog.Tool){
		"none":       func(*catalog.Tool) {},
		"capability": func(t *catalog.Tool) { t.Capabilities = []string{"x"} },
		"tag":        func(t *catalog.Tool) { t.Tags = []string{"x"} },
		"approvers":  func(t *catalog.Tool) { t.Approvers = 2 },
	} {
		got := digest(change)
		if other, twice := seen[got]; twice {
			t.Errorf("%s and %s have the same digest", name, other)
		}
		seen[got] = name
	}
}

func TestNeeds(t *testing.T) {
	d := write("orders.items.add").Descriptor
	if diff := cmp.Diff([]string{"orders.write"}, d.Needs()); diff != "" {
		t.Error(diff)
	}
	d.Capabilities = []string{"stock.change"}
	if diff := cmp.Diff([]string{"stock.change"}, d.Needs()); diff != "" {
		t.Error(diff)
	}
}
