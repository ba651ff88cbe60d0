package workflows_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
	"github.com/heddle-dev/heddle/workflows"
)

// usageHarness runs the usage of tenant acme in Temporal's test environment.
type usageHarness struct {
	*testsuite.TestWorkflowEnvironment
	t *testing.T
	// sent and answered count the charges.
	sent, answered int
	taken          contract.Charged
}

func newUsageHarness(t *testing.T, start time.Time) *usageHarness {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	h := &usageHarness{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment(), t: t}
	h.RegisterWorkflowWithOptions(workflows.TenantUsage, workflow.RegisterOptions{Name: contract.UsageType})
	h.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: contract.UsageID("acme")})
	h.SetStartTime(start)
	h.SetTestTimeout(2 * time.Minute)
	h.SetWorkerOptions(patient)
	return h
}

func (h *usageHarness) at(d time.Duration, do func()) { h.RegisterDelayedCallback(do, d) }

// daily are totals of a day.
func daily(limits contract.Amounts) []contract.Total {
	return []contract.Total{{Period: contract.PeriodDay, Amounts: limits}}
}

// charge sends a charge and checks the refusals, as takes:period.amount:used.
func (h *usageHarness) charge(c contract.Charge, want ...string) {
	h.t.Helper()
	h.sent++
	if c.Tenant = "acme"; c.Key == "" {
		c.Key = fmt.Sprintf("key-%d", h.sent)
	}
	h.UpdateWorkflow(contract.UpdateCharge, fmt.Sprintf("update-%d", h.sent), &testsuite.TestUpdateCallback{
		OnAccept: func() {},
		OnReject: func(err error) { h.t.Errorf("charge %s is refused: %v", c.Key, err) },
		OnComplete: func(answered any, err error) {
			h.answered++
			h.taken, _ = answered.(contract.Charged)
			var got []string
			for _, r := range h.taken.Refusals {
				got = append(got, fmt.Sprintf("%v:%s.%s:%d", r.Takes, r.Period, r.Amount, r.Used))
			}
			if strings.Join(got, " ") != strings.Join(want, " ") || err != nil {
				h.t.Errorf("charge %s is answered %q, %v; want %q", c.Key, got, err, want)
			}
		},
	}, c)
}

// used checks what is counted in a period.
func (h *usageHarness) used(period contract.Period, want contract.Amounts) {
	h.t.Helper()
	encoded, err := h.QueryWorkflow(contract.QueryUsage)
	if err != nil {
		h.t.Fatal(err)
	}
	var usage contract.TenantUsage
	if err := encoded.Get(&usage); err != nil {
		h.t.Fatal(err)
	}
	for _, p := range usage.Periods {
		if p.Period == period && p.Used == want && usage.Tenant == "acme" {
			return
		}
	}
	h.t.Errorf("usage is %+v, want %+v in the %s", usage, want, period)
}

func (h *usageHarness) run() {
	h.t.Helper()
	h.ExecuteWorkflow(contract.UsageType, activities.UsageInput{TenantUsage: contract.TenantUsage{Tenant: "acme"}})
	if err := h.GetWorkflowError(); err != nil || !h.IsWorkflowCompleted() {
		h.t.Errorf("it ends with %v", err)
	}
	h.allAnswered()
}

// allAnswered fails the test if a charge came too late to be counted.
func (h *usageHarness) allAnswered() {
	h.t.Helper()
	if h.answered != h.sent {
		h.t.Errorf("%d of %d charges were answered", h.answered, h.sent)
	}
}

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func calls(inputs ...int64) (takes []contract.Amounts) {
	for _, n := range inputs {
		takes = append(takes, contract.Amounts{Calls: 1, InputBytes: n})
	}
	return takes
}

var modelTurn = []contract.Amounts{{Steps: 1}}

