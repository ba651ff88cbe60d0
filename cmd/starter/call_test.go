package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/signals/contract"
)

// rulesFile writes a file of rules.
func rulesFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A tool is called without a model, by the rules that hold for every call.
func TestCall(t *testing.T) {
	b := newBench(t)
	thread := b.thread()
	got := b.must(exitOK, "call", thread, "orders.get", "--input", `{"order":"A-1001"}`, "--agent", "support", "--user", "ada")
	contains(t, got, "✓ orders.get", `{"id":"A-1001"`, "Call orders.get")

	// A write is asked about, and --yes agrees.
	refund := `{"order":"A-1001","cents":100,"reason":"damaged"}`
	contains(t, b.must(exitWaiting, "call", thread, "orders.refund", "--input", refund, "--user", "ada", "--id", "refund-1"),
		"waits for an approval of orders.refund")
	contains(t, b.must(exitOK, "call", thread, "orders.refund", "--input", refund, "--user", "ada", "--id", "refund-1", "--yes"), `"cents":100`)

	// What is refused ends with an error and exit code 1, also as JSON.
	contains(t, b.must(exitFailed, "call", thread, "orders.gte", "--user", "ada"), "Error: orders.gte: tool_not_found", "orders.get")
	contains(t, b.must(exitFailed, "call", thread, "orders.get", "--user", "ada", "--input", `{"order":7}`), "Error: orders.get: invalid_input", "/order")
	printed := b.run(b.ctx, "call", thread, "orders.get", "--user", "ada", "--input", `{"order":"none"}`, "--json")
	lines := jsonLines[map[string]json.RawMessage](t, printed.stdout)
	if printed.code != exitFailed || lines[len(lines)-1]["turn"] == nil || !strings.HasPrefix(printed.stderr, "Error: orders.get: ") {
		t.Errorf("%+v", printed)
	}
	frozen := rulesFile(t, "- {name: frozen, effect: block, tools: [orders.*], reason: closed for stocktaking}\n")
	contains(t, b.must(exitFailed, "call", thread, "orders.get", "--user", "ada", "--input", `{"order":"A-1001"}`, "--policy", frozen),
		"Error: orders.get: policy_blocked", `"frozen"`, "closed for stocktaking")
}

// The rules of a thread and of a message are given as files.
func TestRulesOfThreadAndMessage(t *testing.T) {
	b := newBench(t)
	thread := b.thread()
	reads := rulesFile(t, "- {name: reads, effect: block, operation: write}\n")
	contains(t, b.must(exitOK, "open", thread, "--agent", "support", "--user", "ada", "--policy", reads), "is open")
	state := jsonLines[contract.State](t, b.must(exitOK, "state", thread, "--json"))[0]
	if len(state.Policy) != 1 || state.Policy[0].Name != "reads" {
		t.Errorf("policy of the thread: %+v", state.Policy)
	}
	refund := `{"order":"A-1001","cents":100,"reason":"damaged"}`
	contains(t, b.must(exitFailed, "call", thread, "orders.refund", "--user", "ada", "--input", refund, "--yes"), "policy_blocked", `"reads"`)

	// A thread keeps its rules: others are refused, and not taken for its own.
	other := rulesFile(t, "- {name: other, effect: block, tools: [orders.get]}\n")
	contains(t, b.must(exitOK, "open", thread, "--agent", "support", "--user", "ada", "--policy", reads), "is open")
	contains(t, b.must(exitFailed, "open", thread, "--agent", "support", "--user", "ada", "--policy", other), "thread_conflict", "policy:")
	contains(t, b.must(exitFailed, "send", thread, mug, "--user", "ada", "--thread-policy", other), "thread_conflict", "policy:")

	// --thread-policy is for a thread that is opened, --policy for the turn alone.
	second := thread + "-2"
	got := b.must(exitFailed, "call", second, "orders.get", "--input", `{"order":"A-1001"}`, "--agent", "support", "--user", "ada", "--thread-policy", reads, "--policy", other)
	contains(t, got, "policy_blocked", `"other"`)
	contains(t, b.must(exitOK, "call", second, "orders.get", "--user", "ada", "--input", `{"order":"A-1001"}`), "✓ orders.get")
	contains(t, b.must(exitFailed, "call", second, "orders.refund", "--user", "ada", "--input", refund, "--yes"), `"reads"`)
}

// A file of rules that cannot be used is refused before anything is sent.
func TestRulesAreRefusedAtOnce(t *testing.T) {
	bad := rulesFile(t, "- effect: block\n  when: inptu.x\n")
	long := rulesFile(t, "- {effect: block, reason: '"+strings.Repeat("x", 450)+"', tools: [a.b]}\n- {effect: ask, reason: '"+strings.Repeat("y", 450)+"'}\n")
	for _, args := range [][]string{
		{"open", "acme/t", "--agent", "a", "--policy", bad},
		{"send", "acme/t", "hi", "--policy", bad},
		{"send", "acme/t", "hi", "--thread-policy", bad},
		{"call", "acme/t", "a.b", "--policy", bad},
		{"exec", "acme/t", "--script", "x", "--policy", bad},
	} {
		got := shell{}.run(t.Context(), args...)
		if got.code != exitUsage || !strings.Contains(got.stderr, "rules.yaml:2:9: policy[0].when: undeclared") {
			t.Errorf("%v: %+v", args, got)
		}
	}
	for want, args := range map[string][]string{
		"message: policy: is 9":      {"send", "acme/t", "hi", "--policy", long},
		"no-such-file.yaml":          {"open", "acme/t", "--agent", "a", "--policy", "no-such-file.yaml"},
		"--input: is no JSON object": {"call", "acme/t", "a.b", "--input", "[1]"},
		"missing argument":           {"call", "acme/t"},
		"tool: ":                     {"call", "acme/t", strings.Repeat("x", 200)},
	} {
		if got := (shell{}).run(t.Context(), args...); got.code != exitUsage || !strings.Contains(got.stderr, want) {
			t.Errorf("%v: %+v, want %q", args, got, want)
		}
	}
}
