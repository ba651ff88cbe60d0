package durability

import (
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals/contract"
)

// undo asks for a turn to be undone, and returns the turn in which that happens.
func (b *bed) undo(turn string) string {
	b.t.Helper()
	submitted, err := b.Undo(b.ctx(), b.start.ThreadRef, turn, "", "eve")
	b.must(err)
	return submitted.Turn
}

// writes are the names of the writes that happened, in order.
func (b *bed) writes() string {
	b.t.Helper()
	var names []string
	for _, line := range lines(b.t, b.worker, "writes") {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// The writes of a turn are undone in reverse, each after an approval of its own and
// under a key of its own, by whichever worker there is.
func TestTurnIsUndone(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	b.wait(b.send("put:a read:x put:b free:c|say:done"))
	undo := b.undo("t1")
	first := b.pending(1)[0]
	if first.Tool != "test.take" || !strings.Contains(string(first.Preview), "not-b") {
		t.Errorf("the first approval %+v", first)
	}
	b.restart()
	b.approve(first)
	b.until("the last write is undone", func() bool { return b.writes() == "a b c not-b" })
	b.approve(b.pending(1)[0])
	const want = "Undone: test.put (t1-s1-c3), test.put (t1-s1-c1). Not undone: test.free (t1-s1-c4): its tool does not say how."
	if ended := b.wait(undo); ended.Status != contract.StatusCompleted || ended.Answer != want {
		t.Errorf("the undo %+v, problem %v", ended, ended.Problem)
	}
	if again := b.undo("t1"); again != undo {
		t.Errorf("a second undo is turn %s, the first was %s", again, undo)
	}
	if writes := b.writes(); writes != "a b c not-b not-a" {
		t.Errorf("writes %q", writes)
	}
	keys := map[string]bool{}
	for _, line := range lines(t, b.worker, "writes") {
		_, key, _ := strings.Cut(line, "=")
		keys[key] = true
	}
	if len(keys) != 5 {
		t.Errorf("%d keys for 5 writes", len(keys))
	}
	b.wait(b.send("say:on"))
	b.replay("undone_turn", "")
}

// A turn that is cancelled with undo is undone, the last write first.
func TestCancelledTurnIsUndone(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	turn := b.send("put:a lay:b guarded:c|say:done")
	b.pending(1)
	b.done("t1-s1-c1")
	b.done("t1-s1-c2")
	b.must(b.Cancel(b.ctx(), b.start.ThreadRef, contract.CancelTurn{Turn: turn, Reason: "a mistake", Undo: true}))
	if ended := b.wait(turn); ended.Status != contract.StatusCancelled {
		t.Errorf("turn = %+v", ended)
	}
	awaitGate(t, b.worker, "not-b") // the last write is undone first
	openGate(t, b.worker, "not-b")
	b.approve(b.pending(1)[0])
	if ended := b.wait("t2"); ended.Status != contract.StatusCompleted || ended.Answer != "Undone: test.lay (t1-s1-c2), test.put (t1-s1-c1)." {
		t.Errorf("the undo %+v, problem %v", ended, ended.Problem)
	}
	if writes := b.writes(); writes != "a b not-b not-a" {
		t.Errorf("writes %q", writes)
	}
	b.replay("cancelled_and_undone", "")
}

// An undo that a person denies stops there and says so.
func TestDeniedUndoStops(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	b.wait(b.send("put:a put:b|say:done"))
	undo := b.undo("t1")
	b.deny(b.pending(1)[0])
	ended := b.wait(undo)
	if ended.Status != contract.StatusFailed || ended.Problem.Code != contract.CodeApprovalDenied || b.writes() != "a b" ||
		!strings.Contains(ended.Answer, "Stopped: the undo of test.put (call t1-s1-c2) by test.take:") {
		t.Errorf("the undo %+v, problem %v; writes %q", ended, ended.Problem, b.writes())
	}
	b.replay("undo_denied", "")
}

// What a thread did before it continued as new can still be undone.
func TestUndoOverContinueAsNew(t *testing.T) {
	b := newBed(t, testkit.StartServer(t, shortRuns))
	b.wait(b.send("put:a lay:b|read:x|read:x|read:x|read:x|read:x|say:done"))
	b.wait(b.send("read:x|read:x|read:x|read:x|read:x|read:x|say:done"))
	state, err := b.State(b.ctx(), b.start.ThreadRef)
	b.must(err)
	if state.Runs < 2 {
		t.Fatal("the thread has not continued as new")
	}
	openGate(t, b.worker, "not-b")
	undo := b.undo("t1")
	b.approve(b.pending(1)[0])
	if ended := b.wait(undo); ended.Answer != "Undone: test.lay (t1-s1-c2), test.put (t1-s1-c1)." {
		t.Errorf("the undo %+v, problem %v", ended, ended.Problem)
	}
	if writes := b.writes(); writes != "a b not-b not-a" {
		t.Errorf("writes %q", writes)
	}
}

// A cancelled turn lets a write that was sent come to its end and records it, while
// its reads stop.
func TestCancelledTurnLetsASentWriteEnd(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	turn := b.send("gate:never lasting:w write:v|say:done")
	awaitGate(t, b.worker, "w")
	b.pending(1)
	b.must(b.Cancel(b.ctx(), b.start.ThreadRef, contract.CancelTurn{Turn: turn}))
	b.until("the read has stopped", func() bool { return len(lines(t, b.worker, "stopped")) > 0 }) // the write goes on
	openGate(t, b.worker, "w")
	if ended := b.wait(turn); ended.Status != contract.StatusCancelled {
		t.Errorf("turn = %+v", ended)
	}
	if text, problem := b.told("test.lasting"); problem != nil || text != `{"done":"w"}` {
		t.Errorf("the agent was told %s, %v of the write that was sent", text, problem)
	}
	for _, tool := range []string{"test.gate", "test.write"} {
		if _, problem := b.told(tool); problem == nil || problem.Code != contract.CodeCancelled {
			t.Errorf("the agent was told %v of %s", problem, tool)
		}
	}
	state, err := b.State(b.ctx(), b.start.ThreadRef)
	b.must(err)
	if len(state.Pending) > 0 || b.effects() != "w" {
		t.Errorf("pending %v, effects %q", state.Pending, b.effects())
	}
	b.replay("cancelled_during_write", "") // recorded before such writes were withdrawn
	b.replay("cancelled_sent_write", "")
}
