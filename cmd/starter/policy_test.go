package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog/policy"
	"github.com/heddle-dev/heddle/internal/config"
	"github.com/heddle-dev/heddle/internal/testkit"
)

const policyFile = `
policy:
  - {name: large, effect: ask, tools: [orders.refund], when: input.cents > 10000, approvers: 2, reason: a lot of money}
  - {name: small, effect: allow, tools: [orders.refund], when: input.cents <= 500, without_approval: true}
models: {m: {provider: openai, model: x, base_url: "http://localhost/v1"}}
agents:
  support:
    model: m
    instructions: Help.
    tools: [orders.*]
    mode: ask
    policy:
      - {name: night, effect: block, operation: write, when: now.getHours() < 7}
`

const caseFile = `
tools:
  orders.refund: {operation: write}
cases:
  - {name: large, tool: orders.refund, input: {cents: 20000}, want: ask, rule: large, approvers: 2}
  - {name: small, tool: orders.refund, input: {cents: 500}, want: allow, rule: small}
  - {name: default, tool: orders.refund, input: {cents: 5000}, want: ask}
  - {name: no cents, tool: orders.refund, want: ask, rule: large}
  - {name: night, tool: orders.refund, agent: support, mode: build, at: "2026-11-30T03:00:00Z", input: {cents: 1}, want: block, rule: night}
  - {name: mode of the agent, tool: orders.refund, agent: support, at: "2026-11-30T09:00:00Z", input: {cents: 1}, want: block}
`

// policyFolder makes a folder of files and returns its path.
func policyFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPolicyTest(t *testing.T) {
	dir := policyFolder(t, map[string]string{
		"heddle.yaml": policyFile, "good.yaml": caseFile,
		"bad.yaml": strings.Replace(caseFile, "want: allow, rule: small", "want: block, rule: large", 1),
	})
	got := shell{}.run(t.Context(), "policy", "test", filepath.Join(dir, "good.yaml"))
	if got.code != exitOK || !strings.Contains(got.stdout, "6 cases, all as wanted") {
		t.Errorf("%+v", got)
	}
	got = shell{}.run(t.Context(), "policy", "test", filepath.Join(dir, "bad.yaml"))
	if got.code != exitFailed || !strings.Contains(got.stderr, "1 of 6 cases came out otherwise") {
		t.Errorf("%+v", got)
	}
	contains(t, got.stdout, "ok    large", "FAIL  small ("+filepath.Join(dir, "bad.yaml")+":6:", "want block, got allow",
		`want it decided by rule "large", got "small"`, "it is allowed by rule small of the app (")
	got = shell{}.run(t.Context(), "policy", "test", filepath.Join(dir, "bad.yaml"), "--json")
	verdicts := jsonLines[verdict](t, got.stdout)
	if got.code != exitFailed || len(verdicts) != 6 || verdicts[1].OK || !verdicts[0].OK || verdicts[1].Got.Effect != policy.Allow {
		t.Errorf("%+v, %+v", got, verdicts)
	}
}

// The cases that docs/policy.md shows pass with the policy that it shows.
func TestPolicyInTheDocuments(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(testkit.Root(t), "docs", "policy.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := func(begin string) string {
		_, rest, found := strings.Cut(string(page), begin)
		text, _, ended := strings.Cut(rest, "\n```")
		if !found || !ended {
			t.Fatalf("docs/policy.md has no block that begins with %q", begin)
		}
		return strings.TrimPrefix(begin, "```") + text + "\n"
	}
	dir := policyFolder(t, map[string]string{
		"heddle.yaml": strings.TrimPrefix(block("```yaml\nmodes:"), "yaml"), "cases.yaml": block("```\nconfig:"),
	})
	got := shell{}.run(t.Context(), "policy", "test", filepath.Join(dir, "cases.yaml"))
	if got.code != exitOK {
		t.Errorf("%+v", got)
	}
}

func TestPolicyCasesThatAreWrong(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no cases":     {"tools: {a.b: {operation: read}}\ncases: []\n", "has no cases"},
		"no tool":      {"tools: {a.b: {operation: read}}\ncases: [{tool: a.c, want: ask}]\n", "cases[0].tool: tool a.c is not among the file's tools"},
		"effect":       {"tools: {a.b: {operation: read}}\ncases: [{tool: a.b, want: deny}]\n", "cases[0].want: want allow, ask or block"},
		"time":         {"tools: {a.b: {operation: read}}\ncases: [{tool: a.b, want: ask, at: noon}]\n", "cases[0].at: want a time"},
		"input":        {"tools: {a.b: {operation: read}}\ncases: [{tool: a.b, want: ask, input: 3}]\n", "cases[0].input: want a mapping"},
		"field":        {"tools: {a.b: {operation: read}}\ncases: [{tol: a.b, want: ask}]\n", "cases[0].tol: unknown field; did you mean tool?"},
		"operation":    {"tools: {a.b: {operation: delete}}\ncases: [{tool: a.b, want: ask}]\n", "tools.a.b.operation: want read or write"},
		"nothing":      {"# nothing\n", "want one YAML document"},
		"syntax error": {"cases: [", "f.yaml:1:"},
	} {
		if _, err := config.ParsePolicyCases("f.yaml", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want one that says %q", name, err, c.want)
		}
	}
}

