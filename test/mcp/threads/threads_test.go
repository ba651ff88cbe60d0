package threads

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// transports are those over which a server is reached.
var transports = []string{"http", "stdio"}

// bed is a worker with one server of tools, and a thread on it.
type bed struct {
	*signals.Client
	t      *testing.T
	worker *testkit.WorkerProcess
	start  contract.Start
}

// newBed starts a worker whose server, shop, is configured so, and waits until that
// offers a tool: a process may take longer to start than a call waits for it, on a
// busy machine.
func newBed(t *testing.T, shop, tool string) *bed {
	t.Helper()
	server := testkit.DevServer(t)
	config := "task_queue: ${HEDDLE_TASK_QUEUE}\nsandbox: " + sandboxMode + `
agents:
  clerk: {instructions: Run what the user says., model: none, exposure: code, web: false, tools: [shop.*]}
mcp:
  shop: ` + shop + "\n"
	worker := testkit.StartWorker(t, testkit.Worker{
		Server: server, Files: map[string]string{"heddle.yaml": config},
	})
	b := &bed{
		Client: signals.NewClient(server.Client(t), &signals.Options{TaskQueue: worker.TaskQueue}), t: t, worker: worker,
		start: contract.Start{ThreadRef: contract.ThreadRef{Tenant: "acme", Thread: testkit.Name(t)}, Agent: "clerk", User: "ada"},
	}
	first := *b
	first.start.Thread += "-first"
	eventually(t, "the server offers its tools", func() bool {
		return string(first.result(first.run(fmt.Sprintf(`try { await tools.describe(%q); return true } catch { return false }`, tool)))) == "true"
	})
	return b
}

func (b *bed) ctx() context.Context {
	ctx, cancel := context.WithTimeout(b.t.Context(), 5*time.Minute)
	b.t.Cleanup(cancel)
	return ctx
}

// run has the thread run a snippet, and returns the turn.
func (b *bed) run(snippet string) string {
	b.t.Helper()
	submitted, err := b.Send(b.ctx(), b.start, contract.Submission{Text: snippet, Run: contract.RunSnippet})
	if err != nil {
		b.t.Fatal(err)
	}
	return submitted.Turn
}

// result waits for the end of a turn and returns what its snippet came to.
func (b *bed) result(turn string) json.RawMessage {
	b.t.Helper()
	ended, err := b.Wait(b.ctx(), b.start.ThreadRef, turn)
	if err != nil || ended.Status != contract.StatusCompleted {
		b.t.Fatalf("turn = %+v, %v, %v", ended, ended.Problem, err)
	}
	messages, err := b.Transcript(b.ctx(), b.start.ThreadRef, *ended.AnswerIndex, *ended.AnswerIndex+1)
	if err != nil {
		b.t.Fatal(err)
	}
	var report struct {
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal([]byte(messages[0].Text), &report); err != nil || len(report.Error) > 0 {
		b.t.Fatalf("the report is %s, %v", messages[0].Text, err)
	}
	return report.Result
}

// seen watches the thread until a part is as wanted.
func (b *bed) seen(what string, wanted func(contract.Part) bool) contract.Part {
	b.t.Helper()
	for part, err := range b.Watch(b.ctx(), b.start.ThreadRef, 0) {
		if err != nil {
			b.t.Fatalf("%s: %v", what, err)
		}
		if wanted(part) {
			return part
		}
	}
	b.t.Fatalf("never seen: %s", what)
	return contract.Part{}
}

func waits(kind contract.Kind, about string) func(contract.Part) bool {
	return func(p contract.Part) bool {
		return p.Kind == kind && p.Status == contract.PartWaiting && (p.Question == nil || p.Question.Message == about)
	}
}

// A server asks the user in the middle of an approved write: in a form, and on a page.
// The worker dies while it does.
func TestServerAsksTheUser(t *testing.T) {
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			config, folder := shop(t, transport)
			b := newBed(t, config, "shop.wait")
			turn := b.run(`return await shop.order({})`)
			approval := b.seen("the approval", waits(contract.KindApproval, "")).Approval
			if err := b.Approve(b.ctx(), b.start.ThreadRef, contract.Decision{Approval: approval.ID, Digest: approval.Digest}); err != nil {
				t.Fatal(err)
			}
			form := b.seen("the form", waits(contract.KindQuestion, "Where to?")).Question
			b.worker.Kill()
			b.worker.Start(t)
			var refused *signals.Error
			if _, err := b.Answer(b.ctx(), b.start.ThreadRef, contract.Answer{Question: form.ID, Content: json.RawMessage(`{"email":"nowhere"}`)}); !errors.As(err, &refused) ||
				refused.Code != contract.ErrInvalid || !strings.Contains(refused.Message, "content.email") {
				t.Errorf("a wrong answer: %v", err)
			}
			if _, err := b.Answer(b.ctx(), b.start.ThreadRef, contract.Answer{Question: form.ID, Content: json.RawMessage(`{"email":"ada@acme.example"}`)}); err != nil {
				t.Fatal(err)
			}
			page := b.seen("the page", waits(contract.KindQuestion, "Pay.")).Question
			if page.URL != "https://pay.example/17" || len(page.Schema) > 0 || noted(folder, "ordered") {
				t.Errorf("the question is %+v", page)
			}
			if _, err := b.Answer(b.ctx(), b.start.ThreadRef, contract.Answer{Question: page.ID}); err != nil {
				t.Fatal(err)
			}
			want := `{"state":"order-17","told":{"address":{"action":"accept","content":{"copies":1,"email":"ada@acme.example"}},"pay":{"action":"accept"}}}`
			if got := string(b.result(turn)); got != want {
				t.Errorf("the result is %s, want %s", got, want)
			}
		})
	}
}

