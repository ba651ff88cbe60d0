package durability

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals/contract"
)

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
	reply.Calls = []activities.ModelCall{{Name: "execute", Input: string(input)}}
	reply.Stop = activities.StopCalls
	return reply, err
}

// told is what the agent is told of a snippet.
type told struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code, Message string
	} `json:"error"`
	Calls      map[string]int             `json:"calls"`
	Handle     string                     `json:"handle"`
	Outline    json.RawMessage            `json:"outline"`
	DurationMS int64                      `json:"duration_ms"`
	Findings   []struct{ Message string } `json:"findings"`
	NotAwaited []struct{ Line int }       `json:"not_awaited"`
	Planned    []struct {
		Tool          string          `json:"tool"`
		NeedsApproval bool            `json:"needs_approval"`
		Preview       json.RawMessage `json:"preview"`
	} `json:"planned"`
}

// newCoderBed is a worker and a thread whose messages are snippets.
func newCoderBed(t *testing.T, server *testkit.Server) *bed {
	t.Helper()
	b := newBed(t, server)
	b.start.Agent = "coder"
	return b
}

// answer waits for the end of a turn and returns what the agent was told of its
// snippet.
func (b *bed) answer(turn string) told {
	b.t.Helper()
	ended := b.wait(turn)
	if ended.Status != contract.StatusCompleted {
		b.t.Fatalf("turn = %+v, problem %v", ended, ended.Problem)
	}
	var answer told
	messages, err := b.Transcript(b.ctx(), b.start.ThreadRef, *ended.AnswerIndex, *ended.AnswerIndex+1)
	if err != nil {
		b.t.Fatal(err)
	}
	// A warning may follow.
	if err := json.NewDecoder(strings.NewReader(messages[0].Text)).Decode(&answer); err != nil {
		b.t.Fatalf("the agent was told %q: %v", messages[0].Text, err)
	}
	return answer
}

func TestSnippet(t *testing.T) {
	b := newCoderBed(t, testkit.DevServer(t))
	turn := b.send(`
		const reads = await Promise.all(["a", "b", "c"].map((name: string) => test.read({ name })));
		const one: any = await test.free({ name: "w1" });
		const both = test.write({ name: "w2" }).catch((e: any) => e.code);
		return { reads: reads.map((r: any) => r.done), one: one.done, both: await both };`)
	b.approve(b.pending(1)[0])
	answer := b.answer(turn)
	if want := `{"reads":["a","b","c"],"one":"w1","both":{"done":"w2"}}`; string(answer.Result) != want {
		t.Errorf("told %s, want the result %s", asJSON(answer), want)
	}
	if b.effects() != "w1 w2" {
		t.Errorf("effects %q", b.effects())
	}
}

// run submits a snippet and returns its turn.
func (b *bed) run(run contract.Run, source string) (turn string) {
	b.t.Helper()
	submitted, err := b.Send(b.ctx(), b.start, contract.Submission{Text: source, Run: run})
	if err != nil {
		b.t.Fatal(err)
	}
	return submitted.Turn
}

// A snippet runs as a turn of any agent, without a model, and with approvals.
func TestRunSnippet(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	turn := b.run(contract.RunSnippet, `const r = await test.read({ name: "a" }); await test.write({ name: "w" }); r.done`)
	b.approve(b.pending(1)[0])
	if answer := b.answer(turn); string(answer.Result) != `"a"` || b.effects() != "w" {
		t.Errorf("told %s, effects %q", asJSON(answer), b.effects())
	}
	b.wait(b.send("say:and on")) // the model sees it as said
	b.must(b.Close(b.ctx(), b.start.ThreadRef, contract.Close{}))
	for part, err := range b.Watch(b.ctx(), b.start.ThreadRef, 0) {
		b.must(err)
		if strings.Contains(asJSON(part), "const r") {
			t.Errorf("the source of the snippet is in a part: %s", asJSON(part))
		}
	}
	b.replay("run_snippet", "")
}

// A dry run makes the reads and plans the writes.
func TestDryRun(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	turn := b.run(contract.RunDry, `
		const r = await test.read({ name: "a" });
		const w = await test.write({ name: "w" });
		await sleep(60_000);
		await test.free({ name: "v" });
		return [r.done, w === undefined]`)
	answer := b.answer(turn)
	if string(answer.Result) != `["a",true]` || b.effects() != "" {
		t.Errorf("told %s, effects %q", asJSON(answer), b.effects())
	}
	if len(answer.Planned) != 2 || !answer.Planned[0].NeedsApproval || answer.Planned[1].NeedsApproval ||
		string(answer.Planned[0].Preview) != `{"name":"w"}` || answer.Calls["test.write"] != 0 {
		t.Errorf("planned %s", asJSON(answer))
	}
}

// Who watches sees how far a snippet is whose reads take long.
func TestProgressOfARunningSegmentIsWatched(t *testing.T) {
	b := newCoderBed(t, testkit.DevServer(t))
	turn := b.send(`for (const name of ["a", "b", "c"]) await test.read({ name }); await test.gate({ name: "slow" })`)
	for part, err := range b.Watch(b.ctx(), b.start.ThreadRef, 0) {
		b.must(err)
		if part.Kind != contract.KindExecute || part.Progress == nil {
			continue
		}
		if part.EndedAt != nil || part.Progress.Done > 3 || part.Progress.Total > 4 {
			t.Errorf("the snippet's part is %s", asJSON(part))
		}
		if *part.Progress == (contract.Progress{Done: 3, Total: 4}) { // it may be seen on its way there
			break
		}
	}
	openGate(t, b.worker, "slow")
	b.wait(turn)
}

// A cancelled turn reaches the reads of its snippet.
func TestCancellationReachesTheReadsOfASnippet(t *testing.T) {
	b := newCoderBed(t, testkit.DevServer(t))
	turn := b.send(`await Promise.all([test.gate({ name: "one" }), test.gate({ name: "two" }), test.write({ name: "w" })])`)
	b.pending(1)
	b.must(b.Cancel(b.ctx(), b.start.ThreadRef, contract.CancelTurn{Turn: turn}))
	if ended := b.wait(turn); ended.Status != contract.StatusCancelled {
		t.Errorf("the turn ended as %+v", ended)
	}
	for _, name := range []string{"one", "two"} {
		awaitFile(t, b.worker, name+".left")
	}
	if b.effects() != "" {
		t.Errorf("effects %q", b.effects())
	}
}
