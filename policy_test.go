package heddle

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
)

// silent is a model that is never asked.
type silent struct{ activities.Model }

// policed builds an application with a tool that reads and one that writes.
func policed(t *testing.T, file string, options ...Option) (*App, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "heddle.yaml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	nothing := func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }
	return New(append([]Option{
		ConfigFile(path), Model("m", silent{}),
		Tool("orders.get", "Reads.", nothing), Tool("orders.refund", "Writes.", nothing, Write()),
	}, options...)...)
}

// The rules of the program, of the file and of the agent are one policy.
func TestPolicyOfProgramAndFile(t *testing.T) {
	const file = `
modes: {triage: {allow: [orders.read]}}
policy:
  - {name: file, effect: ask, tools: [orders.get], when: tenant == "file"}
agents:
  support:
    {model: m, instructions: x, tools: ["orders.*"], mode: triage, policy: [{name: agent, effect: block, when: tenant == "agent"}]}
`
	app, err := policed(t, file,
		Policy(Rule{Name: "program", Effect: Block, When: `tenant == "program"`}),
		Modes(Mode{Name: "frozen", Allow: []string{"*"}, Deny: []string{"orders.*"}}),
	)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		tenant, mode, tool string
		code               string
		asks               bool
	}{
		"no rule":                {"acme", "", "orders.get", "", false},
		"rule of the program":    {"program", "", "orders.get", catalog.CodePolicyBlocked, false},
		"rule of the file":       {"file", "", "orders.get", "", true},
		"rule of the agent":      {"agent", "", "orders.get", catalog.CodePolicyBlocked, false},
		"mode of the file":       {"acme", "triage", "orders.refund", catalog.CodeModeDenied, false},
		"mode of the program":    {"acme", "frozen", "orders.get", catalog.CodeModeDenied, false},
		"mode that is built in":  {"acme", "build", "orders.refund", "", true},
		"mode that there is not": {"acme", "nope", "orders.get", catalog.CodeModeDenied, false},
	} {
		scope := catalog.Scope{Tenant: c.tenant, Agent: "support", Mode: c.mode, Tools: []string{"*"}}
		plan := app.broker.Plan(t.Context(), scope, catalog.Request{Tool: c.tool})
		code := ""
		if plan.Error != nil {
			code = plan.Error.Code
		}
		if code != c.code || plan.NeedsApproval != c.asks {
			t.Errorf("%s: %+v (%v), want code %q, asks %v", name, plan, plan.Error, c.code, c.asks)
		}
	}
}

func TestPolicyFaultsOfProgramAndFile(t *testing.T) {
	for name, c := range map[string]struct {
		file   string
		option Option
		want   string
	}{
		"program":         {"", Policy(Rule{Effect: Block, When: "tenat"}), "policy_test.go:"},
		"file":            {"policy:\n  - effect: block\n    when: tenat == ''\n", Modes(), "heddle.yaml:3:11: policy[0].when: undeclared"},
		"behind":          {"policy:\n  - effect: block\n", Policy(Rule{Name: "all", Effect: Allow}), `policy[0]: can never match: rule "all" before it (policy_test.go:`},
		"mode":            {"", Modes(Mode{Name: "a b", Allow: []string{"*"}}), `mode "a b"`},
		"mode twice":      {"modes: {m: {allow: ['*']}}\n", Modes(Mode{Name: "m", Allow: []string{"*"}}), "is defined twice"},
		"mode of agent":   {"agents:\n  a: {model: m, instructions: x, mode: biuld}\n", Modes(), `agents.a.mode: there is no mode "biuld"; there are ask, build, plan, review`},
		"mode in program": {"", Agent{Name: "b", Instructions: "x", Model: "m", Mode: "biuld"}, `agent "b": there is no mode "biuld"`},
	} {
		_, err := policed(t, c.file, c.option)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want one that says %q", name, err, c.want)
		}
	}
}
