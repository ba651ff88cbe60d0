package config

import (
	"regexp"
	"strconv"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

const (
	maxConcurrent = 100_000
	maxRate       = 1_000_000
	// maxTotal bounds the model turns, the calls and the tokens of a total.
	maxTotal = 1_000_000_000_000
)

// readBounds reads what bounds calls, each and together, and the totals of tenants.
func readBounds(v value) (catalog.Limits, map[string][]contract.Total) {
	var l catalog.Limits
	totals := map[string][]contract.Total{}
	v.fields(
		field{name: "call", read: func(v value) { v.fields(callFields(&l.Call)...) }},
		field{name: "tenants", read: func(v value) {
			l.Tenants = map[string]catalog.TenantLimits{}
			v.entries(func(tenant string, entry value) {
				if err := (contract.ThreadRef{Tenant: tenant, Thread: "t"}).Validate(); tenant != "*" && err != nil {
					entry.problem("is no name of a tenant; want * or 1 to 64 characters of A-Z a-z 0-9 . _ -")
				}
				var t catalog.TenantLimits
				entry.fields(append(append(flowFields(&t.FlowLimits), callFields(&t.Call)...),
					field{name: "total", read: func(v value) { totals[tenant] = readTotals(v) }})...)
				entry.checkBurst(t.FlowLimits)
				l.Tenants[tenant] = t
			})
		}},
		field{name: "namespaces", read: func(v value) { l.Namespaces = readFlows(v) }},
		field{name: "connections", read: func(v value) { l.Connections = readFlows(v) }},
	)
	return l, totals
}

// readTotals reads what a tenant may use in each period.
func readTotals(v value) []contract.Total {
	var totals []contract.Total
	fields := make([]field, len(contract.Periods))
	for i, period := range contract.Periods {
		fields[i] = field{name: string(period), read: func(v value) {
			total := contract.Total{Period: period}
			v.fields(
				field{name: "steps", read: func(v value) { total.Steps = v.integer(maxTotal) }},
				field{name: "calls", read: func(v value) { total.Calls = v.integer(maxTotal) }},
				field{name: "tokens", read: func(v value) { total.Tokens = v.integer(maxTotal) }},
				field{name: "cost_usd", read: func(v value) { total.CostMicros = v.dollars() }},
				field{name: "input_bytes", read: func(v value) { total.InputBytes = v.integer(maxBytes) }},
				field{name: "output_bytes", read: func(v value) { total.OutputBytes = v.integer(maxBytes) }},
			)
			totals = append(totals, total)
		}}
	}
	v.fields(fields...)
	return totals
}

func callFields(l *catalog.CallLimits) []field {
	return []field{
		{name: "input_bytes", read: func(v value) { l.InputBytes = int(v.integer(catalog.MaxInput)) }},
		{name: "output_bytes", read: func(v value) { l.OutputBytes = int(v.integer(catalog.MaxOutput)) }},
		{name: "time", read: func(v value) { l.Time = v.duration(catalog.MaxTimeout) }},
	}
}

func flowFields(l *catalog.FlowLimits) []field {
	return []field{
		{name: "concurrent", read: func(v value) { l.Concurrent = int(v.integer(maxConcurrent)) }},
		{name: "rate", read: func(v value) { l.Rate = v.rate() }},
		{name: "burst", read: func(v value) { l.Burst = int(v.integer(maxRate)) }},
	}
}

func readFlows(v value) map[string]catalog.FlowLimits {
	flows := map[string]catalog.FlowLimits{}
	v.entries(func(namespace string, entry value) {
		if namespace != "*" {
			if err := catalog.CheckNamespace(namespace); err != nil {
				entry.problem("%s", err)
			}
		}
		var l catalog.FlowLimits
		entry.fields(flowFields(&l)...)
		entry.checkBurst(l)
		flows[namespace] = l
	})
	return flows
}

// checkBurst reports a bucket that nothing fills.
func (v value) checkBurst(l catalog.FlowLimits) {
	if l.Burst > 0 && l.Rate.Calls == 0 {
		v.problem("has a burst and no rate")
	}
}

var ratePattern = regexp.MustCompile(`^(\d{1,7})/([smh])$`)

// rate reads a number of calls in a time, such as 60/m.
func (v value) rate() catalog.Rate {
	const want = "a rate such as 5/s, 60/m or 1000/h"
	text, ok := v.node.(*ast.StringNode)
	if !ok {
		v.want(want)
		return catalog.Rate{}
	}
	match := ratePattern.FindStringSubmatch(text.Value)
	if match == nil {
		v.problem("%q is no rate; want one such as 5/s, 60/m or 1000/h", text.Value)
		return catalog.Rate{}
	}
	calls, _ := strconv.Atoi(match[1]) // of seven digits at most
	if calls < 1 || calls > maxRate {
		v.problem("%s calls are out of range, want 1 to %d", match[1], maxRate)
		return catalog.Rate{}
	}
	return catalog.Rate{Calls: calls, Per: map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[match[2]]}
}
