package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals/contract"
)

const mug = "One of my mugs arrived broken, please refund it."

// bench is the support example's worker, and a shell that reaches it.
type bench struct {
	shell
	ctx context.Context
	t   *testing.T
}

func newBench(t *testing.T, change ...func(files map[string]string)) *bench {
	t.Helper()
	server := testkit.DevServer(t)
	files := map[string]string{}
	for _, name := range []string{"heddle.yaml", "support.yaml", "instructions.md"} {
		data, err := os.ReadFile(filepath.Join(testkit.Root(t), "examples/support", name))
		if err != nil {
			t.Fatal(err)
		}
		// The script thinks for a while, so that people can follow it.
		files[name] = strings.NewReplacer("delay: 400ms", "delay: 1ms", "delay: 600ms", "delay: 1ms", "delay: 800ms", "delay: 1ms").Replace(string(data))
	}
	for _, change := range change {
		change(files)
	}
	worker := testkit.StartWorker(t, testkit.Worker{
		Server: server, Files: files, Binary: testkit.Build(t, "./examples/support/worker"),
	})
	return benchOf(t, server, worker)
}

// benchOf is a shell that reaches a worker.
func benchOf(t *testing.T, server *testkit.Server, worker *testkit.WorkerProcess) *bench {
	t.Helper()
	for _, name := range []string{"TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE", "TEMPORAL_PROFILE", "TEMPORAL_API_KEY"} {
		t.Setenv(name, "")
	}
	t.Setenv("TEMPORAL_ADDRESS", server.Address)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	return &bench{t: t, ctx: ctx, shell: shell{env: map[string]string{
		"HEDDLE_TASK_QUEUE": worker.TaskQueue, "TEMPORAL_UI_URL": "http://ui.example/", "USER": "ann", "NO_COLOR": "1",
	}}}
}

// thread names a thread of the test.
func (b *bench) thread() string { return "acme/" + testkit.Name(b.t) }

// must runs a command that has to end with an exit code, and returns what it
// printed.
func (b *bench) must(code int, args ...string) string {
	b.t.Helper()
	got := b.run(b.ctx, args...)
	if got.code != code {
		b.t.Fatalf("starter %s: exit code %d, want %d\nstdout: %s\nstderr: %s",
			strings.Join(args, " "), got.code, code, got.stdout, got.stderr)
	}
	return got.stdout + got.stderr
}

func contains(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("%q is not in:\n%s", w, got)
		}
	}
}

// jsonLines reads what a command printed with --json.
func jsonLines[T any](t *testing.T, printed string) []T {
	t.Helper()
	var all []T
	for line := range strings.Lines(printed) {
		var one T
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%q is not JSON: %v", line, err)
		}
		all = append(all, one)
	}
	return all
}

func TestSendApprovesByItself(t *testing.T) {
	b := newBench(t)
	thread := b.thread()
	got := b.must(exitOK, "send", thread, mug, "--agent", "support", "--user", "ada", "--yes")
	contains(t, got,
		"Temporal UI: http://ui.example/namespaces/default/workflows/thread%2Facme%2F",
		"● user      "+mug, "✓ orders.search", "? approval  orders.refund waits for a person",
		"✓ approval  orders.refund approved by ann",
		"· execute   Snippet\n          ✓ orders.search", "          ✓ orders.refund", "✓ execute   Snippet: 3 calls",
		"◆ support   I am sorry about the broken mug, Ada. I have refunded $14.50")
	if n := strings.Count(got, "I have refunded"); n != 1 {
		t.Errorf("the answer is printed %d times", n)
	}

	contains(t, b.must(exitOK, "transcript", thread), "● user", "→ execute", `"orders.refund":1`, "◆ assistant")
	messages := jsonLines[contract.Message](t, b.must(exitOK, "transcript", thread, "--from", "1", "--to", "3", "--json"))
	if len(messages) != 2 || messages[0].Index != 1 {
		t.Errorf("transcript --from 1 --to 3: %+v", messages)
	}

	contains(t, b.must(exitOK, "close", thread, "--reason", "done"), "asked to close")
	contains(t, b.must(exitOK, "watch", thread), "Thread closed", "is closed")
	contains(t, b.must(exitFailed, "send", thread, "hello?"), "thread_closed")
}

