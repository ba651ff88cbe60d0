package contract

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// What a tenant uses is counted in a workflow of its own, over all of its threads and
// all workers, where the configuration limits the tenant's totals. Backends may ask it
// what was used; workers speak to it.
const (
	// UsageType is the workflow type of what counts a tenant's usage.
	UsageType = "TenantUsage"
	// UpdateCharge takes a [Charge] and answers with a [Charged] at once. Sent again
	// with the same key, it counts nothing and has the same answer.
	UpdateCharge = "charge"
	// QueryUsage takes nothing and answers with a [TenantUsage].
	QueryUsage = "usage"
	// MaxTakes bounds the takes and the returns of one charge.
	MaxTakes = 64
	// MaxAmount bounds each amount of a charge.
	MaxAmount = 1 << 50
)

// UsageID returns the workflow id of what counts a tenant's usage.
func UsageID(tenant string) string { return "usage/" + tenant }

// Period is a calendar period in UTC.
type Period string

// The periods.
const (
	PeriodHour  Period = "hour"
	PeriodDay   Period = "day"
	PeriodMonth Period = "month"
)

// Periods are all of them, the shortest first.
var Periods = []Period{PeriodHour, PeriodDay, PeriodMonth}

// Around returns when the period begins that a time is in, and when the next does.
func (p Period) Around(t time.Time) (begins, ends time.Time) {
	t = t.UTC()
	switch p {
	case PeriodHour:
		begins = time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), 0, 0, 0, time.UTC)
		return begins, begins.Add(time.Hour)
	case PeriodDay:
		begins = time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
		return begins, begins.AddDate(0, 0, 1)
	}
	begins = time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
	return begins, begins.AddDate(0, 1, 0)
}

// Amounts are how much is used of each kind. As limits, 0 is no bound.
type Amounts struct {
	// Steps are the replies that models were asked for.
	Steps int64 `json:"steps,omitempty"`
	// Calls are the calls of tools that were made, those of snippets included.
	Calls int64 `json:"calls,omitempty"`
	// Tokens are the input and output tokens of models together.
	Tokens int64 `json:"tokens,omitempty"`
	// CostMicros is the cost of models, in millionths of a US dollar.
	CostMicros int64 `json:"cost_micros,omitempty"`
	// InputBytes and OutputBytes are the inputs and the outputs of calls, as JSON.
	InputBytes  int64 `json:"input_bytes,omitempty"`
	OutputBytes int64 `json:"output_bytes,omitempty"`
}

// Amount is one of [Amounts].
type Amount struct {
	// Name is that of its limit in the configuration.
	Name  string
	Unit  string
	Value int64
}

// Each returns all amounts, always in the same order.
func (a Amounts) Each() []Amount {
	return []Amount{
		{"steps", "steps", a.Steps},
		{"calls", "calls", a.Calls},
		{"tokens", "tokens", a.Tokens},
		{"cost_usd", "micro-USD", a.CostMicros},
		{"input_bytes", "bytes", a.InputBytes},
		{"output_bytes", "bytes", a.OutputBytes},
	}
}

// Add returns the sum of amounts, each [math.MaxInt64] at most.
func (a Amounts) Add(b Amounts) Amounts {
	return Amounts{
		Steps: sum(a.Steps, b.Steps), Calls: sum(a.Calls, b.Calls), Tokens: sum(a.Tokens, b.Tokens), CostMicros: sum(a.CostMicros, b.CostMicros),
		InputBytes: sum(a.InputBytes, b.InputBytes), OutputBytes: sum(a.OutputBytes, b.OutputBytes),
	}
}

// Less returns the amounts without others, each 0 at least.
func (a Amounts) Less(b Amounts) Amounts {
	return Amounts{
		Steps: max(a.Steps-b.Steps, 0), Calls: max(a.Calls-b.Calls, 0), Tokens: max(a.Tokens-b.Tokens, 0), CostMicros: max(a.CostMicros-b.CostMicros, 0),
		InputBytes: max(a.InputBytes-b.InputBytes, 0), OutputBytes: max(a.OutputBytes-b.OutputBytes, 0),
	}
}

func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Total limits what a tenant uses in a period.
type Total struct {
	Period Period `json:"period"`
	Amounts
}

