package services

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
	"github.com/heddle-dev/heddle/test/authserver"
)

const consentedSpec = `
openapi: 3.0.3
info: {title: CRM, version: '1'}
paths:
  /orders/{id}:
    get:
      operationId: order
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {'200': {description: An order, content: {application/json: {schema: {type: object, properties: {id: {type: string}}}}}}}
security: [{person: [read]}]
components:
  securitySchemes:
    person:
      type: oauth2
      flows: {authorizationCode: {authorizationUrl: https://login.example.com/authorize, tokenUrl: https://login.example.com/token, scopes: {read: Read orders}}}
`

// crmConfig is a worker with an OpenAPI service whose token is that of a connection, and
// a store of secrets in a database.
func crmConfig(server *authserver.Server, more string) string {
	return "task_queue: ${HEDDLE_TASK_QUEUE:-none}\nsandbox: " + sandboxMode + fmt.Sprintf(`
secrets: [{sqlite: secrets.db, key_env: TEST_SECRETS_KEY}]
connections: {allow: [%[2]q]%[3]s}
agents:
  coder: {instructions: Run what the user says., model: coder, exposure: code, tools: [crm.*]}
openapi:
  crm: {spec: crm.yaml, server: %[1]q, allow: [%[2]q], auth: {person: {token: "connection:crm:token"}}}
`, server.Resource, server.Host, more)
}

var secretsKey = "TEST_SECRETS_KEY=test:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))

// crmService is a service that repeats what it was sent: that must not make a token known.
func crmService(t *testing.T) *authserver.Server {
	t.Helper()
	crm := authserver.New(t)
	crm.Handle("GET /service/orders/{id}", crm.Guard("read", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":%q,"seen":%q}`, r.PathValue("id"), r.Header.Get("Authorization"))
	})))
	return crm
}

const orderSnippet = `
	try {
		const order: any = await crm.order({ id: "7" });
		return "order " + order.id + " " + order.seen;
	} catch (e) {
		return e.code + ": " + e.message + " | " + e.hint;
	}`

// TestOpenAPIThroughAConnection: an operation with OAuth's authorization code is called
// by a thread with the token of a connection that a person has consented to by the
// command line, and that is renewed when the service refuses it.
func TestOpenAPIThroughAConnection(t *testing.T) {
	crm := crmService(t)
	server := testkit.DevServer(t)
	worker := testkit.StartWorker(t, testkit.Worker{
		Server: server, Files: map[string]string{"heddle.yaml": crmConfig(crm, ""), "crm.yaml": consentedSpec}, Env: []string{secretsKey},
	})
	threads := signals.NewClient(server.Client(t), &signals.Options{TaskQueue: worker.TaskQueue})
	ask := func(name string) string {
		t.Helper()
		return answerTo(t, threads, contract.Start{
			ThreadRef: contract.ThreadRef{Tenant: "acme", Thread: testkit.Name(t) + name}, Agent: "coder", User: "ada",
		}, orderSnippet)
	}
	if got := ask("before"); !strings.Contains(got, "connection_missing: ") || !strings.Contains(got, "starter connections add "+crm.Resource+" --name crm --scope read") {
		t.Errorf("without a connection the agent is told %s", got)
	}
	out, err := consentByCommand(t, worker.Dir, crm, visit{agree, connectedText}, "--name", "crm", "--tenant", "acme")
	if err != nil {
		t.Fatalf("the command fails: %v: %s", err, out)
	}
	var added struct{ Status, Reference, Issuer string }
	if err := json.Unmarshal([]byte(out), &added); err != nil || added.Status != "active" || added.Reference != "connection:crm:token" || added.Issuer != crm.URL {
		t.Errorf("the command prints %s (%v)", out, err)
	}
	if got := ask("first"); !strings.Contains(got, "order 7 Bearer ") || strings.Contains(got, "access-") {
		t.Errorf("the agent is told %s", got)
	}
	crm.ExpireAccess()
	if got := ask("renewed"); !strings.Contains(got, "order 7 Bearer ") || strings.Contains(got, "access-") {
		t.Errorf("with a token that the service refuses the agent is told %s", got)
	}
	if got := fmt.Sprint(crm.Log()); got != "[register consent code refresh]" {
		t.Errorf("the authorization server was asked for %s", got)
	}
	crm.EndGrants()
	if got := ask("revoked"); !strings.Contains(got, "connection_revoked: ") || !strings.Contains(got, "starter connections add ") {
		t.Errorf("after it was revoked the agent is told %s", got)
	}
	for _, file := range []string{"secrets.db", "secrets.db-wal"} {
		text, err := os.ReadFile(filepath.Join(worker.Dir, file))
		if err == nil && (bytes.Contains(text, []byte("access-")) || bytes.Contains(text, []byte("refresh-"))) {
			t.Errorf("%s holds a token in clear", file)
		}
	}
}

// connectedText is what a person sees who has agreed.
const connectedText = "The service is connected. You can close this page."

// visit is a person's visit to the page of consent, which ends with the text that they
// see then, or its beginning.
type visit struct {
	do   func(ctx context.Context, page string) (string, error)
	sees string
}