func TestSendWithoutATerminalSaysHowToDecide(t *testing.T) {
	b := newBench(t)
	thread := b.thread()
	got := b.must(exitWaiting, "send", thread, mug, "--agent", "support")
	contains(t, got, "turn t1 waits for an approval of orders.refund", "starter approve "+thread+" t1-", " --digest sha256:", "starter deny "+thread+" t1-",
		"digest: sha256:", `"cents": 1450`, "starter watch "+thread+" --turn t1")

	state := jsonLines[contract.State](t, b.must(exitOK, "state", thread, "--json"))[0]
	if len(state.Pending) != 1 || state.Status != contract.StatusWaiting {
		t.Fatalf("state %+v", state)
	}
	approval := state.Pending[0]
	contains(t, b.must(exitOK, "state", thread), "waiting", "orders.refund for approval "+approval.ID, "http://ui.example/",
		"1 model turn", `"cents": 1450`, "digest: "+approval.Digest+"\n")
	for listed := ""; !strings.Contains(listed, thread); { // the list is some moments behind
		listed = b.must(exitOK, "threads", "--pending", "approval", "--tenant", "acme", "--agent", "support", "--status", "waiting")
	}

	contains(t, b.must(exitFailed, "approve", thread, approval.ID, "--digest", "sha256:other"), "digest_mismatch")
	contains(t, b.must(exitFailed, "approve", thread, "t9-s9-c9-a"), "waits for no approval t9-s9-c9-a", approval.ID)
	command := "starter approve " + thread + " " + approval.ID + " --digest " + approval.Digest
	contains(t, b.must(exitUsage, "approve", thread), `"cents": 1450`, "digest: "+approval.Digest+"\n", command, "--yes")
	if got := b.run(b.ctx, "approve", thread, "--json"); got.code != exitUsage || got.stdout != "" {
		t.Errorf("approve --json unseen: %+v", got)
	} else {
		contains(t, got.stderr, `"cents":1450`, command)
	}
	contains(t, b.must(exitOK, append(strings.Fields(command)[1:], "--comment", "fine")...), "approved "+approval.ID)
	got = b.must(exitOK, "watch", thread, "--turn", "t1")
	contains(t, got, "approved by ann", "fine", "I have refunded $14.50")
	contains(t, b.must(exitFailed, "deny", thread, approval.ID, "--digest", approval.Digest), "already_decided")
	contains(t, b.must(exitFailed, "approve", thread), "waits for no approval")
	contains(t, b.must(exitFailed, "watch", thread, "--turn", "t7"), "unknown_turn")
}

func TestSendAsksOnATerminal(t *testing.T) {
	b := newBench(t)
	b.terminal, b.stdin = true, strings.NewReader("what?\nd\nn\nask for a photo\n")
	got := b.must(exitOK, "send", b.thread(), mug, "--agent", "support")
	contains(t, got,
		"Approve? [y]es, [n]o, [d]etails: ", `"order": "A-1002"`, "digest: sha256:", "Why not?",
		"✗ approval", "denied by ann", "ask for a photo", "I could not refund the mug")

	b.stdin = strings.NewReader("y\n")
	contains(t, b.must(exitOK, "send", b.thread(), mug, "--agent", "support"), "approved by ann", "I have refunded")

	b.stdin = strings.NewReader("") // the person has left
	contains(t, b.must(exitWaiting, "send", b.thread(), mug, "--agent", "support"), "waits for an approval")
}

