package activities_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// lookup answers with what it is asked.
type lookup struct{ lines []string }

func (lookup) Search(_ context.Context, _ catalog.Scope, input json.RawMessage) (json.RawMessage, error) {
	return json.RawMessage(`{"searched":` + string(input) + `}`), nil
}

func (lookup) Describe(context.Context, catalog.Scope, json.RawMessage) (json.RawMessage, error) {
	return nil, &catalog.Error{Code: catalog.CodeInvalidInput, Message: "no such page"}
}

func (l lookup) Signatures(_ context.Context, _ catalog.Scope, _ []string, limit int) ([]string, int) {
	return l.lines[:min(limit, len(l.lines))], len(l.lines)
}

// turn asks the model for a reply with these calls.
func (w *world) turn(t *testing.T, calls ...activities.ModelCall) activities.ModelTurnResult {
	t.Helper()
	w.model.reply = activities.ModelResponse{Text: "so", Calls: calls}
	result, err := run[activities.ModelTurnResult](t, w.env(t), w.ModelTurn, activities.ModelTurnInput{Thread: start, Turn: "t1", Step: 1})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestGatewayCallsAreCallsOfTheToolsThatTheyName(t *testing.T) {
	w := newWorld()
	w.expose(activities.ExposureGateway)
	result := w.turn(
		t,
		activities.ModelCall{Name: "search", Input: `{"query":"refund"}`},
		activities.ModelCall{Name: "call", Input: `{"id":"orders.get","input":{"n":1}}`},
		activities.ModelCall{Name: "batch", Input: `{"calls":[{"id":"orders.get"},{"id":"orders.find","input":{"n":2}}]}`},
		activities.ModelCall{Name: "orders__get", Input: `{"n":3}`}, // as if it were a function
	)
	var got []string
	for _, call := range result.Calls {
		got = append(got, fmt.Sprintf("%s %s %s %s %v", call.ID, call.Kind, call.Tool, call.Input, call.Problem))
	}
	want := []string{
		`t1-s1-c1 search search {"query":"refund"} <nil>`,
		`t1-s1-c2  orders.get {"n":1} <nil>`,
		`t1-s1-c3  orders.get {} <nil>`,
		`t1-s1-c4  orders.find {"n":2} <nil>`,
		`t1-s1-c5  orders.get {"n":3} <nil>`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	names := make([]string, 0, 4)
	for _, tool := range w.model.asked.Tools {
		names = append(names, tool.Name)
		if !json.Valid(tool.Input) {
			t.Errorf("the schema of %s is no JSON", tool.Name)
		}
	}
	if diff := cmp.Diff([]string{"search", "describe", "call", "batch"}, names); diff != "" {
		t.Errorf("the model may call (-want +got):\n%s", diff)
	}
}

func TestWhatIsNoCallOfAToolIsRefusedByTheGateway(t *testing.T) {
	for name, test := range map[string]struct{ function, input, want string }{
		"no id":              {"call", `{"input":{}}`, "its id is missing"},
		"no object":          {"call", `"orders.get"`, "cannot be read"},
		"another property":   {"call", `{"id":"orders.get","n":1}`, `unknown field "n"`},
		"more after the end": {"call", `{"id":"orders.get"} {}`, "more after its end"},
		"a function":         {"call", `{"id":"search","input":{}}`, "no tool but a function"},
		"no calls":           {"batch", `{}`, "missing or empty"},
		"an empty batch":     {"batch", `{"calls":[]}`, "missing or empty"},
		"no id in a batch":   {"batch", `{"calls":[{"id":"orders.get"},{}]}`, "call 2 names no tool"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.expose(activities.ExposureGateway)
			calls := w.turn(t, activities.ModelCall{Name: test.function, Input: test.input}).Calls
			if len(calls) != 1 || calls[0].Tool != test.function || calls[0].Problem == nil || !strings.Contains(calls[0].Problem.Message, test.want) {
				t.Errorf("calls = %+v, want one that is refused with %q", calls, test.want)
			}
		})
	}
}

// A model sees its calls as it made them: by the function call.
func TestGatewayModelSeesItsOwnCalls(t *testing.T) {
	w := newWorld()
	w.expose(activities.ExposureGateway)
	w.thread.messages = []contract.Message{
		{Role: contract.RoleAssistant, Calls: []contract.Call{
			{ID: "c1", Tool: "orders.get", Input: json.RawMessage(`{"n":1}`)}, {ID: "c2", Tool: "search", Input: json.RawMessage(`{}`)},
		}},
		{Role: contract.RoleTool, Call: "c1", Tool: "orders.get", Text: "{}"},
		{Role: contract.RoleTool, Call: "c2", Tool: "search", Text: "{}"},
	}
	w.model.reply = activities.ModelResponse{Text: "so"}
	if _, err := run[activities.ModelTurnResult](t, w.env(t), w.ModelTurn, activities.ModelTurnInput{Thread: start, Turn: "t1", Step: 1, Upto: 3}); err != nil {
		t.Fatal(err)
	}
	seen := w.model.asked.Messages
	calls := seen[0].Calls
	if calls[0].Tool != "call" || string(calls[0].Input) != `{"id":"orders.get","input":{"n":1}}` || calls[1].Tool != "search" {
		t.Errorf("the model sees the calls %+v", calls)
	}
	if seen[1].Tool != "call" || seen[2].Tool != "search" {
		t.Errorf("the model sees results of %s and %s", seen[1].Tool, seen[2].Tool)
	}
}

func TestLookupsAreMadeWithTheReads(t *testing.T) {
	w := newWorld()
	w.Lookup = lookup{}
	refs := w.thread.ask(3, "orders.get")
	refs[0].Kind, refs[1].Kind = activities.CallSearch, activities.CallDescribe
	result, err := run[activities.BatchReadResult](t, w.env(t), w.BatchRead, activities.BatchReadInput{Thread: start, Calls: refs})
	if err != nil {
		t.Fatal(err)
	}
	r := result.Results
	if string(r[0].Result) != `{"searched":{"n":1}}` || r[1].Problem == nil || r[1].Problem.Code != catalog.CodeInvalidInput || string(r[2].Result) != `{"ok":true}` {
		t.Errorf("results %+v", r)
	}
	if len(w.broker.requests) != 1 {
		t.Errorf("the broker was asked for %d calls, want the one of a tool", len(w.broker.requests))
	}
}