// Charge tells what a tenant uses. Of each period it is that one which goes on when
// the charge is counted.
type Charge struct {
	// Key tells charges apart.
	Key    string `json:"key"`
	Tenant string `json:"tenant"`
	// Totals are the tenant's limits, as the worker has them.
	Totals []Total `json:"totals"`
	// Takes are what is about to be used, each a model turn or a call. Each is counted
	// as a whole if the totals have room for it, and else not at all.
	Takes []Amounts `json:"takes,omitempty"`
	// Used is what was used that is known only afterwards. It is counted whatever the
	// totals are.
	Used Amounts `json:"used,omitzero"`
	// Returns are takes of earlier charges that were not used.
	Returns []Return `json:"returns,omitempty"`
}

// Return is a take that was not used.
type Return struct {
	// At is [Charged.At] of the charge that took it.
	At time.Time `json:"at"`
	Amounts
}

// Charged answers a [Charge].
type Charged struct {
	At time.Time `json:"at"`
	// Refusals are the takes that a total has no room for, by the total.
	Refusals []Refusal `json:"refusals,omitempty"`
}

// Refusal is a total that has no room for takes.
type Refusal struct {
	// Takes are the places of those among the charge's.
	Takes []int `json:"takes"`
	// Period and Amount name the total; Used is what it came to, Ends when the period
	// does.
	Period Period    `json:"period"`
	Amount string    `json:"amount"`
	Used   int64     `json:"used,omitempty"`
	Ends   time.Time `json:"ends"`
}

// Validate names the first field that is wrong.
func (c Charge) Validate() error {
	if err := validID("key", c.Key, 64); err != nil {
		return err
	}
	if err := validID("tenant", c.Tenant, 64); err != nil {
		return err
	}
	if len(c.Takes) > MaxTakes {
		return fmt.Errorf("takes: are %d, at most %d are allowed", len(c.Takes), MaxTakes)
	}
	if len(c.Returns) > MaxTakes {
		return fmt.Errorf("returns: are %d, at most %d are allowed", len(c.Returns), MaxTakes)
	}
	for i, total := range c.Totals {
		if !slices.Contains(Periods, total.Period) {
			return fmt.Errorf("totals[%d].period: %q, want one of %q", i, total.Period, Periods)
		}
		if slices.ContainsFunc(c.Totals[:i], func(t Total) bool { return t.Period == total.Period }) {
			return fmt.Errorf("totals[%d].period: %q is given twice", i, total.Period)
		}
		if err := total.validate(fmt.Sprintf("totals[%d]", i)); err != nil {
			return err
		}
	}
	for i, take := range c.Takes {
		if err := take.validate(fmt.Sprintf("takes[%d]", i)); err != nil {
			return err
		}
	}
	for i, back := range c.Returns {
		if err := back.validate(fmt.Sprintf("returns[%d]", i)); err != nil {
			return err
		}
	}
	return c.Used.validate("used")
}

func (a Amounts) validate(field string) error {
	for _, one := range a.Each() {
		if one.Value < 0 || one.Value > MaxAmount {
			return fmt.Errorf("%s.%s: %d, want 0 to %d", field, one.Name, one.Value, int64(MaxAmount))
		}
	}
	return nil
}

// TenantUsage is what a tenant has used.
type TenantUsage struct {
	Tenant string `json:"tenant"`
	// Periods are the newest of each kind in which something was counted.
	Periods []PeriodUsage `json:"periods"`
}

// PeriodUsage is what a tenant has used in a period.
type PeriodUsage struct {
	Period Period    `json:"period"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"`
	Used   Amounts   `json:"used"`
	// Limits are the tenant's for such a period, as the worker had them that last
	// counted something.
	Limits Amounts `json:"limits,omitzero"`
}

// At is the usage at a time: nothing is used yet of periods that began since.
func (u TenantUsage) At(t time.Time) TenantUsage {
	periods := make([]PeriodUsage, len(Periods))
	for i, period := range Periods {
		since, until := period.Around(t)
		periods[i] = PeriodUsage{Period: period, Since: since, Until: until}
		for _, p := range u.Periods {
			switch {
			case p.Period != period:
			case since.After(p.Since):
				periods[i].Limits = p.Limits
			default:
				periods[i] = p
			}
		}
	}
	return TenantUsage{Tenant: u.Tenant, Periods: periods}
}
