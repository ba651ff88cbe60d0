package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/signals/contract"
)

func TestTotalsOfTenants(t *testing.T) {
	c, err := Parse("heddle.yaml", []byte(`
limits:
  tenants:
    "*": {concurrent: 20, total: {month: {cost_usd: 200}}}
    acme:
      total:
        day: {steps: 500, calls: 1000, input_bytes: 2000, output_bytes: 3000, tokens: 4000, cost_usd: 0.50}
        hour: {calls: 100}
    zeta: {concurrent: 3}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]contract.Total{
		"*": {{Period: contract.PeriodMonth, Amounts: contract.Amounts{CostMicros: 200_000_000}}},
		"acme": {
			{Period: contract.PeriodDay, Amounts: contract.Amounts{
				Steps: 500, Calls: 1000, InputBytes: 2000, OutputBytes: 3000, Tokens: 4000, CostMicros: 500_000,
			}},
			{Period: contract.PeriodHour, Amounts: contract.Amounts{Calls: 100}},
		},
	}
	if diff := cmp.Diff(want, c.Totals); diff != "" {
		t.Error(diff)
	}
	if c.Limits.Tenants["*"].Concurrent != 20 || c.Limits.Tenants["zeta"].Concurrent != 3 {
		t.Errorf("beside the totals: %+v", c.Limits.Tenants)
	}
}

func TestTotalsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"{day: {calls: 0}}":                     "limits.tenants.acme.total.day.calls: 0 is out of range, want 1 to",
		"{day: {calls: -1}}":                    "limits.tenants.acme.total.day.calls: -1 is out of range",
		"{day: {calls: 1000000000001}}":         "limits.tenants.acme.total.day.calls: 1000000000001 is out of range",
		"{day: {calls: 99999999999999999999}}":  "limits.tenants.acme.total.day.calls: ",
		"{month: {input_bytes: 1099511627777}}": "limits.tenants.acme.total.month.input_bytes: 1099511627777 is out of range",
		"{hour: {cost_usd: 1000001}}":           "limits.tenants.acme.total.hour.cost_usd: 1.000001e+06 is out of range",
		"{hour: {time: 3m}}":                    "limits.tenants.acme.total.hour.time: unknown field",
		"{days: {calls: 3}}":                    "limits.tenants.acme.total.days: unknown field; did you mean day?",
		"{calls: 3}":                            "limits.tenants.acme.total.calls: unknown field; known are hour, day, month",
		"{day: 3}":                              "limits.tenants.acme.total.day: want a mapping",
		"{day: {calls: many}}":                  "limits.tenants.acme.total.day.calls: want a whole number",
	} {
		_, err := Parse("heddle.yaml", []byte("limits: {tenants: {acme: {total: "+text+"}}}"), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error = %v, want %q", text, err, want)
		}
	}
}
