package durability

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
	"github.com/heddle-dev/heddle/test/authserver"
)

// unconnectedConfig is a worker with a server that nobody has connected.
const unconnectedConfig = `
task_queue: ${HEDDLE_TASK_QUEUE}
sandbox: ` + sandboxMode + `
secrets: [{file: secrets.json, plain: true}]
connections: {allow: [%[2]q], callback: {listen: %[3]q}}
agents:
  coder: {instructions: Run what the user says., model: coder, exposure: code, tools: [crm.*]}
  tester: {instructions: Do what the user says., model: play, tools: [crm.*]}
mcp:
  crm: {url: %[1]q, allow: [%[2]q], connection: crm, trusted: true}
`

// unconnected gives the worker a server that nobody has connected.
func (b *bed) unconnected() {
	b.t.Helper()
	crm := authserver.NewMCP(b.t)
	b.configure(fmt.Sprintf(unconnectedConfig, crm.Resource, crm.Host, "127.0.0.1:"+testkit.FreePort(b.t)))
}

// consent agrees to what a question asks, and comes back.
func (b *bed) consent(q contract.Question) {
	b.t.Helper()
	back, err := authserver.Agree(b.ctx(), q.URL)
	b.must(err)
	response, err := http.Get(back.String())
	b.must(err)
	b.must(response.Body.Close())
}

// asking are the paths on which a call asks a person.
var asking = map[string]func(*bed){
	"answered_question": func(b *bed) {
		turn := b.send("order:mug|say:done")
		b.answerWith(b.questions(1)[0], "Graz")
		b.wait(turn)
	},
	"declined_question": func(b *bed) {
		turn := b.send("order:mug|say:done")
		_, err := b.Decline(b.ctx(), b.start.ThreadRef, contract.Answer{Question: b.questions(1)[0].ID, By: "bob", Comment: "secret"})
		b.must(err)
		b.wait(turn)
	},
	"expired_question": func(b *bed) {
		b.start.Agent = "hasty"
		b.wait(b.send("order:mug|say:done"))
	},
	"withdrawn_question": func(b *bed) {
		turn := b.send("order:mug|say:done")
		b.questions(1)
		b.must(b.Cancel(b.ctx(), b.start.ThreadRef, contract.CancelTurn{Turn: turn}))
		b.wait(turn)
	},
	"question_in_a_batch": func(b *bed) {
		turn := b.send("read:a inquire:mug read:b|say:done")
		b.answerWith(b.questions(1)[0], "Graz")
		b.wait(turn)
	},
	"connected_by_function": func(b *bed) {
		b.unconnected()
		turn := b.send(`crm.connect:{}|crm.read_it:{}|say:done`)
		b.consent(b.questions(1)[0])
		b.wait(turn)
		messages, err := b.Transcript(b.ctx(), b.start.ThreadRef, 0, 0)
		b.must(err)
		if len(messages) != 6 || messages[2].Text != `{"connected":true}` || messages[4].Text != `{"did":"read_it"}` {
			b.t.Errorf("the agent is told %s", asJSON(messages))
		}
	},
	"consent_before_a_plan": func(b *bed) {
		b.unconnected()
		b.start.Agent = "coder"
		turn := b.send(`return (await crm.change_it({})).did`)
		b.consent(b.questions(1)[0])
		b.decide(b.pending(1)[0], agree)
		if answer := b.answer(turn); string(answer.Result) != `"change_it"` {
			b.t.Errorf("the snippet came to %s", asJSON(answer))
		}
	},
	"snippet_question": func(b *bed) {
		b.start.Agent = "coder"
		turn := b.send(`return [await test.inquire({ name: "mug" }), await test.order({ name: "cup" })].map((r) => r.done)`)
		b.answerWith(b.questions(1)[0], "Graz")
		b.answerWith(b.questionOf("cup"), "Linz")
		b.wait(turn)
	},
}

// questions waits until n questions are open, and returns them.
func (b *bed) questions(n int) []contract.Question {
	b.t.Helper()
	for _, err := range b.Watch(b.ctx(), b.start.ThreadRef, 0) {
		b.must(err)
		state, err := b.State(b.ctx(), b.start.ThreadRef)
		b.must(err)
		if len(state.Questions) == n {
			return state.Questions
		}
	}
	b.t.Fatalf("there never were %d questions", n)
	return nil
}

// questionOf waits until a question about something is open.
func (b *bed) questionOf(name string) contract.Question {
	b.t.Helper()
	for part, err := range b.Watch(b.ctx(), b.start.ThreadRef, 0) {
		b.must(err)
		if part.Question != nil && part.Status == contract.PartWaiting && strings.Contains(part.Question.Message, name) {
			return *part.Question
		}
	}
	b.t.Fatalf("nobody asked about %s", name)
	return contract.Question{}
}

