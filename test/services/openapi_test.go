package services

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle"
	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/providers/openapi/openapitest"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

func TestMain(m *testing.M) {
	testkit.Main(m, func() { heddle.Main(heddle.Model("coder", coder{})) })
}

// coder is a model that runs the user's message as a snippet, and answers with
// what it is told of it.
type coder struct{}

func (coder) Generate(_ context.Context, req activities.ModelRequest, _ func(activities.ModelDelta)) (activities.ModelResponse, error) {
	reply := activities.ModelResponse{Stop: activities.StopEnd, Model: "coder"}
	last := req.Messages[len(req.Messages)-1]
	if last.Role == contract.RoleTool {
		reply.Text = last.Text
		return reply, nil
	}
	input, err := json.Marshal(map[string]string{"code": last.Text})
	reply.Calls = []activities.ModelCall{{Name: activities.ExecuteTool, Input: string(input)}}
	reply.Stop = activities.StopCalls
	return reply, err
}

// service is one made of a published specification, and a snippet that lists,
// creates with a person's approval, and gets.
type service struct {
	file    string
	snippet string
	// want are the endpoints that the snippet calls, in its order.
	want []string
}

var services = map[string]service{
	"openai": {
		"openai.yaml", `
		const list: any = await openai.vectorStores.listVectorStores({ limit: 3, order: "asc" });
		const made: any = await openai.vectorStores.createVectorStore({ body: { name: "Köln", file_ids: ["a"] } });
		const one: any = await openai.vectorStores.getVectorStore({ vector_store_id: "vs_1/2" });
		return [list, made, one].map((answer) => answer.endpoint);`,
		[]string{"GET /vector_stores", "POST /vector_stores", "GET /vector_stores/{vector_store_id}"},
	},
	"github": {
		"github-rest.json", `
		const repo = { owner: "acme", repo: "shop" };
		const list: any = await github.issues.listForRepo({ ...repo, state: "open", labels: "bug,ui" });
		const made: any = await github.issues.create({ ...repo, body: { title: "It is broken", labels: ["bug"] } });
		const one: any = await github.issues.get({ ...repo, issue_number: 7 });
		return [list, made, one].map((answer) => answer.endpoint);`,
		[]string{"GET /repos/{owner}/{repo}/issues", "POST /repos/{owner}/{repo}/issues", "GET /repos/{owner}/{repo}/issues/{issue_number}"},
	},
	"bb": {
		"bitbucket.json", `
		const repo = { workspace: "acme", repo_slug: "shop" };
		const issues = bb.issueTracker;
		const list: any = await issues.getRepositoriesWorkspaceRepo_slugIssues(repo);
		const made: any = await issues.postRepositoriesWorkspaceRepo_slugIssues({ ...repo, body: { type: "issue", title: "It is broken" } });
		const one: any = await issues.getRepositoriesWorkspaceRepo_slugIssuesIssue_id({ ...repo, issue_id: "7" });
		return [list, made, one].map((answer) => answer.endpoint);`,
		[]string{
			"GET /repositories/{workspace}/{repo_slug}/issues", "POST /repositories/{workspace}/{repo_slug}/issues",
			"GET /repositories/{workspace}/{repo_slug}/issues/{issue_id}",
		},
	},
}

// TestSnippetOverPublishedServices runs a snippet in a thread for each of three
// large specifications, against a service that is made of it.
func TestSnippetOverPublishedServices(t *testing.T) {
	root := os.Getenv("HEDDLE_SHARED")
	if root == "" {
		root = filepath.Join(testkit.Root(t), "..", "shared")
	}
	if _, err := os.Stat(filepath.Join(root, "openapi")); err != nil {
		t.Skipf("no published specifications (%v); set HEDDLE_SHARED to the folder of shared test data", err)
	}
	server := testkit.DevServer(t)
	var config strings.Builder
	config.WriteString("task_queue: ${HEDDLE_TASK_QUEUE}\nsandbox: " + sandboxMode + `
agents:
  coder: {instructions: Run what the user says., model: coder, exposure: code, tools: [openai.*, github.*, bb.*]}
openapi:
`)
	mocks := map[string]*openapitest.Mock{}
	for name, s := range services {
		file := filepath.Join(root, "openapi", s.file)
		mocks[name] = openapitest.New(t, file, "/base")
		web := httptest.NewServer(mocks[name])
		t.Cleanup(web.Close)
		fmt.Fprintf(&config, "  %s: {spec: %q, server: %q, allow: [%q], auth: {'*': {token: services.token}}}\n",
			name, file, web.URL+"/base", web.Listener.Addr().String())
	}
	worker := testkit.StartWorker(t, testkit.Worker{
		Server: server, Files: map[string]string{"heddle.yaml": config.String()}, Env: []string{"HEDDLE_SECRET_SERVICES_TOKEN=token-of-the-services"},
	})
	threads := signals.NewClient(server.Client(t), &signals.Options{TaskQueue: worker.TaskQueue})
	for name, s := range services {
		t.Run(name, func(t *testing.T) {
			got := converse(t, threads, contract.Start{
				ThreadRef: contract.ThreadRef{Tenant: "acme", Thread: testkit.Name(t)}, Agent: "coder", User: "ada",
			}, s.snippet)
			if strings.Join(got, "\n") != strings.Join(s.want, "\n") || mocks[name].Valid() != int64(len(s.want)) {
				t.Errorf("the snippet called %q, want %q; %d requests were valid", got, s.want, mocks[name].Valid())
			}
		})
	}
}

