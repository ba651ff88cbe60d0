package activities_test

import (
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// The model is told what the mode is for: the thread's, or else the agent's own. One that
// this worker does not have is told as what it is.
func TestModeIsToldToTheModel(t *testing.T) {
	modes, err := catalog.NewModes(catalog.Mode{Name: "triage", Allow: []string{"*"}, Prompt: "Sort the tickets."})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ thread, agent, want string }{
		"none":             {"", "", ""},
		"of the thread":    {"triage", "", "Sort the tickets."},
		"of the agent":     {"", "triage", "Sort the tickets."},
		"thread first":     {"plan", "triage", "You are in plan mode"},
		"without a prompt": {"build", "", ""},
		"unknown":          {"nosuch", "", `the mode "nosuch", which this worker does not have`},
	} {
		w := newWorld()
		w.Modes = modes
		agent := w.Agents["support"]
		agent.Mode = test.agent
		w.Agents["support"] = agent
		w.model.reply = activities.ModelResponse{Text: "hi", Stop: activities.StopEnd}
		w.thread.messages = []contract.Message{{Role: contract.RoleUser, Text: "Hi"}}
		thread := start
		thread.Mode = test.thread
		if _, err := run[activities.ModelTurnResult](t, w.env(t), w.ModelTurn, activities.ModelTurnInput{Thread: thread, Turn: "t1", Step: 2, Upto: 1}); err != nil {
			t.Fatal(err)
		}
		told, begins := strings.CutPrefix(w.model.asked.System, agent.Instructions)
		if !begins || !strings.Contains(told, test.want) || (told == "") != (test.want == "") {
			t.Errorf("%s: the model is told %q, want %q", name, w.model.asked.System, test.want)
		}
	}
}