func TestApproveAsksOnATerminal(t *testing.T) {
	b := newBench(t)
	thread := b.thread()
	b.must(exitWaiting, "send", thread, mug, "--agent", "support")
	b.terminal = true
	for _, answer := range []string{"", "\n", "n\n", "yo\n"} {
		b.stdin = strings.NewReader(answer)
		contains(t, b.must(exitFailed, "approve", thread),
			`"cents": 1450`, "digest: sha256:", "Approve? [y]es, [N]o: ", "not approved", "starter deny "+thread)
	}
	b.stdin = strings.NewReader("y\n")
	contains(t, b.must(exitOK, "approve", thread), "approved t1-")
	contains(t, b.must(exitOK, "watch", thread, "--turn", "t1"), "I have refunded")

	thread += "-2"
	b.terminal = false
	b.must(exitWaiting, "send", thread, mug, "--agent", "support")
	contains(t, b.must(exitOK, "approve", thread, "--yes"), `"cents": 1450`, "approved t1-")
}

func TestSendSaysWhoWrote(t *testing.T) {
	b := newBench(t)
	thread := b.thread()
	b.must(exitOK, "send", thread, "hello", "--agent", "support", "--user", "ann")
	b.must(exitTurnFailed, "send", thread, "hello from bob", "--user", "bob") // the script has no answer
	b.must(exitTurnFailed, "send", thread, "hello again", "--user", "ann")
	users := map[string]string{}
	for _, m := range jsonLines[contract.Message](t, b.must(exitOK, "transcript", thread, "--json")) {
		if m.Role == contract.RoleUser {
			users[m.Text] = m.User
		}
	}
	for text, want := range map[string]string{"hello": "", "hello from bob": "bob", "hello again": ""} {
		if got, ok := users[text]; !ok || got != want {
			t.Errorf("%q was written by %q, want %q (all: %v)", text, got, want, users)
		}
	}
	contains(t, b.must(exitOK, "transcript", thread), "by bob")

	for _, command := range [][]string{{"open", thread}, {"send", thread, "hi"}} {
		got := b.must(exitFailed, append(command, "--agent", "support")...)
		contains(t, got, "thread_conflict", "name the user with --user")
		if strings.Contains(got, `""`) || strings.Contains(got, "ann") {
			t.Errorf("%v: %s", command, got)
		}
	}
	contains(t, b.must(exitFailed, "send", thread, "hi", "--agent", "support", "--user", "eve"), "thread_conflict", "eve")
}

func TestSendInJSON(t *testing.T) {
	b := newBench(t)
	thread := b.thread()
	b.terminal = true // and yet nobody is asked
	type line struct {
		Submitted *contract.Submitted
		Part      *contract.Part
		Turn      *contract.Turn
	}
	lines := jsonLines[line](t, b.run(b.ctx, "send", thread, mug, "--agent", "support", "--json", "--yes", "--id", "m1").stdout)
	if first, last := lines[0], lines[len(lines)-1]; first.Submitted == nil || last.Turn == nil || lines[1].Part == nil {
		t.Fatalf("lines %+v", lines)
	} else if last.Turn.Status != contract.StatusCompleted || !strings.Contains(last.Turn.Answer, "$14.50") {
		t.Errorf("turn %+v", last.Turn)
	}
	again := jsonLines[line](t, b.must(exitOK, "send", thread, mug, "--json", "--id", "m1", "--no-wait"))
	if len(again) != 1 || again[0].Submitted.Turn != "t1" {
		t.Errorf("sent again: %+v", again)
	}
	contains(t, b.must(exitOK, "send", thread, mug, "--id", "m1"), "I have refunded $14.50") // it ended before
	contains(t, b.must(exitFailed, "send", thread, "another text", "--id", "m1"), "submission_conflict")
}