func TestPolicyExplain(t *testing.T) {
	file := filepath.Join(policyFolder(t, map[string]string{"heddle.yaml": policyFile}), "heddle.yaml")
	explain := func(args ...string) result {
		return shell{stdin: strings.NewReader(`{"cents": 7}`)}.run(t.Context(), append([]string{"policy", "explain", "orders.refund", "--config", file}, args...)...)
	}
	got := explain("--input", `{"cents": 300}`)
	contains(t, got.stdout, "SCOPE", "large", "the condition is false: input.cents > 10000", "small", "yes",
		"allowed by rule small of the app ("+file+":4:6)")
	contains(t, explain("--input", `{"cents": 20000}`).stdout, "asked by rule large", "2 must agree", "a lot of money")
	contains(t, explain("--input", "-").stdout, "allowed by rule small")
	contains(t, explain("--agent", "support").stdout, `blocked: the thread is in the mode "ask"`)
	got = explain("--agent", "support", "--mode", "build", "--at", "2026-11-30T03:00:00Z", "--input", `{"cents":1}`, "--json")
	r := jsonLines[policy.Rehearsal](t, got.stdout)
	if len(r) != 1 || r[0].Effect != policy.Block || r[0].Rule != "night" || r[0].Scope != policy.Agent || len(r[0].Steps) != 3 {
		t.Errorf("%+v", r)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--input", "[1]"}, "--input: is no JSON object"},
		{[]string{"--operation", "delete"}, `--operation "delete"`},
		{[]string{"--at", "noon"}, `--at "noon"`},
	} {
		if got := explain(c.args...); got.code != exitUsage || !strings.Contains(got.stderr, c.want) {
			t.Errorf("%v: %+v", c.args, got)
		}
	}
	broken := filepath.Join(policyFolder(t, map[string]string{"heddle.yaml": "policy:\n  - {effect: block, when: tenat}\n"}), "heddle.yaml")
	got = shell{}.run(t.Context(), "policy", "explain", "a.b", "--config", broken)
	if got.code != exitFailed || !strings.Contains(got.stderr, broken+":2:27: policy[0].when: undeclared reference to 'tenat'") {
		t.Errorf("%+v", got)
	}
}

func TestModeGrantsAndEdits(t *testing.T) {
	b := newBench(t)
	thread := b.thread()
	b.must(exitWaiting, "send", thread, mug, "--agent", "support")
	contains(t, b.must(exitFailed, "approve", thread, "--yes", "--edit", `{"cents": -1}`), "invalid_argument", "/cents")
	contains(t, b.must(exitUsage, "approve", thread, "--edit", `{}`, "--grant"), "--edit does not go with --grant")
	contains(t, b.must(exitUsage, "approve", thread, "--grant-calls", "3"), "bound a --grant")
	contains(t, b.must(exitOK, "approve", thread, "--yes", "--grant", "--grant-calls", "3", "--grant-for", "2h"), "approved t1-")
	contains(t, b.must(exitOK, "watch", thread, "--turn", "t1"), "I have refunded")
	contains(t, b.must(exitOK, "grants", thread), "g1", "orders.refund", "0 of 3", "ann")
	contains(t, b.must(exitOK, "revoke", thread, "g1"), "asked to revoke g1")
	contains(t, b.must(exitFailed, "mode", thread, "nope"), "unknown_mode")
	contains(t, b.must(exitOK, "mode", thread, "plan"), "plan, before that the agent's own mode")
	contains(t, b.must(exitOK, "mode", thread), ": plan")
	contains(t, b.must(exitOK, "grants", thread), "has no grants")

	thread += "-2"
	b.must(exitWaiting, "send", thread, mug, "--agent", "support")
	state := b.must(exitOK, "state", thread)
	order := state[strings.Index(state, `"order": "`)+len(`"order": "`):]
	order = order[:strings.Index(order, `"`)]
	contains(t, b.must(exitOK, "approve", thread, "--yes", "--edit", `{"order": "`+order+`", "cents": 700, "reason": "damaged"}`), "edited and approved")
	b.run(b.ctx, "watch", thread, "--turn", "t1")
	contains(t, b.must(exitOK, "transcript", thread), `$7.00`)
}
