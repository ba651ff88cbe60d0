package ledger

import (
	"cmp"
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// Totals limit what each tenant uses, by its name; those of "*" hold for who has no
// entry, and for what an entry leaves out.
type Totals map[string][]contract.Total

// of are the totals of a tenant, each limit its own or else that of all.
func (t Totals) of(tenant string) []contract.Total {
	var merged []contract.Total
	for _, period := range contract.Periods {
		own, all := t.limits(tenant, period), t.limits("*", period)
		total := contract.Total{Period: period, Amounts: contract.Amounts{
			Steps: cmp.Or(own.Steps, all.Steps), Calls: cmp.Or(own.Calls, all.Calls), Tokens: cmp.Or(own.Tokens, all.Tokens),
			CostMicros: cmp.Or(own.CostMicros, all.CostMicros), InputBytes: cmp.Or(own.InputBytes, all.InputBytes), OutputBytes: cmp.Or(own.OutputBytes, all.OutputBytes),
		}}
		if total.Amounts != (contract.Amounts{}) {
			merged = append(merged, total)
		}
	}
	return merged
}

func (t Totals) limits(tenant string, period contract.Period) contract.Amounts {
	for _, total := range t[tenant] {
		if total.Period == period {
			return total.Amounts
		}
	}
	return contract.Amounts{}
}

// exceeded is the error of what a total has no room for.
func (t Totals) exceeded(tenant string, r contract.Refusal, left string) *catalog.Error {
	limit := catalog.Exceeded{SetBy: catalog.SetByTenant, Used: r.Used, Until: r.Ends}
	name := tenant
	find := func(amounts contract.Amounts) {
		for _, one := range amounts.Each() {
			if one.Name == r.Amount {
				limit.Value, limit.Unit = one.Value, one.Unit
			}
		}
	}
	if find(t.limits(tenant, r.Period)); limit.Value == 0 {
		find(t.limits("*", r.Period))
		name, limit.SetBy = "*", catalog.SetByApp
	}
	limit.Limit = fmt.Sprintf("limits.tenants.%s.total.%s.%s", name, r.Period, r.Amount)
	ends := r.Ends.UTC().Format(time.RFC3339)
	return &catalog.Error{
		Code: catalog.CodeLimit, Effect: catalog.EffectNone, Limit: &limit,
		Message: fmt.Sprintf("%s: tenant %s has used %d %s: %s", left, tenant, limit.Used, limit.Unit, &limit),
		Hint:    fmt.Sprintf("the %s ends at %s; from then on it can be tried again", r.Period, ends),
	}
}
