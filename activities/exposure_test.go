package activities_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

// expose makes the world's agent one of that exposure.
func (w *world) expose(e activities.Exposure) {
	agent := w.Agents["support"]
	agent.Exposure = e
	w.Agents["support"] = agent
}

func TestCodeModeShowsOneFunction(t *testing.T) {
	w := newWorld()
	w.expose(activities.ExposureCode)
	w.broker.tools = []catalog.Descriptor{{ID: "orders.get", Input: json.RawMessage(`{"type":"object"}`)}}
	w.model.reply = activities.ModelResponse{Stop: activities.StopCalls, Calls: []activities.ModelCall{{Name: "execute", Input: `{"code":"1 + 1"}`}}}
	result, err := run[activities.ModelTurnResult](t, w.env(t), w.ModelTurn, activities.ModelTurnInput{Thread: start, Turn: "t1", Step: 1})
	if err != nil {
		t.Fatal(err)
	}
	if tools := w.model.asked.Tools; len(tools) != 1 || tools[0].Name != "execute" || !json.Valid(tools[0].Input) {
		t.Errorf("the model may call %+v", tools)
	}
	call := result.Calls[0]
	if call.Kind != activities.CallExecute || call.Tool != "execute" || call.Problem != nil || string(call.Input) != `{"code":"1 + 1"}` {
		t.Errorf("call = %+v", call)
	}
}

func TestWhatIsNoSnippetIsRefused(t *testing.T) {
	for name, test := range map[string]struct{ input, want string }{
		"no object":  {`[1]`, "not an object"},
		"no JSON":    {`{"code":`, "not an object"},
		"no code":    {`{"source":"1"}`, "has no code"},
		"nothing":    {``, "has no code"},
		"blank code": {`{"code":" \n"}`, "is empty"},
		"a number":   {`{"code":1}`, "not an object"},
		"too long":   {`{"code":"` + strings.Repeat("x", snippet.MaxSource+1) + `"}`, "at most 65536"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.expose(activities.ExposureCode)
			w.model.reply = activities.ModelResponse{Calls: []activities.ModelCall{{Name: "execute", Input: test.input}}}
			result, err := run[activities.ModelTurnResult](t, w.env(t), w.ModelTurn, activities.ModelTurnInput{Thread: start, Turn: "t1", Step: 1})
			if err != nil {
				t.Fatal(err)
			}
			if p := result.Calls[0].Problem; p == nil || !strings.Contains(p.Message, test.want) {
				t.Errorf("problem = %v, want one that says %q", p, test.want)
			}
		})
	}
}

func TestExecuteIsNoToolOfADirectAgent(t *testing.T) {
	w := newWorld()
	w.model.reply = activities.ModelResponse{Calls: []activities.ModelCall{{Name: "execute", Input: `{"code":"1"}`}}}
	result, err := run[activities.ModelTurnResult](t, w.env(t), w.ModelTurn, activities.ModelTurnInput{Thread: start, Turn: "t1", Step: 1})
	if err != nil || result.Calls[0].Kind != "" {
		t.Errorf("call = %+v, error %v", result.Calls, err)
	}
}
