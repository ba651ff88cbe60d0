package heddle

import (
	"testing"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

func TestHandoverGivesOnlyWhatWasLeftForTheSame(t *testing.T) {
	run := activities.RunRef{WorkflowID: "thread/acme/t", RunID: "r1"}
	left := activities.ModelTurnInput{Upto: 1, Message: "digest-a", Near: activities.Near{
		Messages: []contract.Message{{Text: "hello"}, {Text: "not yet"}},
	}}
	for _, test := range []struct {
		name string
		run  activities.RunRef
		in   activities.ModelTurnInput
		want bool
	}{
		{"the same", run, activities.ModelTurnInput{Upto: 1, Message: "digest-a"}, true},
		{"another message in its place", run, activities.ModelTurnInput{Upto: 1, Message: "digest-b"}, false},
		{"another length", run, activities.ModelTurnInput{Upto: 2, Message: "digest-a"}, false},
		{"another run", activities.RunRef{WorkflowID: run.WorkflowID, RunID: "r2"}, activities.ModelTurnInput{Upto: 1, Message: "digest-a"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHandover()
			h.left.Add(ofModelTurn(run, left), left.Near)
			messages, ok := h.transcript(test.run, test.in)
			if ok != test.want || ok && (len(messages) != 1 || messages[0].Text != "hello") {
				t.Errorf("fetched %v, %v", messages, ok)
			}
			if _, again := h.transcript(test.run, test.in); again {
				t.Error("a handover is fetched twice")
			}
		})
	}
}

func TestHandoverNeedsTheWhole(t *testing.T) {
	run := activities.RunRef{WorkflowID: "thread/acme/t", RunID: "r1"}
	h := newHandover()
	archived := activities.ModelTurnInput{Upto: 5, Near: activities.Near{First: 4, Messages: make([]contract.Message, 1)}}
	h.left.Add(ofModelTurn(run, archived), archived.Near)
	if _, ok := h.transcript(run, archived); ok {
		t.Error("a transcript without its beginning was handed over")
	}
	h.left.Add(handoverKey{run: run, call: "c1"}, activities.Near{Calls: []contract.Call{{ID: "c1"}}})
	if _, ok := h.calls(run, []string{"c1", "c2"}); ok {
		t.Error("calls were handed over of which one is missing")
	}
}