// What can be told beforehand is taken up to the limit and no further; what is known
// afterwards alone is refused from the limit on. Each kind of limit concerns what uses
// it.
func TestTotalsAreKept(t *testing.T) {
	for name, test := range map[string]struct {
		limits  contract.Amounts
		before  contract.Amounts
		takes   []contract.Amounts
		refused []string
	}{
		"calls":           {limits: contract.Amounts{Calls: 3}, before: contract.Amounts{Calls: 1}, takes: calls(1, 1, 1, 1), refused: []string{"[2 3]:day.calls:3"}},
		"input":           {limits: contract.Amounts{InputBytes: 10}, takes: calls(6, 6, 4), refused: []string{"[1]:day.input_bytes:6"}},
		"input at once":   {limits: contract.Amounts{InputBytes: 10}, takes: calls(11), refused: []string{"[0]:day.input_bytes:0"}},
		"output":          {limits: contract.Amounts{OutputBytes: 10}, before: contract.Amounts{OutputBytes: 10}, takes: calls(1), refused: []string{"[0]:day.output_bytes:10"}},
		"output is left":  {limits: contract.Amounts{OutputBytes: 10}, before: contract.Amounts{OutputBytes: 9}, takes: calls(1)},
		"steps":           {limits: contract.Amounts{Steps: 1}, takes: append(modelTurn, modelTurn...), refused: []string{"[1]:day.steps:1"}},
		"tokens":          {limits: contract.Amounts{Tokens: 5}, before: contract.Amounts{Tokens: 7}, takes: modelTurn, refused: []string{"[0]:day.tokens:7"}},
		"cost":            {limits: contract.Amounts{CostMicros: 5}, before: contract.Amounts{CostMicros: 5}, takes: modelTurn, refused: []string{"[0]:day.cost_usd:5"}},
		"cost of calls":   {limits: contract.Amounts{CostMicros: 5, Tokens: 5, Steps: 1}, before: contract.Amounts{CostMicros: 5, Tokens: 5, Steps: 1}, takes: calls(1)},
		"calls of models": {limits: contract.Amounts{Calls: 1, OutputBytes: 1}, before: contract.Amounts{Calls: 1, OutputBytes: 1}, takes: modelTurn},
		"two limits": {
			limits: contract.Amounts{Calls: 2, InputBytes: 10}, takes: calls(20, 1, 1, 1, 20), refused: []string{"[0]:day.input_bytes:0", "[3 4]:day.calls:2"},
		},
		"no limit": {before: contract.Amounts{Calls: 1 << 40}, takes: calls(1 << 30)},
		"as much as can be": {
			limits: contract.Amounts{Calls: contract.MaxAmount}, before: contract.Amounts{Calls: contract.MaxAmount},
			takes: calls(1), refused: []string{fmt.Sprintf("[0]:day.calls:%d", int64(contract.MaxAmount))},
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newUsageHarness(t, noon)
			h.at(0, func() {
				h.charge(contract.Charge{Totals: daily(test.limits), Used: test.before, Takes: test.takes}, test.refused...)
			})
			h.run()
		})
	}
}

// Counting begins anew with each hour, day and month, and a total of any of them holds.
// With the month it ends: nothing is counted that a later charge needs.
func TestPeriodsBeginAnew(t *testing.T) {
	h := newUsageHarness(t, noon.AddDate(0, 0, -1)) // 30 January
	totals := []contract.Total{
		{Period: contract.PeriodMonth, Amounts: contract.Amounts{Calls: 4}},
		{Period: contract.PeriodHour, Amounts: contract.Amounts{Calls: 1}},
		{Period: contract.PeriodDay, Amounts: contract.Amounts{Calls: 3}},
	}
	one := func(want ...string) func() {
		return func() { h.charge(contract.Charge{Totals: totals, Takes: calls(1)}, want...) }
	}
	h.at(time.Minute, one())
	h.at(2*time.Minute, one("[0]:hour.calls:1"))
	h.at(3*time.Minute, func() {
		if r := h.taken.Refusals[0]; !r.Ends.Equal(noon.AddDate(0, 0, -1).Add(time.Hour)) {
			t.Errorf("the hour ends at %s", r.Ends)
		}
	})
	h.at(time.Hour, one())
	h.at(2*time.Hour, one())
	h.at(3*time.Hour, one("[0]:day.calls:3"))
	h.at(4*time.Hour, func() { h.used(contract.PeriodMonth, contract.Amounts{Calls: 3, InputBytes: 3}) })
	h.at(12*time.Hour, one())
	h.at(13*time.Hour, one("[0]:month.calls:4"))
	h.at(14*time.Hour, func() {
		h.used(contract.PeriodMonth, contract.Amounts{Calls: 4, InputBytes: 4})
		h.used(contract.PeriodDay, contract.Amounts{Calls: 1, InputBytes: 1})
		h.used(contract.PeriodHour, contract.Amounts{})
	})
	h.run()
	if ends, want := h.Now().UTC(), time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC); !ends.Equal(want) {
		t.Errorf("it ends at %s, want %s", ends, want)
	}
}

