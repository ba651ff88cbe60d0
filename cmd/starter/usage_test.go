package main

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/signals/contract"
)

func TestUsage(t *testing.T) {
	testkit.OneDay(t, 6*time.Minute)
	tenant, other := "usage-"+rand.Text()[:8], "usage-"+rand.Text()[:8]
	b := newBench(t, func(files map[string]string) {
		files["heddle.yaml"] += "\nlimits:\n  tenants: {" + tenant + ": {total: {day: {calls: 2}, month: {output_bytes: 1000000}}}}\n"
	})
	contains(t, b.must(exitFailed, "usage", "--tenant", tenant), "not_counted", tenant)
	input := []string{"orders.get", "--input", `{"order":"A-1001"}`, "--agent", "support", "--user", "ada"}
	for range 2 {
		b.must(exitOK, append([]string{"call", tenant + "/t"}, input...)...)
	}
	contains(t, b.must(exitFailed, append([]string{"call", tenant + "/t2"}, input...)...),
		"limit_exceeded", "limits.tenants."+tenant+".total.day.calls is 2 calls (set by the tenant)")
	got := b.must(exitOK, "usage", "--tenant", tenant)
	contains(t, got, "PERIOD", "day ", "calls ", "2 ", "month ", "output_bytes ", "1000000")
	usage := jsonLines[contract.TenantUsage](t, b.must(exitOK, "usage", "--tenant", tenant, "--json"))[0]
	day := usage.Periods[1]
	if usage.Tenant != tenant || day.Period != contract.PeriodDay || day.Used.Calls != 2 || day.Limits.Calls != 2 || day.Used.InputBytes != 36 {
		t.Errorf("usage = %+v", usage)
	}
	b.must(exitOK, append([]string{"call", other + "/t"}, input...)...)
	contains(t, b.must(exitFailed, "usage", "--tenant", other), "not_counted")
}
