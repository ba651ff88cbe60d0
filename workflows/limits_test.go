package workflows_test

import (
	"errors"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
	"github.com/heddle-dev/heddle/workflows"
)

// Each limit of a turn and of a thread ends the turn, whoever has set it, with an error
// that says which it is, its value and who set it.
func TestEachLimitEndsATurn(t *testing.T) {
	limits := map[string]struct {
		set   func(*contract.Limits)
		value int64
		unit  string
	}{
		"steps":        {func(l *contract.Limits) { l.Steps = 1 }, 1, "steps"},
		"calls":        {func(l *contract.Limits) { l.Calls = 2 }, 2, "calls"},
		"tokens":       {func(l *contract.Limits) { l.Tokens = 15 }, 15, "tokens"},
		"cost_usd":     {func(l *contract.Limits) { l.CostMicros = 70 }, 70, "micro-USD"},
		"input_bytes":  {func(l *contract.Limits) { l.InputBytes = 15 }, 15, "bytes"},
		"output_bytes": {func(l *contract.Limits) { l.OutputBytes = 25 }, 25, "bytes"},
		"time":         {func(l *contract.Limits) { l.TimeMS = 5 }, 5, "ms"},
	}
	two := func(in activities.ModelTurnInput) (activities.ModelTurnResult, error) {
		result, err := calling("read", "read")(in)
		result.Usage.CostMicros = 70
		return result, err
	}
	scopes := map[string]struct {
		setBy string
		start func(contract.Limits) contract.Start
		agent func(contract.Limits) activities.Limits
	}{
		"limits": {"agent", nil, func(l contract.Limits) activities.Limits {
			return activities.Limits{
				Steps: l.Steps, Calls: l.Calls, Tokens: l.Tokens, CostMicros: l.CostMicros,
				InputBytes: l.InputBytes, OutputBytes: l.OutputBytes, Time: time.Duration(l.TimeMS) * time.Millisecond,
			}
		}},
		"limits.thread": {"agent", nil, func(l contract.Limits) activities.Limits { return activities.Limits{Thread: l} }},
		"turn_limits":   {"thread", func(l contract.Limits) contract.Start { return contract.Start{TurnLimits: &l} }, nil},
		"thread_limits": {"thread", func(l contract.Limits) contract.Start { return contract.Start{ThreadLimits: &l} }, nil},
	}
	for at, scope := range scopes {
		for name, limit := range limits {
			t.Run(at+"."+name, func(t *testing.T) {
				var set contract.Limits
				limit.set(&set)
				first := func(in activities.ModelTurnInput) (activities.ModelTurnResult, error) {
					result, err := two(in)
					if scope.agent != nil {
						limits := scope.agent(set)
						result.Limits = &limits
					}
					return result, err
				}
				steps := []step{first, two, two, answer("done")}
				if name == "time" { // which passes until a model is asked again
					away := func(activities.ModelTurnInput) (activities.ModelTurnResult, error) {
						return activities.ModelTurnResult{}, errors.New("the model is away")
					}
					steps = append(steps[:0:0], away, first, two, answer("done"))
				}
				h := newHarness(t, steps...)
				h.at(time.Second, func() { h.submit("m1", "go") })
				h.at(time.Minute, h.close)
				opened := start
				if scope.start != nil {
					opened = scope.start(set)
					opened.ThreadRef, opened.Agent, opened.User = start.ThreadRef, start.Agent, start.User
				}
				h.ExecuteWorkflow(contract.WorkflowType, workflows.Input{Start: opened})
				turn := h.state().Recent[0]
				if turn.Status != contract.StatusFailed || turn.Problem == nil || turn.Problem.Code != contract.CodeLimit {
					t.Fatalf("turn = %+v, problem %v", turn, turn.Problem)
				}
				got := limitOf(t, turn.Problem)
				if got.Limit != at+"."+name || got.Value != limit.value || got.Unit != limit.unit || got.SetBy != scope.setBy || got.Used < limit.value {
					t.Errorf("limit = %+v, %s", got, turn.Problem.Message)
				}
			})
		}
	}
}