// A charge that is sent again is counted once, and has the same answer; what was done
// twice is charged twice.
func TestChargesThatAreSentAgain(t *testing.T) {
	h := newUsageHarness(t, noon)
	again := contract.Charge{Key: "again", Totals: daily(contract.Amounts{Calls: 2}), Takes: calls(1, 1, 1), Used: contract.Amounts{Tokens: 5}}
	for range 3 {
		h.at(time.Second, func() { h.charge(again, "[2]:day.calls:2") })
	}
	h.at(2*time.Second, func() {
		h.used(contract.PeriodDay, contract.Amounts{Calls: 2, InputBytes: 2, Tokens: 5})
		const want = "day since 2026-01-31T00:00:00Z: calls 2 of 2; tokens 5; input_bytes 2;"
		if details := detailsOf(h.TestWorkflowEnvironment, t); !strings.Contains(details, "tenant acme") || !strings.Contains(details, want) {
			t.Errorf("the Temporal UI shows %q, want %q", details, want)
		}
	})
	h.at(3*time.Second, func() { h.charge(contract.Charge{Used: contract.Amounts{Tokens: 5}}) })
	h.at(3*time.Second, func() { h.charge(contract.Charge{Used: contract.Amounts{Tokens: 5}}) })
	h.at(4*time.Second, func() { h.used(contract.PeriodDay, contract.Amounts{Calls: 2, InputBytes: 2, Tokens: 15}) })
	h.run()
}

// What was taken and not used is returned to the periods that it was taken from.
func TestReturns(t *testing.T) {
	h := newUsageHarness(t, noon.Add(30*time.Minute))
	limits := daily(contract.Amounts{Calls: 1})
	var at time.Time
	h.at(0, func() { h.charge(contract.Charge{Totals: limits, Takes: calls(7)}) })
	h.at(time.Minute, func() {
		at = h.taken.At
		h.charge(contract.Charge{Totals: limits, Takes: calls(7)}, "[0]:day.calls:1")
	})
	h.at(time.Hour, func() { // another hour, the same day
		h.charge(contract.Charge{Totals: limits, Takes: calls(3), Returns: []contract.Return{{At: at, Amounts: calls(7)[0]}}})
	})
	h.at(time.Hour+time.Second, func() {
		h.used(contract.PeriodHour, contract.Amounts{Calls: 1, InputBytes: 3})
		h.used(contract.PeriodDay, contract.Amounts{Calls: 1, InputBytes: 3})
	})
	h.at(2*time.Hour, func() { // nothing is counted below zero
		h.charge(contract.Charge{Returns: []contract.Return{{At: h.Now(), Amounts: contract.Amounts{Calls: 9, Tokens: 1}}}})
	})
	h.at(2*time.Hour+time.Second, func() {
		h.used(contract.PeriodDay, contract.Amounts{InputBytes: 3})
	})
	h.run()
}

func TestUsageRefusesWhatCannotBeRight(t *testing.T) {
	for want, spoil := range map[string]func(*contract.Charge){
		"key:":                   func(c *contract.Charge) { c.Key = "" },
		"tenant: is empty":       func(c *contract.Charge) { c.Tenant = "" },
		"tenant: this is":        func(c *contract.Charge) { c.Tenant = "zeta" },
		"used.tokens: -1":        func(c *contract.Charge) { c.Used.Tokens = -1 },
		"used.cost_usd:":         func(c *contract.Charge) { c.Used.CostMicros = contract.MaxAmount + 1 },
		"takes[1].calls: -1":     func(c *contract.Charge) { c.Takes = append(calls(1), contract.Amounts{Calls: -1}) },
		"takes: are 65":          func(c *contract.Charge) { c.Takes = make([]contract.Amounts, 65) },
		"returns[0].steps: -2":   func(c *contract.Charge) { c.Returns = []contract.Return{{Amounts: contract.Amounts{Steps: -2}}} },
		"returns: are 65":        func(c *contract.Charge) { c.Returns = make([]contract.Return, 65) },
		"totals[0].period":       func(c *contract.Charge) { c.Totals = []contract.Total{{Period: "week"}} },
		"given twice":            func(c *contract.Charge) { c.Totals = append(daily(contract.Amounts{}), daily(contract.Amounts{})...) },
		"totals[0].input_bytes:": func(c *contract.Charge) { c.Totals = daily(contract.Amounts{InputBytes: -5}) },
	} {
		t.Run(want, func(t *testing.T) {
			h := newUsageHarness(t, noon)
			c := contract.Charge{Key: "k", Tenant: "acme"}
			spoil(&c)
			var refused error
			h.at(0, func() {
				h.UpdateWorkflow(contract.UpdateCharge, "", &testsuite.TestUpdateCallback{
					OnAccept: func() { t.Error("it is taken") }, OnReject: func(err error) { refused = err }, OnComplete: func(any, error) {},
				}, c)
			})
			h.at(time.Second, func() { h.used(contract.PeriodDay, contract.Amounts{}) })
			h.run()
			if refused == nil || !strings.Contains(refused.Error(), want) {
				t.Errorf("refused with %v, want %q", refused, want)
			}
		})
	}
}

