package durability

import (
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals/contract"
)

// A snippet that runs for very long goes on over several runs of the workflow: its
// writes, its sleeps, a race with a loser, and what it keeps in variables.
func TestSnippetContinuesAsNew(t *testing.T) {
	b := newCoderBed(t, testkit.StartServer(t, "limit.historyCount.suggestContinueAsNew=150"))
	const writes = 200
	turn := b.send(fmt.Sprintf(`
		const seen: string[] = [];
		const late = sleep(8000).then(() => "late");
		for (let i = 0; i < %d; i++) {
			const { done }: any = await test.free({ name: "w" + i });
			seen.push(done + Math.floor(Math.random() * 10));
			if (i %% 50 === 0) await Promise.race([sleep(1000), sleep(60000)]);
			if (i %% 70 === 0) await test.read({ name: "x".repeat(2000) + i });
		}
		return { writes: seen.length, last: seen.at(-1)!.slice(0, -1), late: await late, denied: await test.write({ name: "no" }).catch((e: any) => e.code) }`, writes))
	b.deny(b.pending(1)[0])
	answer := b.answer(turn)
	if want := fmt.Sprintf(`{"writes":%d,"last":"w%d","late":"late","denied":"approval_denied"}`, writes, writes-1); string(answer.Result) != want {
		t.Errorf("told %s, want the result %s", asJSON(answer), want)
	}
	if got := answer.Calls["test.free"]; got != writes {
		t.Errorf("the report counts %d writes, want %d", got, writes)
	}
	made := map[string]int{}
	for _, name := range strings.Fields(b.effects()) {
		made[name]++
	}
	for i := range writes {
		if name := fmt.Sprintf("w%d", i); made[name] != 1 {
			t.Errorf("write %s was made %d times", name, made[name])
		}
	}
	state, err := b.State(b.ctx(), b.start.ThreadRef)
	b.must(err)
	if state.Runs < 5 || len(made) != writes {
		t.Errorf("%d runs and %d writes, want several and %d", state.Runs, len(made), writes)
	}
	for part, err := range b.Watch(b.ctx(), b.start.ThreadRef, 0) {
		if b.must(err); part.Kind == contract.KindExecute && part.EndedAt != nil {
			if p := part.Progress; p == nil || p.Total < writes+4 || p.Done != p.Total-1 {
				t.Errorf("the snippet's part is %s", asJSON(part))
			}
			break
		}
	}
}

// The first and the last run of a snippet that goes on over several.
func TestHistoriesOfASnippetThatContinuesAsNew(t *testing.T) {
	b := newCoderBed(t, testkit.StartServer(t, shortRuns))
	turn := b.send(`
		const nap = sleep(2000).then(() => "woke");
		for (let i = 0; i < 15; i++) await test.free({ name: "w" + i });
		return await nap`)
	if answer := b.answer(turn); string(answer.Result) != `"woke"` {
		t.Errorf("told %s", asJSON(answer))
	}
	state, err := b.State(b.ctx(), b.start.ThreadRef)
	b.must(err)
	if state.Runs < 2 {
		t.Errorf("%d runs, want several", state.Runs)
	}
	b.must(b.Close(b.ctx(), b.start.ThreadRef, contract.Close{}))
	b.must(b.client.GetWorkflow(b.ctx(), b.start.WorkflowID(), "").Get(b.ctx(), nil))
	b.replay("snippet_continued_first", state.FirstRunID)
	b.replay("snippet_continued_last", "")
}

// A turn that is cancelled while its snippet rests ends, and so does a thread.
func TestSnippetIsCancelledAcrossRuns(t *testing.T) {
	b := newCoderBed(t, testkit.StartServer(t, shortRuns))
	turn := b.send(`for (let i = 0; i < 1000; i++) await test.free({ name: "w" + i })`)
	for {
		state, err := b.State(b.ctx(), b.start.ThreadRef)
		b.must(err)
		if state.Runs > 2 {
			break
		}
	}
	b.must(b.Cancel(b.ctx(), b.start.ThreadRef, contract.CancelTurn{Turn: turn, Reason: "enough"}))
	if ended := b.wait(turn); ended.Status != contract.StatusCancelled {
		t.Errorf("the turn ended as %+v", ended)
	}
	if answer := b.answer(b.send(`1 + 1`)); string(answer.Result) != "2" {
		t.Errorf("the next turn is told %s", asJSON(answer))
	}
}
