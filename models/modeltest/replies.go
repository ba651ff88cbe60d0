package modeltest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// long has several lines, and characters of one to four bytes.
var long = strings.Repeat("Straße 7, 東京 🧵 \"quoted\" <b> & \\ \t.\n", 200)

func words(t *testing.T, s suite) {
	want := Reply{Text: long, Reasoning: "They ask, so I answer.\n", Usage: contract.Usage{InputTokens: 1200, OutputTokens: 34}}
	checkBothWays(t, s.newModel(t, Script{want}), request(user("Hello?")), want)
}

func calls(t *testing.T, s suite) {
	want := Reply{
		Calls: []activities.ModelCall{
			{Name: Search, Input: `{"customer":"Zoë \"Z\" <z@example.com>"}`},
			{Name: Refund, Input: `{"order":"A-1","amount":12.5,"parts":[1,true,null,{"deep":"🧵"}]}`},
			{Name: Search, Input: `{}`},
		},
		Usage: contract.Usage{InputTokens: 7, OutputTokens: 5},
	}
	checkBothWays(t, s.newModel(t, Script{want}), request(user("Refund it.")), want)
}

func wordsBesideCalls(t *testing.T, s suite) {
	want := Reply{Text: "Let me look.", Calls: []activities.ModelCall{{Name: Search, Input: `{"customer":"ada"}`}}}
	checkBothWays(t, s.newModel(t, Script{want}), request(user("Where is my order?")), want)
}

// resultsComeBack leads a conversation as a thread does: what the model asked for
// goes back to it, a failure as well.
func resultsComeBack(t *testing.T, s suite) {
	script := Script{
		{Text: "Looking.", Calls: []activities.ModelCall{{Name: Search, Input: `{"customer":"ada"}`}, {Name: Search, Input: `{"customer":"bob"}`}}},
		{Result: `A-2048`, Calls: []activities.ModelCall{{Name: Refund, Input: `{"order":"A-2048"}`}}},
		{Result: `approval_denied`, Text: "The refund was not made."},
	}
	results := []func(n int, m *contract.Message){
		func(n int, m *contract.Message) { m.Text = fmt.Sprintf(`{"orders":[{"id":"A-%d"}]}`, 2047+n) },
		func(_ int, m *contract.Message) {
			m.Problem = &contract.Problem{Code: "approval_denied", Message: "too much"}
			m.Text = `{"error":{"code":"approval_denied","message":"too much"}}`
		},
	}
	model := s.newModel(t, script)
	messages := []contract.Message{user("Refund the newest order of Ada or Bob.")}
	for step, want := range script {
		resp := generate(t, model, request(messages...), nil)
		check(t, resp, want)
		answer := contract.Message{Role: contract.RoleAssistant, Text: resp.Text}
		var answers []contract.Message
		for n, c := range resp.Calls {
			id := fmt.Sprintf("t1-s%d-c%d", step+1, n+1)
			answer.Calls = append(answer.Calls, contract.Call{ID: id, Tool: c.Name, Input: json.RawMessage(c.Input)})
			result := contract.Message{Role: contract.RoleTool, Call: id, Tool: c.Name}
			results[step](n, &result)
			answers = append(answers, result)
		}
		messages = append(append(messages, answer), answers...)
	}
}

func unusualConversations(t *testing.T, s suite) {
	want := Reply{Text: "Here."}
	model := s.newModel(t, Script{want, want})
	call := func(input string) contract.Message {
		return contract.Message{Role: contract.RoleAssistant, Calls: []contract.Call{{ID: "t1-s1-c1", Tool: Search, Input: json.RawMessage(input)}}}
	}
	tests := map[string][]contract.Message{
		"two users in a row": {user("Hello?"), user("Anybody?")},
		"a huge message":     {user(strings.Repeat("🧵 ", 50_000))},
		"no input":           {user("Go on."), call(""), {Role: contract.RoleTool, Call: "t1-s1-c1", Tool: Search, Text: `null`}},
		"an empty result":    {user("Go on."), call(`{}`), {Role: contract.RoleTool, Call: "t1-s1-c1", Tool: Search}},
		"broken characters":  {user("a\xffb\x00c\u2028"), call(`{}`), {Role: contract.RoleTool, Call: "t1-s1-c1", Tool: Search, Text: "\xf0\x9f"}},
	}
	for name, messages := range tests {
		t.Run(name, func(t *testing.T) { check(t, generate(t, model, request(messages...), nil), want) })
	}
}

