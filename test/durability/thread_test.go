package durability

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// bed is a worker, and a thread on it.
type bed struct {
	t      *testing.T
	server *testkit.Server
	worker *testkit.WorkerProcess
	client client.Client
	*signals.Client
	start contract.Start
}

func newBed(t *testing.T, server *testkit.Server) *bed {
	t.Helper()
	return newBedOf(t, server, map[string]string{"heddle.yaml": config})
}

// newBedOf starts a worker with files of its own.
func newBedOf(t *testing.T, server *testkit.Server, files map[string]string) *bed {
	t.Helper()
	return newBedWith(t, testkit.Worker{Server: server, Files: files})
}

// newBedWith is newBed with a worker that is run otherwise.
func newBedWith(t *testing.T, how testkit.Worker) *bed {
	t.Helper()
	server := how.Server
	if how.Files == nil {
		how.Files = map[string]string{"heddle.yaml": config}
	}
	w := testkit.StartWorker(t, how)
	c := server.Client(t)
	return &bed{
		t: t, server: server, worker: w, client: c,
		Client: signals.NewClient(c, &signals.Options{TaskQueue: w.TaskQueue}),
		start: contract.Start{
			ThreadRef: contract.ThreadRef{Tenant: "acme-" + rand.Text()[:8], Thread: testkit.Name(t)}, Agent: "tester", User: "ada",
		},
	}
}

// patience is how long a test waits for anything: it is to fail and not to hang, and no
// machine is so busy.
const patience = 10 * time.Minute

// ctx ends when the test has taken too long.
func (b *bed) ctx() context.Context {
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	b.t.Cleanup(cancel)
	return ctx
}

// send submits a script and returns its turn.
func (b *bed) send(script string) string {
	b.t.Helper()
	return b.sendWith(contract.Submission{Text: script})
}

func (b *bed) sendWith(s contract.Submission) string {
	b.t.Helper()
	submitted, err := b.Send(b.ctx(), b.start, s)
	if err != nil {
		b.t.Fatal(err)
	}
	return submitted.Turn
}

// wait waits for the end of a turn.
func (b *bed) wait(turn string) contract.Turn {
	b.t.Helper()
	ended, err := b.Wait(b.ctx(), b.start.ThreadRef, turn)
	if err != nil {
		b.t.Fatalf("wait for turn %s: %v", turn, err)
	}
	return ended
}

// pending waits until n approvals wait, and returns them.
func (b *bed) pending(n int) []contract.Approval {
	b.t.Helper()
	for _, err := range b.Watch(b.ctx(), b.start.ThreadRef, 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		state, err := b.State(b.ctx(), b.start.ThreadRef)
		if err != nil {
			b.t.Fatal(err)
		}
		if len(state.Pending) == n {
			return state.Pending
		}
	}
	b.t.Fatalf("there never were %d approvals to decide", n)
	return nil
}

func (b *bed) approve(ap contract.Approval) {
	b.t.Helper()
	decision := contract.Decision{Approval: ap.ID, Digest: ap.Digest, Verdict: contract.Approve, By: "bob"}
	if err := b.Approve(b.ctx(), b.start.ThreadRef, decision); err != nil {
		b.t.Fatal(err)
	}
}

// story is the thread's transcript without its times.
func (b *bed) story() string {
	b.t.Helper()
	messages, err := b.Transcript(b.ctx(), b.start.ThreadRef, 0, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	for i := range messages {
		messages[i].At = time.Time{}
	}
	return asJSON(messages)
}

// done waits until a part of the timeline is done.
func (b *bed) done(id string) {
	b.t.Helper()
	for part, err := range b.Watch(b.ctx(), b.start.ThreadRef, 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		if part.ID == id && part.Status == contract.PartDone {
			return
		}
	}
	b.t.Fatalf("part %s was never done", id)
}

// made waits until so many calls of a tool are done: a worker that is killed before it
// has told of a write leaves its outcome unknown, as it should.
func (b *bed) made(n int, tool string) {
	b.t.Helper()
	done := map[string]bool{}
	for part, err := range b.Watch(b.ctx(), b.start.ThreadRef, 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		if part.Kind == contract.KindCall && part.Tool == tool && part.Status == contract.PartDone {
			done[part.ID] = true
		}
		if len(done) == n {
			return
		}
	}
	b.t.Fatalf("%d calls of %s were done, want %d", len(done), tool, n)
}

// shown waits until so many calls of a tool are in the timeline.
func (b *bed) shown(n int, tool string) {
	b.t.Helper()
	seen := map[string]bool{}
	for part, err := range b.Watch(b.ctx(), b.start.ThreadRef, 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		if part.Kind == contract.KindCall && part.Tool == tool {
			seen[part.ID] = true
		}
		if len(seen) == n {
			return
		}
	}
	b.t.Fatalf("there were %d calls of %s, want %d", len(seen), tool, n)
}

// until waits for something that comes without the timeline telling of it.
func (b *bed) until(what string, is func() bool) {
	b.t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.t.Fatalf("it never came to this: %s", what)
		}
	}
}

// restart kills the worker and starts another.
func (b *bed) restart() {
	b.t.Helper()
	b.worker.Kill()
	b.worker.Start(b.t)
}

