package services

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
	"github.com/heddle-dev/heddle/test/authserver"
)

// mcpConfig is a worker with a server of the Model Context Protocol that each user
// connects by themselves.
func mcpConfig(server *authserver.Server, callback string) string {
	return "task_queue: ${HEDDLE_TASK_QUEUE:-none}\nsandbox: " + sandboxMode + fmt.Sprintf(`
secrets: [{sqlite: secrets.db, key_env: TEST_SECRETS_KEY}]
connections: {allow: [%[2]q], callback: {listen: %[3]q}}
agents:
  coder: {instructions: Run what the user says., model: coder, exposure: code, tools: [crm.*]}
mcp:
  crm: {url: %[1]q, allow: [%[2]q], connection: crm, trusted: true}
`, server.Resource, server.Host, callback)
}

// told makes a snippet that says what came of a call.
func told(call string) string {
	return "try { return 'it did ' + (await " + call + ").did } catch (e) { return e.code + ': ' + e.message + ' | ' + e.hint }"
}

// TestThreadAsksForConsentToAServer: whatever is wrong with the connection to a server of
// the Model Context Protocol, a call asks the person of the thread, waits, and goes on
// when that person comes back from consent. Where there was none, nothing was known of
// the tool before: it is planned, and agreed to, after it.
func TestThreadAsksForConsentToAServer(t *testing.T) {
	crm := authserver.NewMCP(t)
	crm.Unrenewable = true
	server := testkit.DevServer(t)
	worker := testkit.StartWorker(t, testkit.Worker{
		Server: server, Env: []string{secretsKey}, Files: map[string]string{"heddle.yaml": mcpConfig(crm, freeAddress(t))},
	})
	threads := signals.NewClient(server.Client(t), &signals.Options{TaskQueue: worker.TaskQueue})
	restart := func() {
		worker.Kill()
		worker.Start(t)
	}
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	ask := func(t *testing.T, user, call string) (contract.Start, string) {
		t.Helper()
		start := contract.Start{ThreadRef: contract.ThreadRef{Tenant: "acme", Thread: worker.TaskQueue + user}, Agent: "coder", User: user}
		sent, err := threads.Send(ctx, start, contract.Submission{Text: told(call)})
		if err != nil {
			t.Fatal(err)
		}
		return start, sent.Turn
	}
	for _, step := range []struct {
		name   string
		before func()
		call   string
		scope  string
		want   string
	}{
		{"missing", func() {}, "crm.read_it({})", "read", "it did read_it"},
		{"expired", func() { crm.Unrenewable = false; crm.ExpireAccess() }, "crm.read_it({})", "read", "it did read_it"},
		{"insufficient scope", func() {}, "crm.write_it({})", "read+write", "it did write_it"},
		{"revoked", crm.EndGrants, `tools.call("crm.read_it", {})`, "read+write", "it did read_it"},
	} {
		t.Run(step.name, func(t *testing.T) {
			step.before()
			start, turn := ask(t, "ada", step.call)
			q := questionOf(ctx, t, threads, start.ThreadRef)
			if q.About != "connection:crm" || !strings.HasPrefix(q.URL, crm.URL+"/authorize?") || !strings.Contains(q.URL, "scope="+step.scope+"&") {
				t.Fatalf("the question is %+v", q)
			}
			if step.name == "missing" { // who dies meanwhile keeps nobody waiting
				restart()
			}
			if text, err := agree(ctx, q.URL); err != nil || text != connectedText {
				t.Fatalf("the person sees %q (%v)", text, err)
			}
			if got := answerOf(ctx, t, threads, start.ThreadRef, turn); !strings.Contains(got, step.want) || strings.Contains(got, "access-") {
				t.Errorf("the agent is told %s", got)
			}
		})
	}
	t.Run("of a write", func(t *testing.T) { // another user has no connection
		start, turn := ask(t, "bob", `crm.change_it({})`)
		if _, err := agree(ctx, questionOf(ctx, t, threads, start.ThreadRef).URL); err != nil {
			t.Fatal(err)
		}
		approval := waitingIn(ctx, t, threads, start.ThreadRef, approvalsOf)
		if approval.Tool != "crm.change_it" || approval.DescriptorDigest == "" {
			t.Errorf("the approval is %+v", approval)
		}
		if err := threads.Approve(ctx, start.ThreadRef, contract.Decision{Approval: approval.ID, Digest: approval.Digest}); err != nil {
			t.Fatal(err)
		}
		if got := answerOf(ctx, t, threads, start.ThreadRef, turn); !strings.Contains(got, "it did change_it") {
			t.Errorf("the agent is told %s", got)
		}
	})
	t.Run("refused", func(t *testing.T) {
		start, turn := ask(t, "cyd", "crm.read_it({})")
		if _, err := threads.Decline(ctx, start.ThreadRef, contract.Answer{Question: questionOf(ctx, t, threads, start.ThreadRef).ID}); err != nil {
			t.Fatal(err)
		}
		if got := answerOf(ctx, t, threads, start.ThreadRef, turn); !strings.Contains(got, "question_declined: ") {
			t.Errorf("the agent is told %s", got)
		}
	})
	t.Run("answered without consent", func(t *testing.T) { // nobody is asked for ever
		start, turn := ask(t, "dan", "crm.read_it({})")
		if _, err := threads.Answer(ctx, start.ThreadRef, contract.Answer{Question: questionOf(ctx, t, threads, start.ThreadRef).ID}); err != nil {
			t.Fatal(err)
		}
		if got := answerOf(ctx, t, threads, start.ThreadRef, turn); !strings.Contains(got, "connection_missing: ") || !strings.Contains(got, "starter connections add") {
			t.Errorf("the agent is told %s", got)
		}
	})
	t.Run("of no such tool", func(t *testing.T) { // which is known only then
		start, turn := ask(t, "eve", "crm.readit({})")
		if _, err := agree(ctx, questionOf(ctx, t, threads, start.ThreadRef).URL); err != nil {
			t.Fatal(err)
		}
		if got := answerOf(ctx, t, threads, start.ThreadRef, turn); !strings.Contains(got, "tool_not_found: ") || !strings.Contains(got, "crm.read_it") {
			t.Errorf("the agent is told %s", got)
		}
	})
}
