package policy_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/policy"
)

// The rules of a thread and of a message tighten what the others say, and loosen
// nothing.
func TestScopesOfThreadAndPrompt(t *testing.T) {
	p, err := policy.New(policy.Set{
		App:    []policy.Rule{{Name: "frozen", Effect: policy.Block, Tools: []string{"orders.purge"}}, {Name: "ask", Effect: policy.Ask, Tools: []string{"orders.refund"}, Approvers: 2}},
		Agents: map[string][]policy.Rule{"support": {{Name: "all", Effect: policy.Allow}}}, Modes: []string{"build"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		tool, thread, prompt string
		want                 catalog.Verdict
		rule                 string
		scope                policy.Scope
		approvers            int
	}{
		{tool: "orders.get", want: catalog.VerdictAllow, rule: "all", scope: policy.Agent},
		{tool: "orders.get", thread: `[{"effect":"ask","name":"t"}]`, want: catalog.VerdictAsk, rule: "t", scope: policy.Thread},
		{tool: "orders.get", prompt: `[{"effect":"block","name":"p","tools":["orders.*"]}]`, want: catalog.VerdictBlock, rule: "p", scope: policy.Prompt},
		{tool: "orders.purge", thread: `[{"effect":"allow"}]`, prompt: `[{"effect":"allow"}]`, want: catalog.VerdictBlock, rule: "frozen", scope: policy.App},
		{tool: "orders.refund", prompt: `[{"effect":"ask","approvers":3}]`, want: catalog.VerdictAsk, rule: "ask", scope: policy.App, approvers: 3},
		{tool: "orders.refund", thread: `[{"effect":"ask","approvers":1}]`, want: catalog.VerdictAsk, rule: "ask", scope: policy.App, approvers: 2},
		// An exception of a scope is one from that scope alone.
		{tool: "orders.get", thread: `[{"effect":"allow","tools":["orders.get"],"name":"x"},{"effect":"block"}]`, want: catalog.VerdictAllow, rule: "all", scope: policy.Agent},
		{tool: "orders.list", thread: `[{"effect":"allow","tools":["orders.get"]},{"effect":"block","name":"rest"}]`, want: catalog.VerdictBlock, rule: "rest", scope: policy.Thread},
		{tool: "orders.get", thread: `[{"effect":"block","when":"input.cents > 5","name":"much"}]`, want: catalog.VerdictBlock, rule: "much", scope: policy.Thread},
		// What cannot be used lets nothing pass.
		{tool: "orders.get", thread: `[{"effect":"block","when":"input.cents >"}]`, want: catalog.VerdictBlock, rule: "unusable", scope: policy.Thread},
		{tool: "orders.get", prompt: `[{"effect":"allow","without_approval":true}]`, want: catalog.VerdictBlock, rule: "unusable", scope: policy.Prompt},
	} {
		q := catalog.Question{
			Tool:  catalog.Descriptor{ID: test.tool, Operation: catalog.Read},
			Input: json.RawMessage(`{"cents":10}`),
			Scope: catalog.Scope{Agent: "support", ThreadRules: json.RawMessage(test.thread), PromptRules: json.RawMessage(test.prompt)},
		}
		got := p.Explain(q)
		if got.Ruling.Verdict != test.want || got.Ruling.Rule != test.rule || got.Scope != test.scope || got.Ruling.Approvers != test.approvers {
			t.Errorf("%s, thread %s, prompt %s: %+v of %s", test.tool, test.thread, test.prompt, got.Ruling, got.Scope)
		}
	}
}

func TestCheckRules(t *testing.T) {
	p, err := policy.New(policy.Set{Modes: []string{"build"}})
	if err != nil {
		t.Fatal(err)
	}
	for rules, says := range map[string]string{
		`[{"effect":"block","when":"input.x >"}]`:      "policy rule 1 of the thread: when:1:10:",
		`[{"effect":"ask"},{"effect":"block"}]`:        "policy rule 2 of the thread: can never match",
		`[{"effect":"ask","modes":["nosuch"]}]`:        "modes[0]: can never match",
		`[{"effect":"ask","tools":["orders..x"]}]`:     "tools[0]",
		`[{"effect":"allow","without_approval":true}]`: "unknown field",
		`{}`:                                "policy of the thread",
		`[{"effect":"ask","when":"false"}]`: "can never match",
		`[{"effect":"ask","when":"1"}]`:     "true or false",
		`[` + strings.Repeat(`{"effect":"block"},`, 600) + `{"effect":"ask"}]`: "rule 2",
	} {
		err := p.CheckRules(catalog.Scope{ThreadRules: json.RawMessage(rules)})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.80s: %v, want %s", rules, err, says)
		}
	}
	var fault *policy.Fault
	if err := p.CheckRules(catalog.Scope{PromptRules: json.RawMessage(`[{"effect":"often"}]`)}); !errors.As(err, &fault) || fault.Scope != policy.Prompt {
		t.Errorf("error = %v", err)
	}
	if err := p.CheckRules(catalog.Scope{ThreadRules: json.RawMessage(`[{"effect":"block","operation":"write"}]`)}); err != nil {
		t.Error(err)
	}
}