// What is counted never overflows, however much comes.
func TestUsageDoesNotOverflow(t *testing.T) {
	sum := contract.Amounts{Calls: 1<<63 - 5}.Add(contract.Amounts{Calls: contract.MaxAmount})
	if sum.Calls != 1<<63-1 {
		t.Errorf("the sum is %d", sum.Calls)
	}
}

// The next run goes on with all that is counted, and knows the charges that were
// answered last.
func TestUsageContinuesAsNew(t *testing.T) {
	h := newUsageHarness(t, noon)
	limits := daily(contract.Amounts{Calls: 3})
	h.at(0, func() { h.charge(contract.Charge{Key: "first", Totals: limits, Takes: calls(1, 1)}) })
	h.at(time.Minute, func() { h.charge(contract.Charge{Key: "second", Totals: limits, Used: contract.Amounts{Tokens: 9}}) })
	h.at(2*time.Minute, func() { h.SetContinueAsNewSuggested(true) })
	h.at(2*time.Minute, func() { h.charge(contract.Charge{Totals: limits}) })
	h.ExecuteWorkflow(contract.UsageType, activities.UsageInput{TenantUsage: contract.TenantUsage{Tenant: "acme"}})
	var next *workflow.ContinueAsNewError
	if err := h.GetWorkflowError(); !errors.As(err, &next) {
		t.Fatalf("it ends with %v", err)
	}
	var carried activities.UsageInput
	if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &carried); err != nil {
		t.Fatal(err)
	}
	h = newUsageHarness(t, noon.Add(time.Hour))
	h.at(0, func() {
		h.charge(contract.Charge{Key: "first", Totals: limits, Takes: calls(1, 1)})
		h.charge(contract.Charge{Totals: limits, Takes: calls(1, 1)}, "[1]:day.calls:3")
	})
	h.at(time.Second, func() {
		h.used(contract.PeriodDay, contract.Amounts{Calls: 3, InputBytes: 3, Tokens: 9})
	})
	h.ExecuteWorkflow(contract.UsageType, carried)
	if err := h.GetWorkflowError(); err != nil {
		t.Errorf("the next run ends with %v", err)
	}
	h.allAnswered()
}

// However many charges come, what a run hands to the next stays small.
func TestUsageStaysSmall(t *testing.T) {
	h := newUsageHarness(t, noon)
	for i := range 300 {
		h.at(time.Duration(i)*time.Second, func() {
			takes := make([]contract.Amounts, contract.MaxTakes)
			for i := range takes {
				takes[i] = calls(1)[0]
			}
			h.sent++
			h.UpdateWorkflow(contract.UpdateCharge, fmt.Sprint(h.sent), &testsuite.TestUpdateCallback{
				OnAccept: func() {}, OnReject: func(err error) { t.Error(err) }, OnComplete: func(any, error) {},
			}, contract.Charge{Key: fmt.Sprint(h.sent), Tenant: "acme", Totals: daily(contract.Amounts{Calls: 1}), Takes: takes})
		})
	}
	h.at(400*time.Second, func() { h.SetContinueAsNewSuggested(true) })
	h.at(400*time.Second, func() { h.charge(contract.Charge{}) })
	h.ExecuteWorkflow(contract.UsageType, activities.UsageInput{TenantUsage: contract.TenantUsage{Tenant: "acme"}})
	var next *workflow.ContinueAsNewError
	if err := h.GetWorkflowError(); !errors.As(err, &next) {
		t.Fatalf("it ends with %v", err)
	}
	var carried activities.UsageInput
	if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &carried); err != nil || len(carried.Answered) < 100 {
		t.Errorf("%d charges are remembered, %v", len(carried.Answered), err)
	}
	if size := len(next.Input.Payloads[0].Data); size > 64<<10 {
		t.Errorf("%d bytes are handed over", size)
	}
}