// agree is somebody who agrees without a browser.
func agree(ctx context.Context, page string) (string, error) {
	back, err := authserver.Agree(ctx, page)
	if err != nil {
		return "", err
	}
	response, err := http.Get(back.String())
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	_, shown, _ := strings.Cut(string(text), "<p>")
	return strings.TrimSuffix(shown, "</p>"), err
}

// consentByCommand connects a service as a person does at a terminal, and returns what
// the command prints: its result, or after a failure its error.
func consentByCommand(t *testing.T, dir string, server *authserver.Server, person visit, args ...string) (string, error) {
	t.Helper()
	starter := testkit.Build(t, "./cmd/starter")
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, starter, append([]string{"connections", "add", server.Resource, "--json", "--no-browser"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), secretsKey)
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		said.WriteString(lines.Text() + "\n")
		if page := strings.TrimSpace(lines.Text()); strings.HasPrefix(page, server.URL) {
			text, err := person.do(ctx, page)
			if err != nil || !strings.HasPrefix(text, person.sees) {
				t.Errorf("the person sees %q (%v), want %q", text, err, person.sees)
			}
			if err != nil {
				stop()
				break
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		return said.String() + stdout.String(), err
	}
	return stdout.String(), nil
}

// answerTo sends a snippet and returns what the agent is told of it.
func answerTo(t *testing.T, threads *signals.Client, start contract.Start, snippet string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	sent, err := threads.Send(ctx, start, contract.Submission{Text: snippet})
	if err != nil {
		t.Fatal(err)
	}
	return answerOf(ctx, t, threads, start.ThreadRef, sent.Turn)
}

// answerOf waits for a turn to end well, and returns its answer.
func answerOf(ctx context.Context, t *testing.T, threads *signals.Client, thread contract.ThreadRef, turn string) string {
	t.Helper()
	ended, err := threads.Wait(ctx, thread, turn)
	if err != nil || ended.Status != contract.StatusCompleted {
		t.Fatalf("turn = %+v, %v", ended, err)
	}
	messages, err := threads.Transcript(ctx, thread, *ended.AnswerIndex, *ended.AnswerIndex+1)
	if err != nil {
		t.Fatal(err)
	}
	return messages[0].Text
}

// freeAddress is one on loopback at which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	return "127.0.0.1:" + testkit.FreePort(t)
}

// TestThreadAsksForConsent: a call that lacks a connection, and one whose connection was
// revoked, asks the person of the thread, waits, and goes on when that person comes back
// from consent to the worker.
func TestThreadAsksForConsent(t *testing.T) {
	crm := crmService(t)
	server := testkit.DevServer(t)
	worker := testkit.StartWorker(t, testkit.Worker{
		Server: server, Env: []string{secretsKey},
		Files: map[string]string{"heddle.yaml": crmConfig(crm, fmt.Sprintf(", callback: {listen: %q}", freeAddress(t))), "crm.yaml": consentedSpec},
	})
	threads := signals.NewClient(server.Client(t), &signals.Options{TaskQueue: worker.TaskQueue})
	for i, before := range []func(){func() {}, crm.EndGrants} {
		before()
		start := contract.Start{ThreadRef: contract.ThreadRef{Tenant: "acme", Thread: testkit.Name(t)}, Agent: "coder", User: "ada"}
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
		defer stop()
		sent, err := threads.Send(ctx, start, contract.Submission{Text: orderSnippet})
		if err != nil {
			t.Fatal(err)
		}
		q := questionOf(ctx, t, threads, start.ThreadRef)
		if q.About != "connection:crm" || !strings.HasPrefix(q.URL, crm.URL+"/authorize?") || strings.Contains(q.URL, "code_verifier") {
			t.Fatalf("question %d is %+v", i, q)
		}
		if _, err := agree(ctx, q.URL); err != nil {
			t.Fatal(err)
		}
		if got := answerOf(ctx, t, threads, start.ThreadRef, sent.Turn); !strings.Contains(got, "order 7 Bearer ") || strings.Contains(got, "access-") {
			t.Errorf("after consent %d the agent is told %s", i, got)
		}
	}
	if got := fmt.Sprint(crm.Log()); got != "[register consent code refresh: unknown register consent code]" {
		t.Errorf("the authorization server was asked for %s", got)
	}
}

// questionOf waits for the question of a thread.
func questionOf(ctx context.Context, t *testing.T, threads *signals.Client, thread contract.ThreadRef) contract.Question {
	t.Helper()
	return waitingIn(ctx, t, threads, thread, func(s contract.State) []contract.Question { return s.Questions })
}

func approvalsOf(s contract.State) []contract.Approval { return s.Pending }

// waitingIn waits until one thing of a kind waits in a thread for a person.
func waitingIn[T any](ctx context.Context, t *testing.T, threads *signals.Client, thread contract.ThreadRef, of func(contract.State) []T) (one T) {
	t.Helper()
	for _, err := range threads.Watch(ctx, thread, 0) {
		if err != nil {
			t.Fatal(err)
		}
		state, err := threads.State(ctx, thread)
		if err != nil {
			t.Fatal(err)
		}
		if waiting := of(state); len(waiting) == 1 {
			return waiting[0]
		}
		if state.Status == contract.StatusIdle {
			t.Fatal("the thread asks for nothing")
		}
	}
	t.Fatal("the thread has ended")
	return one
}
