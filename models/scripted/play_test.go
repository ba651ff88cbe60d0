package scripted_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/models/scripted"
	"github.com/heddle-dev/heddle/signals/contract"
)

// load reads the demo's script anew, as a worker does that takes a thread over.
func load(t *testing.T) *scripted.Model {
	t.Helper()
	model, err := scripted.Load("testdata/refund.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return model
}

func TestRefund(t *testing.T) {
	const orders = `{"orders":[{"id":"A-1001","total":12345678901234567890.10},{"id":"A-7","total":1}]}`
	th := &thread{t: t}
	th.say("Hello")
	if got := th.next(load(t)); !strings.HasPrefix(got.Text, "I can look up") {
		t.Errorf("the unforeseen message got %q", got.Text)
	}
	th.say("I want my money back!")
	first := th.next(load(t))
	if first.Stop != activities.StopCalls || len(first.Calls) != 1 || first.Calls[0] != (activities.ModelCall{Name: "orders__search", Input: `{"customer":"ada@example.com"}`}) {
		t.Errorf("first step %+v", first)
	}
	th.result("orders__search", orders)
	second := th.next(load(t))
	want := `{"amount":12345678901234567890.10,"note":"Refund of A-1001, as asked","order":"A-1001"}`
	if len(second.Calls) != 1 || second.Calls[0].Input != want {
		t.Errorf("second step %+v, want the input %s", second, want)
	}
	if second.Usage != (contract.Usage{InputTokens: 960, OutputTokens: 58}) {
		t.Errorf("usage %+v", second.Usage)
	}

	denied := *th
	denied.messages = append([]contract.Message(nil), th.messages...)
	denied.fails("orders__refund", "approval_denied", "denied by ops")
	if got := denied.next(load(t)).Text; got != "The refund was not made: denied by ops." {
		t.Errorf("after a denial: %q", got)
	}
	th.result("orders__refund", `{"refunded":true}`)
	if got := th.next(load(t)).Text; got != "Order A-1001 is refunded." {
		t.Errorf("after an approval: %q", got)
	}
	// The same turn can be had again: its entry has a when.
	th.say("Refund the other one too, please.")
	if got := th.next(load(t)); len(got.Calls) != 1 || got.Calls[0].Name != "orders__search" {
		t.Errorf("the second refund begins with %+v", got)
	}
}

// TestTurns shows which entry each message gets.
func TestTurns(t *testing.T) {
	model := parse(t, `
turns:
  - steps: [{text: first}]
  - when: {contains: ÄPFEL}
    steps: [{text: apples}]
  - steps: [{text: second}]
  - when: {contains: pie, regex: '^[a-z ]+$'}
    steps: [{text: pie}]
`)
	th := &thread{t: t}
	for _, exchange := range [][2]string{
		{"hello", "first"},
		{"Keine äpfel da?", "apples"},
		{"Pie", "second"},
		{"a pie please", "pie"},
		{"äpfel", "apples"},
	} {
		th.say(exchange[0])
		if got := th.next(model).Text; got != exchange[1] {
			t.Errorf("%q got %q, want %q", exchange[0], got, exchange[1])
		}
	}
	th.say("more")
	_, err := th.ask(model)
	checkInvalid(t, err, `script demo.yaml: turn 6: no turn of the script is for the message "more"`)
}

// TestTurnWithoutReply: a turn that was cancelled or failed before the model said
// anything has had its place in the script.
func TestTurnWithoutReply(t *testing.T) {
	model := parse(t, "turns: [{steps: [{text: first}]}, {steps: [{text: second}]}]")
	th := &thread{t: t}
	th.say("one")
	th.say("two")
	if got := th.next(model).Text; got != "second" {
		t.Errorf("got %q", got)
	}
}

// TestConversationWithoutTurns: in a conversation that names no turns, messages
// of the user that stand together are one.
func TestConversationWithoutTurns(t *testing.T) {
	model := parse(t, "turns: [{steps: [{text: first}]}, {steps: [{text: second}]}]")
	ask := func(roles ...contract.Role) string {
		var messages []contract.Message
		for _, role := range roles {
			messages = append(messages, contract.Message{Role: role, Text: "x"})
		}
		resp, err := model.Generate(t.Context(), activities.ModelRequest{Messages: messages}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return resp.Text
	}
	if got := ask(contract.RoleUser, contract.RoleUser); got != "first" {
		t.Errorf("after two messages: %q", got)
	}
	if got := ask(contract.RoleUser, contract.RoleAssistant, contract.RoleUser); got != "second" {
		t.Errorf("after a reply: %q", got)
	}
}

// TestUnforeseen: what a script did not foresee is said with the place in it.
func TestUnforeseen(t *testing.T) {
	const script = `turns:
  - steps:
      - calls: [{tool: orders.search}]
      - expect:
          user: {contains: order}
          results: [{tool: orders.search, regex: 'A-\d', failed: false}]
          tools: [orders.search]
          messages: 3
        text: "Found ${orders.search#/0/id} of $${5}: ${orders.search}"
`
	begin := func(t *testing.T, model *scripted.Model, said string) *thread {
		th := &thread{t: t}
		th.say(said)
		th.next(model)
		return th
	}
	tests := []struct {
		name string
		lead func(*thread)
		said string
		want string
	}{
		{
			"other words", func(th *thread) { th.result("orders__search", `[{"id":"A-1"}]`) }, "my basket",
			`turn 1, step 2 (line 4): expected that the user's message contains "order"; it is "my basket"`,
		},
		{
			"no result", func(*thread) {}, "my order",
			`expected that there is a result of orders.search; there is none`,
		},
		{
			"another tool's result", func(th *thread) { th.result("orders__refund", `A-1`) }, "my order",
			`there is a result of orders.search; there is none`,
		},
		{
			"another result", func(th *thread) { th.result("orders__search", `[]`) }, "my order",
			`expected that the newest result of orders.search matches "A-\\d"; it is "[]"`,
		},
		{
			"a failure", func(th *thread) { th.fails("orders__search", "timeout", "A-1 too slow") }, "my order",
			`expected that failed is false for the newest call of orders.search; its result is "{`,
		},
		{
			"too much", func(th *thread) { th.result("orders__search", `1`); th.result("orders.search", `A-2`) }, "my order",
			`expected that there are 3 messages; there are 4`,
		},
		{
			"no JSON", func(th *thread) { th.result("orders__search", `A-1 and more`) }, "my order",
			`line 4: text: ${orders.search#/0/id}: the result of orders.search is no JSON: "A-1 and more"`,
		},
		{
			"two JSON values", func(th *thread) { th.result("orders__search", `[{"id":"A-1"}] []`) }, "my order",
			`the result of orders.search is no JSON`,
		},
		{
			"an empty list", func(th *thread) { th.result("orders__search", `[[],"A-1"]`) }, "my order",
			`line 4: text: ${orders.search#/0/id}: /0/id is not there: the array has 0 elements`,
		},
		{
			"another shape", func(th *thread) { th.result("orders__search", `["A-1"]`) }, "my order",
			`/0/id is not there: what holds it is neither object nor array`,
		},
		{
			"another field", func(th *thread) { th.result("orders__search", `[{"ID":"A-1"}]`) }, "my order",
			`/0/id is not there; the result is`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			model := parse(t, script)
			th := begin(t, model, test.said)
			test.lead(th)
			_, err := th.ask(model)
			checkInvalid(t, err, test.want)
		})
	}

	model := parse(t, script)
	th := begin(t, model, "my ORDER")
	th.result("orders__search", `[{"id":"A-1"}]`)
	if got, want := th.next(model).Text, `Found A-1 of ${5}: [{"id":"A-1"}]`; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	_, err := th.ask(model)
	checkInvalid(t, err, "turn 1 (line 2): no step is left of its 2; the last message is the assistant's: \"Found")
	th.add(contract.Message{Role: contract.RoleAssistant, Text: "I am another model."})
	_, err = th.ask(model)
	checkInvalid(t, err, "message 4 is a reply that none of the 2 steps can be")
}

func TestMissingTool(t *testing.T) {
	model := parse(t, "turns: [{steps: [{expect: {tools: [orders.search, orders.refund]}, text: Hi.}]}]")
	th := &thread{t: t}
	th.say("hello")
	_, err := th.ask(model)
	checkInvalid(t, err, "expected that the tool orders.refund is offered; it is not")
}

func TestEmptyText(t *testing.T) {
	model := parse(t, "turns: [{steps: [{calls: [{tool: a.b}]}, {text: '${a.b}'}]}]")
	th := &thread{t: t}
	th.say("hello")
	th.next(model)
	th.result("a__b", `" "`)
	_, err := th.ask(model)
	checkInvalid(t, err, `text: "${a.b}" comes out empty`)
}

func TestReferences(t *testing.T) {
	const result = `{"a/b":{"m~n":[10,{"":"deep"},null,true]},"n":9007199254740993,"s":"<é>"}`
	tests := map[string]string{
		`"${x.y#/a~1b/m~0n/0}"`:         `10`,
		`"${x.y#/a~1b/m~0n/1/}"`:        `"deep"`,
		`"${x.y#/a~1b/m~0n/2}"`:         `null`,
		`"${x.y#/n}"`:                   `9007199254740993`,
		`"${x__y#/s}"`:                  `"<é>"`,
		`"n=${x.y#/n} s=${x.y#/s}"`:     `"n=9007199254740993 s=<é>"`,
		`"${x.y#/a~1b/m~0n}!"`:          `"[10,{\"\":\"deep\"},null,true]!"`,
		`["${x.y#/n}", {k: "$${x.y}"}]`: `[9007199254740993,{"k":"${x.y}"}]`,
		`"$$$ {} $"`:                    `"$$$ {} $"`,
		`12`:                            `12`,
		`{}`:                            `{}`,
	}
	for value, want := range tests {
		t.Run(value, func(t *testing.T) {
			model := parse(t, "turns: [{steps: [{calls: [{tool: x.y}]}, {calls: [{tool: x.z, input: {v: "+value+"}}]}]}]")
			th := &thread{t: t}
			th.say("go")
			if got := th.next(model).Calls[0].Input; got != `{}` {
				t.Errorf("no input became %s", got)
			}
			th.result("x__y", "old")
			th.result("x__y", result)
			if got := th.next(model).Calls[0].Input; got != `{"v":`+want+`}` {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestSimulatedErrors(t *testing.T) {
	model := parse(t, `
turns:
  - steps: [{error: {kind: rate_limited, status: 429, retry_after: 1m30s, message: slow down}}]
  - steps: [{error: {kind: unauthorized}}]
`)
	th := &thread{t: t}
	th.say("one")
	for range 2 { // each attempt fails alike
		_, err := th.ask(model)
		var failed *activities.ModelError
		if !errors.As(err, &failed) || *failed != (activities.ModelError{Kind: activities.ModelRateLimited, Status: 429, Message: "slow down", RetryAfter: 90 * time.Second}) {
			t.Errorf("error %+v", err)
		}
	}
	th.say("two")
	_, err := th.ask(model)
	var failed *activities.ModelError
	if !errors.As(err, &failed) || failed.Kind != activities.ModelUnauthorized || !strings.Contains(failed.Message, "demo.yaml says so (line 4)") {
		t.Errorf("error %+v", err)
	}
}

func TestDelay(t *testing.T) {
	const script = `turns: [{steps: [{text: one two three, delay: 3s}]}, {steps: [{error: {kind: unavailable}, delay: 5s}]}]`
	synctest.Test(t, func(t *testing.T) {
		model := parse(t, script)
		th := &thread{t: t}
		th.say("go")
		began := time.Now()
		var at []time.Duration
		req := activities.ModelRequest{Messages: th.messages}
		if _, err := model.Generate(t.Context(), req, func(activities.ModelDelta) { at = append(at, time.Since(began)) }); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(at, time.Since(began)); got != "[0s 1s 2s] 3s" {
			t.Errorf("the words came at %s", got)
		}
		began = time.Now()
		th.next(model)
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("unstreamed, it took %v", took)
		}
		th.say("fail")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := model.Generate(ctx, activities.ModelRequest{Messages: th.messages}, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

func checkInvalid(t *testing.T, err error, want string) {
	t.Helper()
	var failed *activities.ModelError
	if !errors.As(err, &failed) || failed.Kind != activities.ModelInvalid {
		t.Fatalf("error %v, want an invalid request", err)
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("error %q does not say %q", err, want)
	}
}

// playAll plays a script to its end or first error, whatever is in it.
func playAll(t *testing.T, model *scripted.Model) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	messages := []contract.Message{{Role: contract.RoleUser, Text: "refund"}}
	for range 8 {
		resp, err := model.Generate(ctx, activities.ModelRequest{Messages: messages}, func(activities.ModelDelta) {})
		var failed *activities.ModelError
		if err != nil && !errors.As(err, &failed) {
			t.Fatalf("error %T", err)
		}
		if err != nil {
			return
		}
		messages = append(messages, contract.Message{Role: contract.RoleAssistant, Text: resp.Text})
		for _, c := range resp.Calls {
			if !json.Valid([]byte(c.Input)) {
				t.Fatalf("input %q", c.Input)
			}
			messages = append(messages, contract.Message{Role: contract.RoleTool, Tool: c.Name, Text: `{"orders":[{"id":1}]}`})
		}
	}
}