// script goes through everything that a kill can hit.
const script = "read:a read:b gate:reads|think:model write:w1 free:w2|read:c|say:done"

// effects are the writes that happened, by name.
func (b *bed) effects() string {
	var names []string
	for _, line := range lines(b.t, b.worker, "writes") {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// play runs the script on a new thread, with something happening at each of its
// moments, and returns the story and the effects.
func playWith(t *testing.T, server *testkit.Server, strike map[string]func(*bed)) (story, effects string) {
	t.Helper()
	b := newBed(t, server)
	at := func(moment string) {
		if do, ok := strike[moment]; ok {
			do(b)
		}
	}
	turn := b.send(script)
	awaitGate(t, b.worker, "reads")
	at("reads")
	openGate(t, b.worker, "reads")
	awaitGate(t, b.worker, "model")
	at("model")
	openGate(t, b.worker, "model")
	ap := b.pending(1)[0]
	b.done("t1-s2-c2") // a kill during the free write would leave its outcome unknown, as it should
	at("approval")
	b.approve(ap)
	if ended := b.wait(turn); ended.Status != contract.StatusCompleted || ended.Answer != "done" {
		t.Fatalf("turn = %+v, problem %v", ended, ended.Problem)
	}
	at("between")
	turn = b.send("read:d|say:again")
	if ended := b.wait(turn); ended.Status != contract.StatusCompleted || ended.Answer != "again" {
		t.Fatalf("second turn = %+v, problem %v", ended, ended.Problem)
	}
	return b.story(), b.effects()
}

func TestKilledWorkerChangesNothing(t *testing.T) {
	server := testkit.DevServer(t)
	story, effects := playWith(t, server, nil)
	if effects != "w1 w2" {
		t.Fatalf("effects without a kill: %q", effects)
	}
	kill := (*bed).restart
	for name, strike := range map[string]map[string]func(*bed){
		"during a batch of reads": {"reads": kill},
		"during a model turn":     {"model": kill},
		"while a person is asked": {"approval": kill},
		"between two turns":       {"between": kill},
		"every time":              {"reads": kill, "model": kill, "approval": kill, "between": kill},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gotStory, gotEffects := playWith(t, server, strike)
			if gotEffects != effects {
				t.Errorf("effects %q, want %q", gotEffects, effects)
			}
			if gotStory != story {
				t.Errorf("the transcript differs:\n%s\nwant\n%s", gotStory, story)
			}
		})
	}
}

// The server is killed while a person is asked, and comes back on its database.
func TestKilledServerChangesNothing(t *testing.T) {
	story, effects := playWith(t, testkit.DevServer(t), nil)
	gotStory, gotEffects := playWith(t, testkit.StartServer(t), map[string]func(*bed){
		"approval": func(b *bed) { b.server.Kill(); b.server.Restart(b.t) },
	})
	if gotEffects != effects || gotStory != story {
		t.Errorf("effects %q, want %q; transcript\n%s\nwant\n%s", gotEffects, effects, gotStory, story)
	}
}

// A signal that comes while no worker runs is acted upon when one does.
func TestApprovalWhileNoWorkerRuns(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	turn := b.send("write:w|say:done")
	ap := b.pending(1)[0]
	b.worker.Kill()
	b.approve(ap)
	b.worker.Start(t)
	if ended := b.wait(turn); ended.Status != contract.StatusCompleted || b.effects() != "w" {
		t.Errorf("turn = %+v, effects %q", ended, b.effects())
	}
}

func TestHundredThreadsAtOnce(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	const threads = 100
	failures := make(chan error, threads)
	for i := range threads {
		go func() {
			start := b.start
			start.Thread = fmt.Sprintf("%s-%d", b.start.Thread, i)
			failures <- b.oneOfMany(start, fmt.Sprintf("w%d", i))
		}()
	}
	for range threads {
		if err := <-failures; err != nil {
			t.Error(err)
		}
	}
	writes := lines(t, b.worker, "writes")
	slices.Sort(writes)
	if len(writes) != threads || len(slices.Compact(writes)) != threads {
		t.Errorf("%d writes, want %d, each once", len(writes), threads)
	}
}

func (b *bed) oneOfMany(start contract.Start, name string) error {
	ctx := b.ctx()
	submitted, err := b.Send(ctx, start, contract.Submission{Text: "read:a read:b|write:" + name + "|say:ok"})
	if err != nil {
		return err
	}
	for part, err := range b.Watch(ctx, start.ThreadRef, 0) {
		if err != nil {
			return err
		}
		if part.Kind == contract.KindApproval && part.Status == contract.PartWaiting {
			decision := contract.Decision{Approval: part.Approval.ID, Digest: part.Approval.Digest, Verdict: contract.Approve}
			if err := b.Approve(ctx, start.ThreadRef, decision); err != nil {
				return err
			}
			break
		}
	}
	turn, err := b.Wait(ctx, start.ThreadRef, submitted.Turn)
	if err == nil && turn.Status != contract.StatusCompleted {
		err = fmt.Errorf("%s: turn %+v", start.Thread, turn)
	}
	return err
}