const filesSpec = `
openapi: 3.1.0
info: {title: Files, version: '1'}
paths:
  /scans/{id}:
    get:
      operationId: download
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {'200': {description: The scan, content: {application/pdf: {}}}}
  /mails:
    post:
      operationId: send
      requestBody:
        required: true
        content: {multipart/form-data: {schema: {type: object, required: [file], properties: {subject: {type: string}, file: {type: string, format: binary}}}}}
      responses: {'200': {description: What was sent, content: {application/json: {schema: {type: object, properties: {name: {type: string}, size: {type: integer}}}}}}}
`

// TestSnippetHandsAFileOn takes a file from one operation to another by its handle:
// the snippet, the thread and its history never hold the content.
func TestSnippetHandsAFileOn(t *testing.T) {
	scan := bytes.Repeat([]byte("%PDF\x00\xff"), 100_000)
	var sent []byte
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "application/pdf")
			_, _ = w.Write(scan)
			return
		}
		file, header, err := r.FormFile("file")
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		sent, _ = io.ReadAll(file)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"name":%q,"size":%d}`, header.Filename, len(sent))
	}))
	t.Cleanup(web.Close)
	worker := testkit.StartWorker(t, testkit.Worker{Server: testkit.DevServer(t), Files: map[string]string{
		"files.yaml": filesSpec,
		"heddle.yaml": "task_queue: ${HEDDLE_TASK_QUEUE}\nsandbox: " + sandboxMode + fmt.Sprintf(`
agents:
  coder: {instructions: Run what the user says., model: coder, exposure: code, tools: [office.*]}
openapi:
  office: {spec: files.yaml, server: %q, allow: [%q]}
`, web.URL, web.Listener.Addr().String()),
	}})
	threads := signals.NewClient(testkit.DevServer(t).Client(t), &signals.Options{TaskQueue: worker.TaskQueue})
	got := converse(t, threads, contract.Start{
		ThreadRef: contract.ThreadRef{Tenant: "acme", Thread: testkit.Name(t)}, Agent: "coder", User: "ada",
	}, `
		const scan = await office.download({ id: "7" });
		const mail = await office.send({ body: { subject: "A scan", file: { filename: "scan.pdf", ref: scan.ref } } });
		return [scan.content_type, mail.name, String(mail.size)];`)
	if want := fmt.Sprint([]string{"application/pdf", "scan.pdf", fmt.Sprint(len(scan))}); fmt.Sprint(got) != want || !bytes.Equal(sent, scan) {
		t.Errorf("told %v, want %s; %d bytes were sent", got, want, len(sent))
	}
}

// converse sends a snippet, approves its one write and returns its result.
func converse(t *testing.T, threads *signals.Client, start contract.Start, snippet string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	sent, err := threads.Send(ctx, start, contract.Submission{Text: snippet})
	if err != nil {
		t.Fatal(err)
	}
	approve(ctx, t, threads, start.ThreadRef)
	ended, err := threads.Wait(ctx, start.ThreadRef, sent.Turn)
	if err != nil || ended.Status != contract.StatusCompleted {
		t.Fatalf("turn = %+v, %v", ended, err)
	}
	messages, err := threads.Transcript(ctx, start.ThreadRef, *ended.AnswerIndex, *ended.AnswerIndex+1)
	if err != nil {
		t.Fatal(err)
	}
	var told struct{ Result []string }
	if err := json.Unmarshal([]byte(messages[0].Text), &told); err != nil {
		t.Fatalf("the agent was told %s: %v", messages[0].Text, err)
	}
	if len(told.Result) == 0 {
		t.Errorf("the agent was told %s", messages[0].Text)
	}
	return told.Result
}

// approve waits until a call waits for a person, and agrees to it.
func approve(ctx context.Context, t *testing.T, threads *signals.Client, thread contract.ThreadRef) {
	t.Helper()
	for _, err := range threads.Watch(ctx, thread, 0) {
		if err != nil {
			t.Fatal(err)
		}
		state, err := threads.State(ctx, thread)
		if err != nil {
			t.Fatal(err)
		}
		if state.Status == contract.StatusIdle {
			return // it has ended without a write, which its result tells
		}
		if len(state.Pending) == 1 {
			p := state.Pending[0]
			err := threads.Approve(ctx, thread, contract.Decision{Approval: p.ID, Digest: p.Digest, Verdict: contract.Approve, By: "bob"})
			if err != nil {
				t.Fatal(err)
			}
			return
		}
	}
}