// How far a call has come is seen while it runs.
func TestProgress(t *testing.T) {
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			config, folder := shop(t, transport)
			// A write is an activity of its own, and has a part of its own.
			b := newBed(t, strings.Replace(config, "order: write", "order: write, wait: write", 1), "shop.wait")
			b.run(`return await shop.wait({})`)
			approval := b.seen("the approval", waits(contract.KindApproval, "")).Approval
			if err := b.Approve(b.ctx(), b.start.ThreadRef, contract.Decision{Approval: approval.ID, Digest: approval.Digest}); err != nil {
				t.Fatal(err)
			}
			far := b.seen("the progress", func(p contract.Part) bool { return p.Kind == contract.KindCall && p.Progress != nil })
			if far.Progress.Done < 1 || far.Progress.Total != 1000 || far.Progress.Message != "rows" || far.Status != contract.PartRunning {
				t.Errorf("the part is %+v, %+v", far, far.Progress)
			}
			note(folder, "over")
		})
	}
}

// A cancelled turn ends what a server does for it.
func TestCancellation(t *testing.T) {
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			config, folder := shop(t, transport)
			b := newBed(t, config, "shop.wait")
			turn := b.run(`return await shop.wait({})`)
			eventually(t, "the server is called", func() bool { return noted(folder, "waiting") })
			if err := b.Cancel(b.ctx(), b.start.ThreadRef, contract.CancelTurn{Turn: turn}); err != nil {
				t.Fatal(err)
			}
			if ended, err := b.Wait(b.ctx(), b.start.ThreadRef, turn); err != nil || ended.Status != contract.StatusCancelled {
				t.Errorf("turn = %+v, %v", ended, err)
			}
			eventually(t, "the server stops", func() bool { return noted(folder, "cancelled") })
		})
	}
}

// A worker that is killed leaves no server behind, and nothing that a server has
// started.
func TestKilledWorkerLeavesNoProcesses(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no process groups")
	}
	config, _ := shop(t, "stdio")
	b := newBed(t, config, "shop.wait")
	var started struct{ Server, Child int }
	if err := json.Unmarshal(b.result(b.run(`return await shop.family({})`)), &started); err != nil {
		t.Fatal(err)
	}
	if !alive(started.Server) || !alive(started.Child) {
		t.Fatalf("the processes do not run: %+v", started)
	}
	b.worker.Kill()
	eventually(t, "the server ends", func() bool { return !alive(started.Server) })
	eventually(t, "what it has started ends", func() bool { return !alive(started.Child) })
}

// alive reports whether a process runs. One that nobody has waited for does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(state), ") Z ")
}

// eventually waits for something that cannot announce itself.
func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); !happened(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it does not happen: %s", what)
		}
	}
}