// requestStays: an activity may try again with the request that it has.
func requestStays(t *testing.T, s suite) {
	model := s.newModel(t, Script{{Text: "Not yet."}, {Text: "Done."}})
	build := func() activities.ModelRequest {
		return request(user("Go on."),
			contract.Message{Role: contract.RoleAssistant, Calls: []contract.Call{{ID: "c1", Tool: Search, Input: json.RawMessage(`{"b":1,"a":2}`)}}},
			contract.Message{Role: contract.RoleTool, Call: "c1", Tool: Search, Text: `{"orders":[]}`})
	}
	req := build()
	generate(t, model, req, nil)
	if !reflect.DeepEqual(req, build()) {
		t.Errorf("the request was changed to %+v", req)
	}
}

// checkBothWays asks for the reply in one piece and as a stream.
func checkBothWays(t *testing.T, model activities.Model, req activities.ModelRequest, want Reply) {
	t.Helper()
	whole := generate(t, model, req, nil)
	check(t, whole, want)

	var text, reasoning strings.Builder
	pieces, returned := 0, false
	streamed := generate(t, model, req, func(d activities.ModelDelta) {
		if returned {
			t.Error("a piece came after the reply was returned")
		}
		pieces++
		text.WriteString(d.Text)
		reasoning.WriteString(d.Reasoning)
	})
	returned = true
	if !reflect.DeepEqual(streamed, whole) {
		t.Errorf("streamed, the reply is\n%+v\nand in one piece\n%+v", streamed, whole)
	}
	if text.String() != want.Text || reasoning.String() != want.Reasoning {
		t.Errorf("the pieces are %q and %q", text.String(), reasoning.String())
	}
	if len(want.Text) == len(long) && pieces < 10 {
		t.Errorf("%d bytes came in %d pieces", len(long), pieces)
	}
}

func generate(t *testing.T, model activities.Model, req activities.ModelRequest, stream func(activities.ModelDelta)) activities.ModelResponse {
	t.Helper()
	resp, err := model.Generate(t.Context(), req, stream)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func check(t *testing.T, got activities.ModelResponse, want Reply) {
	t.Helper()
	stop := activities.StopEnd
	if len(want.Calls) > 0 {
		stop = activities.StopCalls
	}
	if got.Text != want.Text || got.Reasoning != want.Reasoning {
		t.Errorf("text %q and reasoning %q, want %q and %q", got.Text, got.Reasoning, want.Text, want.Reasoning)
	}
	if got.Stop != stop {
		t.Errorf("stop %q, want %q", got.Stop, stop)
	}
	if got.Usage != want.Usage {
		t.Errorf("usage %+v, want %+v", got.Usage, want.Usage)
	}
	if got.Model == "" {
		t.Error("the reply names no model")
	}
	if len(got.Calls) != len(want.Calls) {
		t.Fatalf("calls %+v, want %+v", got.Calls, want.Calls)
	}
	for i, c := range got.Calls {
		if c.Name != want.Calls[i].Name || !sameJSON(t, c.Input, want.Calls[i].Input) {
			t.Errorf("call %d is %+v, want %+v", i, c, want.Calls[i])
		}
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	for text, into := range map[string]*any{a: &x, b: &y} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	}
	if a == b {
		return true
	}
	return reflect.DeepEqual(x, y)
}
