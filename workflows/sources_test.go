package workflows_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// telling is a step in which it becomes known how sources are.
func telling(text string, states ...contract.SourceState) step {
	return func(activities.ModelTurnInput) (activities.ModelTurnResult, error) {
		return activities.ModelTurnResult{Text: text, Stop: activities.StopEnd, Sources: states}, nil
	}
}

// What a thread was told of sources is remembered in later turns and runs, until they
// are well.
func TestWhatWasToldOfSourcesIsRemembered(t *testing.T) {
	h := newHarness(t, telling("one", contract.SourceState{Source: "far", Unread: "connection refused"}, contract.SourceState{Source: "twin", LeftOut: 2, Reasons: []string{"used twice"}}),
		telling("two", contract.SourceState{Source: "far", Recovered: true}))
	h.at(time.Second, func() { h.submit("m1", "one") })
	h.at(time.Minute, func() { h.submit("m2", "two") })
	h.at(time.Hour, func() {
		h.SetContinueAsNewSuggested(true)
		h.SignalWorkflow(contract.SignalSubmit, contract.Submission{ID: "m3", Text: "three"})
	})
	var parts []contract.Part
	var messages []contract.Message
	h.at(30*time.Minute, func() { parts, messages = h.parts(), h.messages() })
	in := h.next()
	if told := h.models[0].Told; len(told) != 0 {
		t.Errorf("at first it was told %+v", told)
	}
	if told, want := h.models[1].Told, []activities.SourceTold{{Source: "far", Unread: true}, {Source: "twin", LeftOut: 2}}; !slices.Equal(told, want) {
		t.Errorf("then it was told %+v, want %+v", told, want)
	}
	var titles []string
	for _, p := range parts {
		if p.Kind == contract.KindSources {
			titles = append(titles, fmt.Sprintf("%s %s %s %s %d", p.ID, p.Status, p.Visibility, p.Title, len(p.Sources)))
		}
	}
	if want := []string{"t1-s1-sources failed operator 1 source of tools cannot be read 2", "t2-s1-sources done operator 1 source of tools can be read again 1"}; !slices.Equal(titles, want) {
		t.Errorf("the timeline tells %q, want %q", titles, want)
	}
	if len(messages) != 4 || len(messages[1].Sources) != 2 || len(messages[0].Sources) != 0 || len(messages[3].Sources) != 1 {
		t.Errorf("the transcript is %+v", messages)
	}
	if told, want := in.Carried.Told, []activities.SourceTold{{Source: "twin", LeftOut: 2}}; !slices.Equal(told, want) {
		t.Errorf("the next run is told %+v, want %+v", told, want)
	}
	again := newHarness(t, answer("four"))
	again.at(time.Second, func() { again.submit("m4", "four") })
	again.at(time.Minute, again.close)
	again.SetContinuedExecutionRunID("the-run-before")
	again.ExecuteWorkflow(contract.WorkflowType, in)
	if err := again.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	if told := again.models[0].Told; len(told) != 1 || told[0].Source != "twin" {
		t.Errorf("in the next run it was told %+v", told)
	}
}

// However much is told of sources, what a run leaves to the next stays small.
func TestCarriedSourcesAreSmall(t *testing.T) {
	var steps []step
	long := strings.Repeat("é", 150)
	for turn := range 12 {
		var states []contract.SourceState
		for i := range contract.MaxSources {
			states = append(states, contract.SourceState{
				Source: fmt.Sprintf("source%02d%02d%s", turn%2, i, strings.Repeat("x", 50)), Unread: long, LeftOut: 1000 + turn, Reasons: []string{long, long, long},
			})
		}
		steps = append(steps, telling("done", states...))
	}
	h := newHarness(t, steps...)
	for i := range steps {
		h.at(time.Duration(i+1)*time.Minute, func() { h.submit(fmt.Sprint("m", i), "go") })
	}
	h.at(time.Hour, func() {
		h.SetContinueAsNewSuggested(true)
		h.SignalWorkflow(contract.SignalSubmit, contract.Submission{ID: "last", Text: "go"})
	})
	in := h.next()
	text, err := json.Marshal(in.Carried)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 64<<10 || len(in.Carried.Told) != 2*contract.MaxSources {
		t.Errorf("carried are %d bytes, with %d sources", len(text), len(in.Carried.Told))
	}
}
