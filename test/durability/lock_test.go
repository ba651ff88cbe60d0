package durability

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals/contract"
)

// lockBed is a target, two workers on one task queue, and threads on them.
type lockBed struct {
	*bed
	target  *target
	workers [2]*testkit.WorkerProcess
}

func newLockBed(t *testing.T, server *testkit.Server) *lockBed {
	t.Helper()
	return newLockBedOf(t, server, config)
}

// newLockBedOf is newLockBed with a configuration of its own.
func newLockBedOf(t *testing.T, server *testkit.Server, configuration string) *lockBed {
	t.Helper()
	target := newTarget(t)
	env, files := []string{targetEnv + "=" + target.server.URL}, map[string]string{"heddle.yaml": configuration}
	b := newBedWith(t, testkit.Worker{Server: server, Env: env, Files: files})
	second := testkit.StartWorker(t, testkit.Worker{Server: server, Env: env, TaskQueue: b.worker.TaskQueue, Files: files})
	return &lockBed{bed: b, target: target, workers: [2]*testkit.WorkerProcess{b.worker, second}}
}

// thread is another thread of the bed.
func (b *lockBed) thread(name string) *bed {
	other := *b.bed
	other.start.Thread += "-" + name
	return &other
}

// contend has one thread write to a resource, until open is called, and another wait
// for it.
func (b *lockBed) contend(resource string, holder, waiter *bed) (turn, waiting string, open func()) {
	b.t.Helper()
	open = b.target.gate(resource + ".1")
	turn = holder.send("keep:" + resource + ".1|say:done")
	b.target.worker(b.t, resource+".1")
	waiting = waiter.send("keep:" + resource + ".2|say:done")
	waiter.inLine("t1-s1-c1")
	return turn, waiting, open
}

// restartWorker kills the worker that brought a write to the target, and starts it
// again.
func (b *lockBed) restartWorker(write string) {
	b.t.Helper()
	pid := b.target.worker(b.t, write)
	for _, w := range b.workers {
		if strconv.Itoa(w.PID()) == pid {
			w.Kill()
			w.Start(b.t)
			return
		}
	}
	b.t.Fatalf("no worker has the process id %s", pid)
}

// inLine waits until the thread's call waits for its resource, and returns who has it.
func (b *bed) inLine(call string) contract.Lock {
	b.t.Helper()
	for part, err := range b.Watch(b.ctx(), b.start.ThreadRef, 0) {
		if err != nil {
			b.t.Fatalf("call %s does not wait: %v\n%s", call, err, asJSON(partsOf(b)))
		}
		if part.ID == call && part.Lock != nil {
			if part.Status != contract.PartWaiting {
				b.t.Errorf("the part of a call that waits is %s", part.Status)
			}
			return *part.Lock
		}
	}
	b.t.Fatalf("call %s never waited for its resource", call)
	return contract.Lock{}
}

// lock asks the lock of a resource who has it.
func (b *bed) lock(resource string) (state contract.LockState) {
	b.t.Helper()
	b.query(contract.LockID(b.start.Tenant, resource), &state, contract.QueryLock)
	return state
}

// free waits until nobody has the lock of a resource: a thread that has found out about a
// write tells the lock so, and does not wait for that.
func (b *bed) free(resource string) {
	b.t.Helper()
	b.until("the lock of "+resource+" is free", func() bool { return b.lock(resource).Holder == nil })
}

// query asks a workflow until it answers: Temporal's client gives up after a few seconds.
func (b *bed) query(id string, answer any, name string, args ...any) {
	b.t.Helper()
	b.until(id+" answers the query "+name, func() bool {
		encoded, err := b.client.QueryWorkflow(b.ctx(), id, "", name, args...)
		if err != nil {
			b.t.Logf("query %s of %s: %v", name, id, err)
			return false
		}
		b.must(encoded.Get(answer))
		return true
	})
}

// completed fails the test unless the turn ends well, with every call made.
func (b *bed) completed(turn string) {
	b.t.Helper()
	if ended := b.wait(turn); ended.Status != contract.StatusCompleted || ended.Answer != "done" {
		b.t.Errorf("turn of %s = %+v, problem %v", b.start.Thread, ended, ended.Problem)
	}
	if text, problem := b.told("test.keep"); problem != nil {
		b.t.Errorf("thread %s was told %s, %v", b.start.Thread, text, problem)
	}
}

