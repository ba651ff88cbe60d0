package workflows

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// TenantUsage counts what a tenant uses, over all threads and workers, in the hour,
// the day and the month that go on. A worker charges it with an update before a model
// is asked and before a tool is called, which takes what can be told by then: the
// turn, the call and its input. So those totals are never passed. What can be told
// only afterwards, tokens, cost and outputs, is counted then: such a total may be passed
// by what was under way when it was reached.
//
// It decides by the totals that come with the charge: another configuration holds at once.
// It ends with a month at whose end nothing new is counted.
func TenantUsage(ctx workflow.Context, in activities.UsageInput) error {
	u := &usage{ctx: ctx, UsageInput: in}
	u.Answered = slices.Clone(in.Answered)
	if err := u.receive(); err != nil {
		return err
	}
	return u.run()
}

type usage struct {
	ctx workflow.Context
	activities.UsageInput
}

// rememberedCharges is how many charges are known by their keys: one that is sent
// again comes soon, or never.
const rememberedCharges = 128

// receive sets up everything by which the workflow is spoken to.
func (u *usage) receive() error {
	u.turnOver()
	err := workflow.SetQueryHandler(u.ctx, contract.QueryUsage, func() (contract.TenantUsage, error) {
		return contract.TenantUsage{Tenant: u.Tenant, Periods: slices.Clone(u.Periods)}, nil
	})
	if err != nil {
		return err
	}
	return workflow.SetUpdateHandlerWithOptions(u.ctx, contract.UpdateCharge,
		func(_ workflow.Context, c contract.Charge) (contract.Charged, error) { return u.charge(c), nil },
		workflow.UpdateHandlerOptions{Validator: u.check})
}

func (u *usage) run() error {
	for {
		u.turnOver()
		workflow.SetCurrentDetails(u.ctx, u.details())
		if u.full() {
			return u.rollOver()
		}
		left := u.Periods[len(u.Periods)-1].Until.Sub(workflow.Now(u.ctx))
		options := workflow.AwaitOptions{Timeout: left, TimerOptions: workflow.TimerOptions{Summary: "the month ends"}}
		if _, err := workflow.AwaitWithOptions(u.ctx, options, u.full); err != nil {
			return err
		}
		if u.turnOver(); u.unused() && workflow.AllHandlersFinished(u.ctx) {
			return nil
		}
	}
}

// check refuses a charge that cannot be right.
func (u *usage) check(c contract.Charge) error {
	if err := c.Validate(); err != nil {
		return refuse(contract.ErrInvalid, "%v", err)
	}
	if c.Tenant != u.Tenant {
		return refuse(contract.ErrInvalid, "tenant: this is the usage of tenant %s, not of %s", u.Tenant, c.Tenant)
	}
	return nil
}

// charge counts a charge, once. It does not block.
func (u *usage) charge(c contract.Charge) contract.Charged {
	if i := slices.IndexFunc(u.Answered, func(a activities.AnsweredCharge) bool { return a.Key == c.Key }); i >= 0 {
		return u.Answered[i].Charged
	}
	u.turnOver()
	u.note(c.Totals)
	for _, back := range c.Returns {
		u.giveBack(back)
	}
	u.count(c.Used)
	answer := contract.Charged{At: workflow.Now(u.ctx)}
	for i, take := range c.Takes {
		if refusal := u.refusal(take); refusal != nil {
			answer.Refusals = append(answer.Refusals, *refusal)
			merge(&answer, i)
			continue
		}
		u.count(take)
	}
	u.Answered = append(u.Answered, activities.AnsweredCharge{Key: c.Key, Charged: answer})
	if more := len(u.Answered) - rememberedCharges; more > 0 {
		u.Answered = slices.Delete(u.Answered, 0, more)
	}
	workflow.SetCurrentDetails(u.ctx, u.details())
	return answer
}

// merge says of which take the last refusal is, and puts it to those by the same total.
func merge(answer *contract.Charged, take int) {
	last := len(answer.Refusals) - 1
	added := answer.Refusals[last]
	for i := range answer.Refusals[:last] {
		if one := &answer.Refusals[i]; one.Period == added.Period && one.Amount == added.Amount {
			one.Takes = append(one.Takes, take)
			answer.Refusals = answer.Refusals[:last]
			return
		}
	}
	answer.Refusals[last].Takes = []int{take}
}

