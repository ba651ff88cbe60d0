package check_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/codemode/check"
)

// TestBombs checks what is small and would take for ever, or is huge itself.
func TestBombs(t *testing.T) {
	repeat := func(n int, format string) string {
		var parts []string
		for i := range n {
			parts = append(parts, strings.ReplaceAll(format, "N", fmt.Sprint(i)))
		}
		return strings.Join(parts, ",")
	}
	nested := check.Node{Kind: check.Literal, Value: json.RawMessage("7")}
	for range 20 * check.MaxDepth {
		nested = check.Node{Kind: check.Object, Members: []check.Member{{Name: "p", Value: nested}, {Name: "q", Value: nested}}}
	}
	wide := check.Node{Kind: check.Object}
	for i := range check.MaxNodes / 50 {
		wide.Members = append(wide.Members, check.Member{Name: fmt.Sprint("n", i), Value: written(i)})
	}
	tests := []struct {
		name, schema string
		input        check.Node
	}{
		{"alternatives that double at each level", `{"anyOf":[{"properties":{"p":{"$ref":"#"}},"required":["no"]},{"properties":{"p":{"$ref":"#"}},"required":["nor"]}]}`, nested},
		{"references that go round", `{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/b"}]},"b":{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]}}}`, nested},
		{"many constants", `{"additionalProperties":{"enum":[` + repeat(40_000, `"value N"`) + `]}}`, wide},
		{"many patterns", `{"patternProperties":{` + repeat(3000, `"^(a|b)*N$":{"type":"string"}`) + `}}`, wide},
		{"many required", `{"required":[` + repeat(9000, `"r N"`) + `],"additionalProperties":{"required":["x"]}}`, wide},
		{"many properties", `{"additionalProperties":false,"properties":{` + repeat(9000, `"property_N":{}`) + `}}`, wide},
		{"long names", `{"required":["` + strings.Repeat("long", 10_000) + `"],"properties":{"n1":{"const":"` + strings.Repeat("text", 10_000) + `"}}}`, wide},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var calls []check.Call
			for range check.MaxCalls {
				calls = append(calls, check.Call{Path: []string{"t", "run"}, Args: []check.Node{tt.input}})
			}
			began := time.Now()
			findings := check.Check(calls, tools{"t.run": tt.schema})
			if took := time.Since(began); took > 10*time.Minute {
				t.Errorf("took %s", took)
			}
			if len(findings) > check.MaxFindings+1 {
				t.Errorf("%d findings", len(findings))
			}
			t.Logf("%s, %d findings", time.Since(began), len(findings))
		})
	}
}
