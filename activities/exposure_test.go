package activities_test

import (
	"encoding/json"
	"fmt"
	"regexp"
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

// catalogOf are n tools of a catalog.
func catalogOf(n int) []catalog.Descriptor {
	tools := make([]catalog.Descriptor, n)
	for i := range tools {
		tools[i] = catalog.Descriptor{
			ID: fmt.Sprintf("orders.tool%d", i), Description: "Does what there is to do with an order, whatever that is.",
			Input: json.RawMessage(`{"type":"object","properties":{"order":{"type":"string","description":"Number of the order."}}}`),
		}
	}
	return tools
}

// tokens counts at least as many tokens as a vendor's tokenizer: one for each sign
// and each four letters of a word.
func tokens(texts ...string) int {
	return len(regexp.MustCompile(`[A-Za-z]{1,4}|[0-9]|[^\sA-Za-z0-9]`).FindAllString(strings.Join(texts, " "), -1))
}

func TestExecuteCostsTheSameWhateverToolsThereAre(t *testing.T) {
	costs := map[int]int{}
	for _, size := range []int{0, 10, 10_000} {
		w := newWorld()
		w.expose(activities.ExposureCode)
		w.broker.tools = catalogOf(size)
		w.turn(t)
		costs[size] = tokens(w.model.asked.System)
		for _, tool := range w.model.asked.Tools {
			costs[size] += tokens(tool.Name, tool.Description, string(tool.Input))
		}
	}
	if costs[0] != costs[10] || costs[0] != costs[10_000] || costs[0] > 400 {
		t.Errorf("the instructions and the definition of execute come to these tokens, by the size of the catalog: %v; want the same, and at most 400", costs)
	}
}

func TestAutoShowsAllToolsWhileTheyAreFew(t *testing.T) {
	for size, want := range map[int]string{0: "", 10: "orders__tool0", 300: "execute", 10_000: "execute"} {
		w := newWorld()
		w.expose(activities.ExposureAuto)
		w.broker.tools = catalogOf(size)
		call := w.turn(t, activities.ModelCall{Name: "execute", Input: `{"code":"1"}`}).Calls[0]
		tools := w.model.asked.Tools
		switch {
		case want == "execute" && (len(tools) != 1 || tools[0].Name != want || call.Kind != activities.CallExecute):
			t.Errorf("of %d tools, the model may call %d functions, want execute alone; its call is %+v", size, len(tools), call)
		case want != "execute" && (len(tools) != size || call.Kind != ""):
			t.Errorf("of %d tools, the model may call %d; its call of execute is %+v", size, len(tools), call)
		}
	}
}

func TestInstructionsNameEagerTools(t *testing.T) {
	lines := make([]string, 100)
	for i := range lines {
		lines[i] = fmt.Sprintf("orders.tool%d(input: { order: string }): Promise<unknown>", i)
	}
	eager := func(exposure activities.Exposure, lines []string) string {
		w := newWorld()
		w.expose(exposure)
		w.Lookup = lookup{lines}
		agent := w.Agents["support"]
		agent.Eager = []string{"orders.*"}
		w.Agents["support"] = agent
		w.turn(t)
		return w.model.asked.System
	}
	for _, exposure := range []activities.Exposure{activities.ExposureCode, activities.ExposureGateway} {
		if got, want := eager(exposure, lines[:2]), "Help.\n\nTools at hand:\n"+lines[0]+"\n"+lines[1]; got != want {
			t.Errorf("%s: the instructions are %q, want %q", exposure, got, want)
		}
	}
	if got := eager(activities.ExposureCode, lines); !strings.HasSuffix(got, "\nand 70 more, which a search finds.") {
		t.Errorf("the instructions are %q", got)
	}
	if got := eager(activities.ExposureCode, nil); got != "Help." {
		t.Errorf("of no tool the instructions say %q", got)
	}
	if got := eager(activities.ExposureDirect, lines); got != "Help." {
		t.Errorf("an agent that sees all tools is told %q", got)
	}
}