// turnOver begins the periods anew that are over.
func (u *usage) turnOver() {
	u.TenantUsage = u.At(workflow.Now(u.ctx))
}

// note takes in the limits that a worker has.
func (u *usage) note(totals []contract.Total) {
	for i := range u.Periods {
		u.Periods[i].Limits = contract.Amounts{}
		for _, total := range totals {
			if total.Period == u.Periods[i].Period {
				u.Periods[i].Limits = total.Amounts
			}
		}
	}
}

func (u *usage) count(used contract.Amounts) {
	for i := range u.Periods {
		u.Periods[i].Used = u.Periods[i].Used.Add(used)
	}
}

// giveBack takes off what was counted for nothing, in the periods in which it was.
func (u *usage) giveBack(back contract.Return) {
	for i := range u.Periods {
		if p := &u.Periods[i]; !back.At.Before(p.Since) {
			p.Used = p.Used.Less(back.Amounts)
		}
	}
}

// refusal says which total has no room for a take, if any has none. Of what cannot
// be told beforehand there is none once the total is reached.
func (u *usage) refusal(take contract.Amounts) *contract.Refusal {
	for _, p := range u.Periods {
		limits, used, after := p.Limits.Each(), p.Used.Each(), p.Used.Add(take).Each()
		for i, limit := range limits {
			if limit.Value == 0 || !concerns(limit.Name, take) {
				continue
			}
			reached := foretold(limit.Name) && after[i].Value > limit.Value || !foretold(limit.Name) && used[i].Value >= limit.Value
			if reached {
				return &contract.Refusal{Period: p.Period, Amount: limit.Name, Used: used[i].Value, Ends: p.Until}
			}
		}
	}
	return nil
}

// foretold reports whether an amount is known before it is used.
func foretold(amount string) bool {
	return amount == "steps" || amount == "calls" || amount == "input_bytes"
}

// concerns reports whether a take uses up an amount, then or afterwards: a call uses
// no tokens, and a model turn is none.
func concerns(amount string, take contract.Amounts) bool {
	switch amount {
	case "steps", "tokens", "cost_usd":
		return take.Steps > 0
	}
	return take.Calls > 0
}

// unused reports whether nothing is counted that the periods going on need.
func (u *usage) unused() bool {
	return !slices.ContainsFunc(u.Periods, func(p contract.PeriodUsage) bool { return p.Used != contract.Amounts{} })
}

func (u *usage) full() bool {
	info := workflow.GetInfo(u.ctx)
	return info.GetContinueAsNewSuggested() || info.GetCurrentHistoryLength() >= rollOverEvents
}

// rollOver continues as new, with all that is counted and the charges that were
// answered last.
func (u *usage) rollOver() error {
	if err := workflow.Await(u.ctx, func() bool { return workflow.AllHandlersFinished(u.ctx) }); err != nil {
		return err
	}
	return workflow.NewContinueAsNewError(u.ctx, contract.UsageType, u.UsageInput)
}

// details tells a person in the Temporal UI what was used, and of how much.
func (u *usage) details() string {
	var d strings.Builder
	fmt.Fprintf(&d, "What tenant %s has used, over all threads and workers:\n", u.Tenant)
	for _, p := range u.Periods {
		fmt.Fprintf(&d, "\n- %s since %s:", p.Period, p.Since.UTC().Format(time.RFC3339))
		limits := p.Limits.Each()
		nothing := true
		for i, used := range p.Used.Each() {
			if used.Value == 0 && limits[i].Value == 0 {
				continue
			}
			nothing = false
			fmt.Fprintf(&d, " %s %d", used.Name, used.Value)
			if limits[i].Value > 0 {
				fmt.Fprintf(&d, " of %d", limits[i].Value)
			}
			d.WriteString(";")
		}
		if nothing {
			d.WriteString(" nothing;")
		}
	}
	return strings.TrimSuffix(d.String(), ";") + "\n"
}
