package activities_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.temporal.io/sdk/temporal"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// meter notes what it is told.
type meter struct {
	told    []string
	refuses *catalog.Error
}

func (m *meter) Step(_ context.Context, tenant string) *catalog.Error {
	m.told = append(m.told, tenant+" asks")
	return m.refuses
}

func (m *meter) Used(_ context.Context, tenant string, u contract.Usage) {
	m.told = append(m.told, fmt.Sprintf("%s used %d, %d, %d", tenant, u.InputTokens, u.OutputTokens, u.CostMicros))
}

func TestModelTurnsAreCounted(t *testing.T) {
	limit := &catalog.Error{
		Code: catalog.CodeLimit, Message: "no model was asked", Effect: catalog.EffectNone, Hint: "the day ends soon",
		Limit: &catalog.Exceeded{Limit: "limits.tenants.acme.total.day.steps", Value: 1, Unit: "steps", SetBy: catalog.SetByTenant, Used: 1},
	}
	unreachable := &catalog.Error{Code: catalog.CodeNotMade, Message: "cannot be counted", Retryable: true}
	for name, test := range map[string]struct {
		refuses *catalog.Error
		fails   error
		in      activities.ModelTurnInput
		told    []string
		asked   bool
	}{
		"within":             {told: []string{"acme asks", "acme used 100, 10, 300"}, asked: true},
		"refused":            {refuses: limit, told: []string{"acme asks"}},
		"refused later":      {refuses: limit, in: activities.ModelTurnInput{Step: 4}, told: []string{"acme asks"}},
		"unreachable":        {refuses: unreachable, told: []string{"acme asks"}},
		"a model that fails": {fails: &activities.ModelError{Kind: activities.ModelUnavailable, Message: "down"}, told: []string{"acme asks"}, asked: true},
		"no model is asked":  {refuses: limit, in: activities.ModelTurnInput{Run: contract.RunCall, Tool: "orders.get"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			m := &meter{refuses: test.refuses}
			w.Meter = m
			w.thread.messages = []contract.Message{{Role: contract.RoleUser, Turn: "t1", Text: "hi"}}
			w.model.reply = activities.ModelResponse{Text: "hello", Stop: activities.StopEnd, Usage: contract.Usage{InputTokens: 100, OutputTokens: 10}}
			w.model.err = test.fails
			in := test.in
			in.Thread, in.Turn, in.Upto, in.Step = start, "t1", 1, max(in.Step, 1)
			result, err := run[activities.ModelTurnResult](t, w.env(t), w.ModelTurn, in)
			if !slices.Equal(m.told, test.told) || (w.model.asked.Model != "") != test.asked {
				t.Errorf("told %q, want %q; the model was asked %q", m.told, test.told, w.model.asked.Model)
			}
			var failed *temporal.ApplicationError
			switch {
			case test.refuses == unreachable:
				if !errors.As(err, &failed) || failed.Type() != activities.ErrTypeUsage || failed.NonRetryable() {
					t.Errorf("error = %v, want one that is tried again", err)
				}
			case len(test.told) > 0 && test.refuses == limit:
				p := result.Refused
				if err != nil || p == nil || p.Code != contract.CodeLimit || result.Limits == nil ||
					!strings.Contains(string(p.Details), `"limits.tenants.acme.total.day.steps"`) || !strings.Contains(string(p.Details), "the day ends soon") {
					t.Errorf("refused with %v, %v", p, err)
				}
			case (err != nil) != (test.fails != nil) || result.Refused != nil:
				t.Errorf("refused with %v, %v", result.Refused, err)
			}
		})
	}
}