// Writes of two threads, on two workers, to one resource come to the target one after
// the other, and the one that waits shows for whom.
func TestWritesToOneResourceGoOneAfterTheOther(t *testing.T) {
	b := newLockBed(t, testkit.DevServer(t))
	resource := testkit.Name(t)
	first, second := b.thread("first"), b.thread("second")
	open := b.target.gate(resource + ".1")
	turn := first.send("keep:" + resource + ".1|say:done")
	b.target.worker(t, resource+".1")
	waiting := second.send("keep:" + resource + ".2 keep:other.3|say:done")
	lock := second.inLine("t1-s1-c1")
	if lock.Resource != resource || lock.Holder != first.start.ThreadRef.String() || lock.Call != "t1-s1-c1" ||
		lock.Tool != "test.keep" || lock.Since.IsZero() || lock.Ahead != 0 {
		t.Errorf("the lock is shown as %+v", lock)
	}
	b.target.worker(t, "other.3") // another write of the thread is not held up
	if order := b.target.order(); order != resource+".1 other.3" {
		t.Errorf("the target got %q while the first is under way", order)
	}
	open()
	first.completed(turn)
	second.completed(waiting)
	b.target.apart(t)
	for _, p := range partsOf(second) {
		if p.ID == "t1-s1-c1" && (p.Lock != nil || p.Status != contract.PartDone) {
			t.Errorf("the part of the call is left as %+v", p)
		}
	}
	if state := b.lock(resource); state.Holder != nil || len(state.Queue) > 0 {
		t.Errorf("the lock is left as %+v", state)
	}
	second.replay("resource_waited", "")
	second.replayOf(contract.LockID(b.start.Tenant, resource), "lock_passed_on", "")
}

func partsOf(b *bed) (parts []contract.Part) {
	b.t.Helper()
	var page contract.TimelinePage
	b.query(b.start.WorkflowID(), &page, contract.QueryTimeline, contract.TimelineQuery{})
	return page.Parts
}

// The worker of a write is killed in the middle of it. Its thread finds out what became
// of the write, and then the one that waits goes on.
func TestLockIsPassedOnWhenItsHolderIsLost(t *testing.T) {
	b := newLockBed(t, testkit.DevServer(t))
	resource := testkit.Name(t)
	first, second := b.thread("first"), b.thread("second")
	b.target.gate(resource + ".1")
	turn := first.send("trace:" + resource + ".1|say:done")
	b.target.worker(t, resource+".1")
	waiting := second.send("keep:" + resource + ".2|say:done")
	second.inLine("t1-s1-c1")
	b.restartWorker(resource + ".1")
	first.completed(turn)
	if text, problem := first.told("test.trace"); problem != nil || !strings.Contains(text, "(asked)") {
		t.Errorf("the first thread was told %s, %v", text, problem)
	}
	second.completed(waiting)
	b.target.apart(t)
	if order := b.target.order(); order != resource+".1 "+resource+".2" {
		t.Errorf("the target got %q", order)
	}
	first.replay("resource_holder_lost", "")
}

// Where a person must find out, nobody waits for that: the one that waits is refused.
// Once the person has answered, writes go on.
func TestLockIsKeptWhileAPersonIsAsked(t *testing.T) {
	b := newLockBed(t, testkit.DevServer(t))
	resource := testkit.Name(t)
	first, second := b.thread("first"), b.thread("second")
	b.target.gate(resource + ".1")
	turn := first.send("keep:" + resource + ".1|say:done")
	b.target.worker(t, resource+".1")
	waiting := second.send("keep:" + resource + ".2|say:done")
	second.inLine("t1-s1-c1")
	b.restartWorker(resource + ".1")
	doubt := first.doubt()
	second.wait(waiting)
	if _, problem := second.told("test.keep"); problem == nil || problem.Code != contract.CodeResourceBlocked {
		t.Errorf("the second thread was told %v, want %s", problem, contract.CodeResourceBlocked)
	}
	if state := b.lock(resource); !state.Unknown || state.Holder == nil || state.Holder.Thread != first.start.Thread {
		t.Errorf("the lock is %+v, want it kept for the first thread", state)
	}
	first.find(doubt, contract.FindingApplied, `{"done":"yes"}`)
	first.completed(turn)
	b.free(resource)
	second.completed(second.send("keep:" + resource + ".3|say:done"))
	b.target.apart(t)
	if order := b.target.order(); order != resource+".1 "+resource+".3" {
		t.Errorf("the target got %q", order)
	}
	first.replay("resource_holder_asked", "")
}