func place(q contract.Question, place string) contract.Answer {
	content, _ := json.Marshal(map[string]string{"place": place}) // of strings: cannot fail
	return contract.Answer{Question: q.ID, Content: content, By: "bob"}
}

func (b *bed) answerWith(q contract.Question, where string) {
	b.t.Helper()
	_, err := b.Answer(b.ctx(), b.start.ThreadRef, place(q, where))
	b.must(err)
}

// A question waits through the death of workers; a wrong answer changes nothing, the
// right one is taken once, and the call is made with it, once.
func TestQuestionOutlivesTheWorker(t *testing.T) {
	b := newBed(t, testkit.DevServer(t))
	turn := b.send("order:mug|say:done")
	q := b.questions(1)[0]
	b.restart()
	b.until("the search attribute finds the thread", func() (found bool) { // a moment later
		for thread, err := range b.List(b.ctx(), signals.Filter{Tenant: b.start.Tenant, Pending: contract.KindQuestion}) {
			b.must(err)
			found = found || thread.ThreadRef == b.start.ThreadRef && slices.Equal(thread.Pending, []contract.Kind{contract.KindQuestion})
		}
		return found
	})
	var refused *signals.Error
	if _, err := b.Answer(b.ctx(), b.start.ThreadRef, place(q, "x")); !errors.As(err, &refused) || refused.Code != contract.ErrInvalid ||
		!strings.Contains(refused.Message, "content.place: want 2 characters at least") {
		t.Errorf("a wrong answer: %v", err)
	}
	b.restart()
	b.answerWith(q, "Graz")
	if ended := b.wait(turn); ended.Status != contract.StatusCompleted {
		t.Errorf("turn = %+v", ended)
	}
	again, err := b.Answer(b.ctx(), b.start.ThreadRef, place(q, "Graz"))
	if err != nil || !again.Duplicate {
		t.Errorf("the same again: %+v, %v", again, err)
	}
	if _, err := b.Answer(b.ctx(), b.start.ThreadRef, place(q, "Linz")); !errors.As(err, &refused) || refused.Code != contract.ErrAlreadyAnswered {
		t.Errorf("another answer: %v", err)
	}
	if got := b.effects(); got != "mug" {
		t.Errorf("effects %q, want the one", got)
	}
	if story := b.story(); !strings.Contains(story, `mug to Graz`) {
		t.Errorf("the story is %s", story)
	}
}

// A question whose turn goes on in the next run is remembered there.
func TestAnsweredQuestionIsRememberedByTheNextRun(t *testing.T) {
	b := newBed(t, testkit.StartServer(t, shortRuns))
	turn := b.send("order:mug|say:done")
	q := b.questions(1)[0]
	b.answerWith(q, "Graz")
	b.wait(turn)
	for range 4 {
		b.wait(b.send("read:a read:b|read:c|read:d|say:done"))
	}
	state, err := b.State(b.ctx(), b.start.ThreadRef)
	b.must(err)
	if state.Runs < 2 {
		t.Fatalf("%d runs, want several", state.Runs)
	}
	if again, err := b.Answer(b.ctx(), b.start.ThreadRef, place(q, "Graz")); err != nil || !again.Duplicate {
		t.Errorf("the same again: %+v, %v", again, err)
	}
}

// Within a snippet a call that asks is an effect like any other.
func TestSnippetAsks(t *testing.T) {
	b := newCoderBed(t, testkit.DevServer(t))
	turn := b.send(`
		const asked = Promise.allSettled([test.inquire({ name: "mug" }), test.order({ name: "cup" })]);
		const read = (await test.read({ name: "a" })).done;
		return [read, ...(await asked).map((r) => r.status === "fulfilled" ? r.value.done : r.reason.code)];`)
	mug, cup := b.questionOf("mug"), b.questionOf("cup")
	b.restart()
	b.answerWith(mug, "Graz")
	_, err := b.Decline(b.ctx(), b.start.ThreadRef, contract.Answer{Question: cup.ID})
	b.must(err)
	if answer := b.answer(turn); string(answer.Result) != `["a","mug at Graz","question_declined"]` {
		t.Errorf("told %s", asJSON(answer))
	}
	dry, err := b.Send(b.ctx(), b.start, contract.Submission{Text: `return await test.inquire({ name: "mug" })`, Run: contract.RunDry})
	b.must(err)
	if ended := b.wait(dry.Turn); !strings.Contains(ended.Answer, contract.CodeInputRequired) {
		t.Errorf("a rehearsal: %+v", ended)
	}
}