func TestSendToAThreadThatIsNotOpen(t *testing.T) {
	b := newBench(t)
	contains(t, b.must(exitUsage, "send", b.thread(), "hi"), "is not open yet: name its agent with --agent")
	contains(t, b.must(exitFailed, "send", b.thread(), "hi", "--agent", "nobody"), "unknown_agent")
	contains(t, b.must(exitFailed, "state", b.thread()), "unknown_thread")
	contains(t, b.must(exitFailed, "watch", b.thread()), "unknown_thread")

	thread := b.thread()
	contains(t, b.must(exitOK, "open", thread, "--agent", "support", "--user", "ada"), thread+" is open")
	contains(t, b.must(exitFailed, "open", thread, "--agent", "support", "--user", "eve"), "thread_conflict")
	b.stdin = strings.NewReader("hi from a file\n")
	contains(t, b.must(exitOK, "send", thread, "-"), "● user      hi from a file\n", "I can help with a broken mug")
}

func TestCancelEndsATurn(t *testing.T) {
	b := newBench(t)
	thread := b.thread()
	b.must(exitWaiting, "send", thread, mug, "--agent", "support")
	contains(t, b.must(exitOK, "cancel", thread, "--reason", "asked twice"), "asked to cancel the running turn")
	got := b.must(exitTurnFailed, "watch", thread, "--turn", "t1")
	contains(t, got, "orders.refund withdrawn", "Error: turn t1 cancelled", "asked twice")
}

func TestTools(t *testing.T) {
	b := newBench(t)
	contains(t, b.must(exitOK, "tools", "--agent", "support"), "orders.refund    write  yes", "orders.search    read   no")
	tools := jsonLines[contract.Tool](t, b.must(exitOK, "tools", "--agent", "support", "--json"))
	if len(tools) != 7 || tools[0].ID != "orders.customer" {
		t.Errorf("tools %+v", tools)
	}
	contains(t, b.must(exitFailed, "tools", "--agent", "nobody"), "no agent nobody")
}

// unwrapped is what was printed without any space.
func unwrapped(printed string) string { return strings.Join(strings.Fields(printed), "") }

// A snippet is run as a turn without a model, rehearsed first, and asks as any other.
func TestExec(t *testing.T) {
	b := newBench(t)
	file := filepath.Join(t.TempDir(), "refund.ts")
	source := `const { orders: found } = await orders.search({ item: "mug" });
const order = await orders.get({ order: found.at(-1)!.id });
const refund: any = await orders.refund({ order: order.id, cents: order.items[0].cents, reason: "a crack in it" });
return { order: order.id, refund: refund?.id }`
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	thread := b.thread()
	contains(t, b.must(exitUsage, "exec", thread), "want a file with a snippet, or --script")
	contains(t, b.must(exitUsage, "exec", thread, file, "--script", "x"), "not both")
	contains(t, b.must(exitUsage, "exec", thread, file, "--input", "{}"), "--input is for --script alone")
	contains(t, b.must(exitUsage, "exec", thread, "--script", "x", "--input", "{", "--agent", "support"), "text: is no JSON")
	contains(t, b.must(exitFailed, "exec", thread, "none.ts", "--agent", "support"), "read the snippet", "none.ts")

	got := b.must(exitOK, "exec", thread, file, "--agent", "support", "--user", "ada", "--dry-run")
	contains(t, unwrapped(got), `"planned":[{"tool":"orders.refund"`, `"needs_approval":true`, `"order":"A-1002"`)
	if strings.Contains(got, "? approval") {
		t.Errorf("a dry run asks:\n%s", got)
	}
	got = b.must(exitWaiting, "exec", thread, file)
	contains(t, got, "waits for an approval of orders.refund", `"cents": 1450`)
	b.must(exitOK, "approve", thread, "--yes")
	contains(t, b.must(exitOK, "watch", thread, "--turn", "t2"), "          ✓ orders.refund", `{"order":"A-1002","refund":1}`)

	contains(t, unwrapped(b.must(exitOK, "exec", thread, "--script", "refunds", "--input", `{"order": "A-1002"}`)), `"cents":1450,"reason":"acrackinit"`)
	contains(t, b.must(exitOK, "exec", thread, "--script", "refunds", "--input", `{"order": 7}`), "invalid_input", "/order")
	contains(t, b.must(exitOK, "exec", thread, "--script", "none"), "tool_not_found")
}