// A cancelled turn leaves the queue of the resource, and the one behind it moves up.
func TestCancelledTurnLeavesTheQueueOfAResource(t *testing.T) {
	b := newLockBed(t, testkit.DevServer(t))
	resource := testkit.Name(t)
	first, second, third := b.thread("first"), b.thread("second"), b.thread("third")
	turn, cancelled, open := b.contend(resource, first, second)
	waiting := third.send("keep:" + resource + ".3|say:done")
	if lock := third.inLine("t1-s1-c1"); lock.Ahead != 1 {
		t.Errorf("the third waits as %+v, want one ahead", lock)
	}
	b.must(second.Cancel(b.ctx(), second.start.ThreadRef, contract.CancelTurn{Turn: cancelled, Reason: "enough"}))
	if ended := second.wait(cancelled); ended.Status != contract.StatusCancelled {
		t.Errorf("turn = %+v", ended)
	}
	if _, problem := second.told("test.keep"); problem == nil || problem.Code != contract.CodeCancelled {
		t.Errorf("the second thread was told %v", problem)
	}
	b.until("the third alone is in the queue", func() bool { return len(b.lock(resource).Queue) == 1 })
	open()
	first.completed(turn)
	third.completed(waiting)
	b.target.apart(t)
	if order := b.target.order(); order != resource+".1 "+resource+".3" {
		t.Errorf("the target got %q", order)
	}
	second.replay("resource_wait_cancelled", "")
}

// While nobody knows whether the holder's write was applied, others are refused.
func TestHeldResourceIsRefused(t *testing.T) {
	b := newLockBed(t, testkit.DevServer(t))
	resource := testkit.Name(t)
	first, second, third := b.thread("first"), b.thread("second"), b.thread("third")
	turn, waiting, open := b.contend(resource, first, second)
	b.must(b.client.SignalWorkflow(b.ctx(), contract.LockID(b.start.Tenant, resource), "", contract.SignalHold, *b.lock(resource).Holder))
	second.wait(waiting)
	third.wait(third.send("keep:" + resource + ".3|say:done"))
	for _, refused := range []*bed{second, third} {
		if _, problem := refused.told("test.keep"); problem == nil || problem.Code != contract.CodeResourceBlocked ||
			!strings.Contains(problem.Message, first.start.ThreadRef.String()) {
			t.Errorf("thread %s was told %v, want %s", refused.start.Thread, problem, contract.CodeResourceBlocked)
		}
	}
	open()
	first.completed(turn)
	third.completed(third.send("keep:" + resource + ".4|say:done"))
	b.target.apart(t)
	if order := b.target.order(); order != resource+".1 "+resource+".4" {
		t.Errorf("the target got %q", order)
	}
	second.replay("resource_refused", "")
	second.replayOf(contract.LockID(b.start.Tenant, resource), "lock_held", "")
}

// Fifty threads get a resource in the order in which they came, though the lock
// continues as new all the while.
func TestLockKeepsOrderOverContinueAsNew(t *testing.T) {
	b := newLockBed(t, testkit.StartServer(t, shortRuns))
	resource := testkit.Name(t)
	first := b.thread("first")
	open := b.target.gate(resource + ".first")
	turn := first.send("occupy:" + resource + ".first|say:done") // until all the others wait
	b.target.worker(t, resource+".first")
	const waiting = 50
	turns := map[*bed]string{}
	for i := range waiting {
		next := b.thread(fmt.Sprint(i))
		turns[next] = next.send(fmt.Sprintf("keep:%s.%s|say:done", resource, next.start.Thread))
	}
	b.until("all the writes wait", func() bool { return len(b.lock(resource).Queue) == waiting })
	order := resource + ".first"
	for _, o := range b.lock(resource).Queue {
		order += " " + resource + "." + o.Thread
	}
	open()
	first.completed(turn)
	for next, turn := range turns {
		next.completed(turn)
	}
	b.target.apart(t)
	if got := b.target.order(); got != order {
		t.Errorf("the target got\n%s\nwant the order of the queue\n%s", got, order)
	}
	described, err := b.client.DescribeWorkflow(b.ctx(), contract.LockID(b.start.Tenant, resource), "")
	b.must(err)
	firstRun := described.RawResponse.GetWorkflowExecutionInfo().GetFirstRunId()
	if firstRun == described.WorkflowExecution.RunID || firstRun == "" {
		t.Errorf("the lock never continued as new (first run %q)", firstRun)
	}
	b.replayOf(contract.LockID(b.start.Tenant, resource), "lock_continued", firstRun)
}

// A resource key costs a thread nothing while nobody else works on the resource.
func TestUncontendedLockCostsTheThreadNothing(t *testing.T) {
	b := newLockBed(t, testkit.DevServer(t))
	events := func(name, script string) int {
		thread := b.thread(name)
		thread.wait(thread.send(script))
		return b.events(thread.start.WorkflowID())
	}
	resource := testkit.Name(t)
	without, with := events("without", "free:a|say:done"), events("with", "keep:"+resource+".1|say:done")
	if with != without {
		t.Errorf("a write costs %d events with a resource key and %d without", with, without)
	}
	if n := b.events(contract.LockID(b.start.Tenant, resource)); n > 11 {
		t.Errorf("the lock took %d events for one write, want at most 11", n)
	}
}
