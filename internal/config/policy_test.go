package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/policy"
)

const policed = `
modes:
  triage:
    allow: ["*"]
    deny: [payments.*]
    writable: [tickets/*]
    prompt: Sort the tickets.
policy:
  - name: large
    effect: ask
    namespaces: [orders]
    operation: write
    when: input.cents > 10000
    reason: a lot of money
    approvers: 2
  - effect: allow
    tools: [orders.get, "stock.*"]
    capabilities: [stock.*]
    tags: [safe]
    modes: [triage]
    without_approval: true
agents:
  support:
    model: m
    instructions: Help.
    tools: [orders.*]
    mode: triage
    policy:
      - effect: block
        tools: [orders.delete]
`

func modeNames(t *testing.T, c *Config) []string {
	t.Helper()
	modes, err := catalog.NewModes(c.Modes...)
	if err != nil {
		t.Fatal(err)
	}
	return modes.Names()
}

func TestPolicyAndModes(t *testing.T) {
	c, err := Parse("heddle.yaml", []byte(policed), nil)
	if err != nil {
		t.Fatal(err)
	}
	wantModes := []catalog.Mode{{
		Name: "triage", Allow: []string{"*"}, Deny: []string{"payments.*"}, Writable: []string{"tickets/*"}, Prompt: "Sort the tickets.",
	}}
	wantRules := []policy.Rule{
		{
			Name: "large", Effect: policy.Ask, Namespaces: []string{"orders"}, Operation: catalog.Write, When: "input.cents > 10000",
			Reason: "a lot of money", Approvers: 2, Place: "heddle.yaml:9:5",
		},
		{
			Effect: policy.Allow, Tools: []string{"orders.get", "stock.*"}, Capabilities: []string{"stock.*"}, Tags: []string{"safe"},
			Modes: []string{"triage"}, WithoutApproval: true, Place: "heddle.yaml:16:5",
		},
	}
	if diff := cmp.Diff(wantModes, c.Modes); diff != "" {
		t.Errorf("modes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantRules, c.Policy); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if a := c.Agents[0]; a.Mode != "triage" || len(a.Policy) != 1 || a.Policy[0].Place != "heddle.yaml:29:9" {
		t.Errorf("agent is %+v", a)
	}
	if _, err := c.CompilePolicy(policy.Set{Modes: modeNames(t, c)}); err != nil {
		t.Error(err)
	}
}

// A fault of a rule is reported where it stands, to the column of the condition.
func TestPolicyFaultsHavePlaces(t *testing.T) {
	for name, c := range map[string]struct{ rules, want string }{
		"effect":      {"policy:\n  - effect: deny\n", `f.yaml:2:5: policy[0].effect: want allow, ask or block, found "deny"`},
		"glob":        {"policy:\n  - effect: block\n    tools: [a.b, 'x*']\n", "f.yaml:3:18: policy[0].tools[1]: glob"},
		"plain":       {"policy:\n  - effect: block\n    when: tenat == 'x'\n", "f.yaml:3:11: policy[0].when: undeclared reference to 'tenat'"},
		"quoted":      {"policy:\n  - effect: block\n    when: \"tenat == 'x'\"\n", "f.yaml:3:12: policy[0].when: undeclared"},
		"further in":  {"policy:\n  - effect: block\n    when: tenant == 'x' || usr == 'y'\n", "f.yaml:3:28: policy[0].when: undeclared"},
		"block":       {"policy:\n  - effect: block\n    when: |\n      tenant == 'x' ||\n      usr == 'y'\n", "f.yaml:5:7: policy[0].when: undeclared"},
		"block, deep": {"policy:\n  - effect: block\n    when: |\n        tenant == 'x' || usr == 'y'\n", "f.yaml:4:26: policy[0].when: undeclared"},
		"never":       {"policy:\n  - effect: block\n  - effect: ask\n", `f.yaml:3:5: policy[1]: can never match: rule "app-1" before it (f.yaml:2:5)`},
		"false":       {"policy:\n  - effect: block\n    when: 1 > 2\n", "f.yaml:3:5: policy[0].when: can never match"},
		"agent": {
			"agents:\n  a:\n    model: m\n    instructions: x\n    tools: [b.*]\n    policy:\n      - effect: block\n        tools: [c.d]\n",
			"f.yaml:8:9: agents.a.policy[0].tools: can never match: agent a may use b.*",
		},
	} {
		t.Run(name, func(t *testing.T) {
			parsed, err := Parse("f.yaml", []byte(c.rules), nil)
			if err != nil {
				t.Fatal(err)
			}
			// The rules of a program stand before those of the file and shift no place.
			_, err = parsed.CompilePolicy(policy.Set{
				App: []policy.Rule{{Name: "program", Effect: policy.Ask, Tags: []string{"x"}}}, Modes: []string{"ask"},
			})
			if name == "never" {
				_, err = parsed.CompilePolicy(policy.Set{Modes: []string{"ask"}})
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is\n%v\nwant one that says\n%s", err, c.want)
			}
		})
	}
}

func TestPolicyOfTheWrongForm(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no list":         {"policy: {effect: block}\n", "policy: want a list"},
		"unknown field":   {"policy:\n  - effect: block\n    tool: a.b\n", "policy[0].tool: unknown field; did you mean tools?"},
		"no effect":       {"policy:\n  - tools: [a.b]\n", "policy[0]: the field effect is missing"},
		"empty list":      {"policy:\n  - effect: block\n    tools: []\n", "policy[0].tools: is empty"},
		"waiver":          {"policy:\n  - effect: allow\n    without_approval: yes please\n", "without_approval: want true or false"},
		"mode without":    {"modes:\n  m: {deny: [x]}\n", "modes.m: the field allow is missing"},
		"mode's pattern":  {"modes:\n  m: {allow: ['*x']}\n", "modes.m: mode \"m\": allow: pattern"},
		"mode's writable": {"modes:\n  m: {allow: ['*'], writable: ['a*b']}\n", "writable: \"a*b\" is no pattern"},
	} {
		if _, err := Parse("f.yaml", []byte(c.text), nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want one that says %q", name, err, c.want)
		}
	}
}
