package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
	"github.com/heddle-dev/heddle/workflows"
)

// next runs the thread up to its continue-as-new and returns what the next run
// is given.
func (h *harness) next() workflows.Input {
	h.t.Helper()
	h.run()
	var again *workflow.ContinueAsNewError
	if err := h.GetWorkflowError(); !errors.As(err, &again) {
		h.t.Fatalf("the run ended with %v, want continue-as-new", err)
	}
	var in workflows.Input
	if err := converter.GetDefaultDataConverter().FromPayloads(again.Input, &in); err != nil {
		h.t.Fatal(err)
	}
	return in
}

// A run that is full in the middle of a turn gives way to the next after the
// step, and the turn goes on there; nothing that came meanwhile is lost.
func TestContinueAsNewInsideATurn(t *testing.T) {
	h := newHarness(t, calling("refund!"), answer("must not be asked in this run"))
	long := strings.Repeat("ö", 2000)
	var a *activities.Activities
	h.OnActivity(a.StoreQueue, mock.Anything).Return(activities.StoreQueueResult{
		Refs: map[string]contract.Ref{"m3": {Digest: "sha256:long", Size: 4000}},
	}, nil).Once()
	h.at(time.Second, func() {
		h.submit("m1", "one")
		h.submit("m2", "two")
		h.SignalWorkflow(contract.SignalSubmit, contract.Submission{ID: "m3", Text: long})
	})
	h.at(time.Minute, func() {
		h.SetContinueAsNewSuggested(true)
		h.decide(0, contract.Approve)
	})
	in := h.next()

	c := in.Carried
	if in.Start.Thread != "t" || c.Current == nil || c.Current.ID != "t1" || c.Current.Steps != 1 || c.Length != 3 {
		t.Fatalf("carried = %+v, current %+v", c, c.Current)
	}
	if len(c.Queue) != 2 || c.Queue[0].Text != "two" || c.Queue[1].Body == nil || len(c.Queue[1].Text) > activities.MaxCarriedText {
		t.Fatalf("queue = %+v", c.Queue)
	}

	again := newHarness(t, answer("done one"), answer("done two"), answer("done three"))
	again.at(time.Second, func() { again.submit("m1", "one") }) // seen in the run before
	again.at(time.Minute, again.close)
	again.SetContinuedExecutionRunID("the-run-before")
	again.ExecuteWorkflow(contract.WorkflowType, in)
	if err := again.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	state := again.state()
	if len(state.Recent) != 3 || state.Runs != 2 || state.Messages != 8 {
		t.Fatalf("state = %+v", state)
	}
	if first := again.models[0]; first.Step != 2 || first.Upto != 3 || first.Turn != "t1" {
		t.Errorf("the turn went on with %+v", first)
	}
	messages := again.messages()
	if messages[0].Index != 3 || messages[3].Body == nil || !strings.HasSuffix(messages[3].Text, "…") {
		t.Errorf("messages of the second run = %+v", messages)
	}
	page := query[contract.TimelinePage](again, contract.QueryTimeline, contract.TimelineQuery{})
	if page.Archive == nil {
		t.Error("the timeline does not say where its beginning is")
	}
	if n := openParts(page.Parts); n != "" {
		t.Errorf("parts left open: %s", n)
	}
}

func TestUpdatesDuringRollOverComeAgain(t *testing.T) {
	h := newHarness(t, answer("one"))
	h.at(time.Second, func() { h.submit("m1", "one") })
	h.at(time.Minute, func() {
		h.SetContinueAsNewSuggested(true)
		h.SignalWorkflow(contract.SignalCancelTurn, contract.CancelTurn{Turn: "t9"}) // wakes the thread
	})
	var a *activities.Activities
	refused := false
	h.OnActivity(a.StoreQueue, mock.Anything).Maybe()
	h.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		if info.ActivityType.Name != "Archive" || refused {
			return
		}
		refused = true
		h.at(0, func() {
			h.update(contract.UpdateSubmit, contract.Submission{ID: "m2", Text: "two"}, wantRefusal(t, contract.ErrRollingOver, "again"))
		})
	})
	h.next()
	if !refused {
		t.Error("no archive activity was seen")
	}
}

// What a run leaves to the next is bounded whatever the thread has been through.
func TestCarriedStaysSmall(t *testing.T) {
	wide := func(n int) string { return strings.Repeat("w", n) }
	hostile := func(n int) string { return strings.Repeat("\x01<", n/2) } // six bytes a character in JSON
	var steps []step
	for i := range 40 {
		steps = append(steps, asked(grantable, fmt.Sprintf("refund%d", i)), answer(hostile(contract.MaxText)))
	}
	h := newHarness(t, steps...)
	var a *activities.Activities
	h.OnActivity(a.StoreQueue, mock.Anything).Return(func(ctx context.Context) (activities.StoreQueueResult, error) {
		result := activities.StoreQueueResult{Refs: map[string]contract.Ref{}}
		var queue []contract.Submission
		h.between(ctx, func() { queue = query[contract.QueuePage](h, contract.QueryQueue).Submissions })
		for _, s := range queue {
			result.Refs[s.ID] = contract.Ref{Digest: "sha256:" + wide(64), Size: 1 << 20}
		}
		return result, nil
	}).Maybe()
	id := func(i int) string { return fmt.Sprintf("%s-%03d", wide(60), i) }
	submit := func(i int) {
		h.SignalWorkflow(contract.SignalSubmit, contract.Submission{ID: id(i), Text: hostile(contract.MaxText), User: wide(128)})
	}
	for i := range 40 {
		at := time.Duration(i) * time.Minute
		h.at(at+time.Second, func() { submit(i) })
		h.at(at+30*time.Second, func() {
			if i >= contract.MaxGrants {
				h.decide(0, contract.Deny)
				return
			}
			h.signalDecision(0, func(d *contract.Decision) {
				d.By, d.Grant = hostile(128), &contract.GrantTerms{Resource: hostile(256)}
			})
		})
	}
	h.at(time.Hour, func() {
		for i := range contract.MaxQueue + 10 {
			submit(100 + i)
		}
		h.SetContinueAsNewSuggested(true)
	})
	in := h.next()
	encoded, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if len(encoded) > 64<<10 {
		t.Errorf("the next run is given %d bytes, at most 64 KiB are allowed", len(encoded))
	}
	if len(in.Carried.Grants) == 0 || len(in.Carried.Grants) >= contract.MaxGrants || in.Carried.Granted != contract.MaxGrants {
		t.Errorf("%d grants carried of %d", len(in.Carried.Grants), in.Carried.Granted)
	}
	if len(in.Carried.Queue) < contract.MaxQueue-1 {
		t.Errorf("%d messages carried", len(in.Carried.Queue))
	}
}
