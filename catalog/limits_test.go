package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/catalog"
)

// limited is a broker with limits, of tools of two namespaces that answer with the
// text of their input after some time.
func limited(t *testing.T, limits catalog.Limits, takes time.Duration, before func()) *catalog.Broker {
	t.Helper()
	var tools []catalog.Tool
	for _, id := range []string{"mail.send", "maps.find"} {
		tools = append(tools, catalog.Tool{
			Descriptor: catalog.Descriptor{
				ID: id, Description: "Waits.", Operation: catalog.Read,
				Input: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`),
			},
			Call: func(ctx context.Context, call catalog.Call) (json.RawMessage, error) {
				if before != nil {
					before()
				}
				select {
				case <-time.After(takes):
					return call.Input, nil
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			},
		})
	}
	broker, err := catalog.New(fixed{"mine", tools})
	if err != nil {
		t.Fatal(err)
	}
	broker.Limit(limits)
	return broker
}

type fixed struct {
	name  string
	tools []catalog.Tool
}

func (f fixed) Name() string                                  { return f.name }
func (f fixed) Tools(context.Context) ([]catalog.Tool, error) { return f.tools, nil }

func callIt(ctx context.Context, b *catalog.Broker, tenant, tool, input string) catalog.Outcome {
	scope := catalog.Scope{Tenant: tenant, Thread: "t", Agent: "a", Tools: []string{"*"}}
	req := catalog.Request{Tool: tool, Input: json.RawMessage(input)}
	return b.Dispatch(ctx, scope, req, b.Plan(ctx, scope, req))
}

func TestLimitsOfOneCall(t *testing.T) {
	long := `{"text":"` + strings.Repeat("x", 100) + `"}`
	for name, test := range map[string]struct {
		limits catalog.Limits
		takes  time.Duration
		code   string
		want   catalog.Exceeded
	}{
		"input": {
			limits: catalog.Limits{Call: catalog.CallLimits{InputBytes: 100}},
			code:   catalog.CodeLimit,
			want:   catalog.Exceeded{Limit: "limits.call.input_bytes", Value: 100, Unit: "bytes", SetBy: "app", Used: 111},
		},
		"output, of a tenant": {
			limits: catalog.Limits{
				Call:    catalog.CallLimits{OutputBytes: 1000},
				Tenants: map[string]catalog.TenantLimits{"acme": {Call: catalog.CallLimits{OutputBytes: 99}}, "*": {Call: catalog.CallLimits{OutputBytes: 50}}},
			},
			code: catalog.CodeLimit,
			want: catalog.Exceeded{Limit: "limits.tenants.acme.output_bytes", Value: 99, Unit: "bytes", SetBy: "tenant", Used: 111},
		},
		"a tenant cannot loosen": {
			limits: catalog.Limits{
				Call:    catalog.CallLimits{OutputBytes: 100},
				Tenants: map[string]catalog.TenantLimits{"acme": {Call: catalog.CallLimits{OutputBytes: 5000}}},
			},
			code: catalog.CodeLimit,
			want: catalog.Exceeded{Limit: "limits.call.output_bytes", Value: 100, Unit: "bytes", SetBy: "app", Used: 111},
		},
		"what a tenant leaves out": {
			limits: catalog.Limits{Tenants: map[string]catalog.TenantLimits{
				"acme": {Call: catalog.CallLimits{OutputBytes: 5000}}, "*": {Call: catalog.CallLimits{InputBytes: 110}},
			}},
			code: catalog.CodeLimit,
			want: catalog.Exceeded{Limit: "limits.tenants.*.input_bytes", Value: 110, Unit: "bytes", SetBy: "app", Used: 111},
		},
		"time": {
			limits: catalog.Limits{Call: catalog.CallLimits{Time: 2 * time.Second}}, takes: time.Minute,
			code: catalog.CodeTimeout,
			want: catalog.Exceeded{Limit: "limits.call.time", Value: 2000, Unit: "ms", SetBy: "app"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := callIt(t.Context(), limited(t, test.limits, test.takes, nil), "acme", "mail.send", long)
				if o.Error == nil || o.Error.Code != test.code || o.Error.Limit == nil {
					t.Fatalf("outcome = %s, %+v", o.Result, o.Error)
				}
				if diff := cmp.Diff(test.want, *o.Error.Limit); diff != "" {
					t.Error(diff)
				}
				for _, said := range []string{test.want.Limit, fmt.Sprint(test.want.Value)} {
					if test.code == catalog.CodeLimit && !strings.Contains(o.Error.Message, said) {
						t.Errorf("message %q does not say %s", o.Error.Message, said)
					}
				}
			})
		})
	}
}

// Calls over a limit of concurrency wait, and what other tenants and namespaces do
// does not hold them up.
func TestConcurrencyIsBounded(t *testing.T) {
	flow := map[string]catalog.FlowLimits{"*": {Concurrent: 2}}
	for name, test := range map[string]struct {
		limits       catalog.Limits
		other        [2]string
		most, inBoth int64
	}{
		"of a tenant":     {catalog.Limits{Tenants: map[string]catalog.TenantLimits{"*": {FlowLimits: flow["*"]}}}, [2]string{"acme", "maps.find"}, 2, 2},
		"of tenants each": {catalog.Limits{Tenants: map[string]catalog.TenantLimits{"*": {FlowLimits: flow["*"]}}}, [2]string{"zeta", "mail.send"}, 4, 4},
		"of a namespace":  {catalog.Limits{Namespaces: flow}, [2]string{"zeta", "mail.send"}, 2, 2},
		"of each":         {catalog.Limits{Namespaces: flow}, [2]string{"acme", "maps.find"}, 4, 4},
		"of a connection": {catalog.Limits{Connections: flow}, [2]string{"zeta", "mail.send"}, 4, 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var now, most atomic.Int64
				broker := limited(t, test.limits, time.Second, func() {
					n := now.Add(1)
					for seen := most.Load(); n > seen && !most.CompareAndSwap(seen, n); seen = most.Load() {
					}
					time.AfterFunc(time.Second-time.Millisecond, func() { now.Add(-1) })
				})
				var wg sync.WaitGroup
				for range 6 {
					for _, who := range [][2]string{{"acme", "mail.send"}, test.other} {
						wg.Go(func() {
							if o := callIt(t.Context(), broker, who[0], who[1], `{}`); o.Error != nil {
								t.Errorf("%v: %v", who, o.Error)
							}
						})
					}
				}
				wg.Wait()
				if got := most.Load(); got != test.most {
					t.Errorf("%d calls at once, want %d", got, test.most)
				}
			})
		})
	}
}

func TestRateIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broker := limited(t, catalog.Limits{Namespaces: map[string]catalog.FlowLimits{
			"mail": {Rate: catalog.Rate{Calls: 2, Per: time.Second}, Burst: 3},
		}}, 0, nil)
		began := time.Now()
		for range 7 {
			if o := callIt(t.Context(), broker, "acme", "mail.send", `{}`); o.Error != nil {
				t.Fatal(o.Error)
			}
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("3 calls at once and 4 at two a second took %s, want 2s", took)
		}
	})
}

// A call that cannot pass in time is refused, with what kept it, and was not made.
func TestWhoWaitsTooLongIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Int64
		broker := limited(t, catalog.Limits{
			Tenants:    map[string]catalog.TenantLimits{"acme": {FlowLimits: catalog.FlowLimits{Concurrent: 1}}},
			Namespaces: map[string]catalog.FlowLimits{"maps": {Rate: catalog.Rate{Calls: 1, Per: time.Hour}}},
		}, 50*time.Second, func() { made.Add(1) })
		var wg sync.WaitGroup
		wg.Go(func() { callIt(t.Context(), broker, "acme", "mail.send", `{}`) })
		wg.Go(func() { callIt(t.Context(), broker, "zeta", "maps.find", `{}`) })
		synctest.Wait()
		for _, test := range []struct {
			tenant, tool string
			want         catalog.Exceeded
		}{
			{"acme", "mail.send", catalog.Exceeded{Limit: "limits.tenants.acme.concurrent", Value: 1, Unit: "calls", SetBy: "tenant"}},
			{"zeta", "maps.find", catalog.Exceeded{Limit: "limits.namespaces.maps.rate", Value: 1, Unit: "calls/h", SetBy: "app"}},
		} {
			began := time.Now()
			o := callIt(t.Context(), broker, test.tenant, test.tool, `{}`)
			if o.Error == nil || o.Error.Code != catalog.CodeLimit || !o.Error.Retryable || o.Error.Effect != catalog.EffectNone {
				t.Fatalf("outcome = %s, %+v", o.Result, o.Error)
			}
			if diff := cmp.Diff(test.want, *o.Error.Limit); diff != "" {
				t.Error(diff)
			}
			if waited := time.Since(began); waited > 31*time.Second {
				t.Errorf("it waited %s", waited)
			}
		}
		// One who gives up waits no longer.
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if o := callIt(ctx, broker, "acme", "mail.send", `{}`); o.Error == nil || o.Error.Code != catalog.CodeCancelled {
			t.Errorf("outcome = %+v", o.Error)
		}
		wg.Wait()
		if n := made.Load(); n != 2 {
			t.Errorf("%d calls were made, want 2", n)
		}
		// The places that were waited for in vain are free again.
		if o := callIt(t.Context(), broker, "acme", "mail.send", `{}`); o.Error != nil {
			t.Error(o.Error)
		}
	})
}

// Each limit of calls together says which it is, its value and who set it.
func TestEachLimitOfCallsTogetherSaysWhich(t *testing.T) {
	one, hourly := catalog.FlowLimits{Concurrent: 1}, catalog.FlowLimits{Rate: catalog.Rate{Calls: 1, Per: time.Hour}}
	of := func(name string, flow catalog.FlowLimits) map[string]catalog.FlowLimits {
		return map[string]catalog.FlowLimits{name: flow}
	}
	tenant := func(name string, flow catalog.FlowLimits) catalog.Limits {
		return catalog.Limits{Tenants: map[string]catalog.TenantLimits{name: {FlowLimits: flow}}}
	}
	for want, limits := range map[catalog.Exceeded]catalog.Limits{
		{Limit: "limits.tenants.acme.concurrent", Value: 1, Unit: "calls", SetBy: "tenant"}:  tenant("acme", one),
		{Limit: "limits.tenants.acme.rate", Value: 1, Unit: "calls/h", SetBy: "tenant"}:      tenant("acme", hourly),
		{Limit: "limits.tenants.*.concurrent", Value: 1, Unit: "calls", SetBy: "app"}:        tenant("*", one),
		{Limit: "limits.tenants.*.rate", Value: 1, Unit: "calls/h", SetBy: "app"}:            tenant("*", hourly),
		{Limit: "limits.namespaces.mail.concurrent", Value: 1, Unit: "calls", SetBy: "app"}:  {Namespaces: of("mail", one)},
		{Limit: "limits.namespaces.mail.rate", Value: 1, Unit: "calls/h", SetBy: "app"}:      {Namespaces: of("mail", hourly)},
		{Limit: "limits.connections.mail.concurrent", Value: 1, Unit: "calls", SetBy: "app"}: {Connections: of("mail", one)},
		{Limit: "limits.connections.mail.rate", Value: 1, Unit: "calls/h", SetBy: "app"}:     {Connections: of("mail", hourly)},
		{Limit: "limits.connections.*.concurrent", Value: 1, Unit: "calls", SetBy: "app"}:    {Connections: of("*", one)},
		{Limit: "limits.namespaces.*.rate", Value: 1, Unit: "calls/h", SetBy: "app"}:         {Namespaces: of("*", hourly)},
	} {
		t.Run(want.Limit, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				broker := limited(t, limits, 50*time.Second, nil)
				var wg sync.WaitGroup
				wg.Go(func() { callIt(t.Context(), broker, "acme", "mail.send", `{}`) })
				synctest.Wait()
				o := callIt(t.Context(), broker, "acme", "mail.send", `{}`)
				if o.Error == nil || o.Error.Code != catalog.CodeLimit || !o.Error.Retryable || o.Error.Effect != catalog.EffectNone || !strings.Contains(o.Error.Message, want.String()) {
					t.Fatalf("outcome = %s, %+v", o.Result, o.Error)
				}
				if diff := cmp.Diff(want, *o.Error.Limit); diff != "" {
					t.Error(diff)
				}
				wg.Wait()
			})
		})
	}
}

// A call that had to wait is checked again before it is made.
func TestWhoWaitedIsCheckedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broker := limited(t, catalog.Limits{Namespaces: map[string]catalog.FlowLimits{"mail": {Concurrent: 1}}}, 5*time.Second, nil)
		var closed atomic.Bool
		broker.Govern(judge(func(catalog.Question) catalog.Ruling {
			if closed.Load() {
				return catalog.Ruling{Verdict: catalog.VerdictBlock, Rule: "closed"}
			}
			return catalog.Ruling{}
		}), catalog.Modes{})
		go callIt(t.Context(), broker, "acme", "mail.send", `{}`)
		synctest.Wait()
		time.AfterFunc(time.Second, func() { closed.Store(true) })
		if o := callIt(t.Context(), broker, "acme", "mail.send", `{}`); o.Error == nil || o.Error.Code != catalog.CodePolicyBlocked {
			t.Errorf("outcome = %+v", o.Error)
		}
	})
}

type judge func(catalog.Question) catalog.Ruling

func (j judge) Judge(q catalog.Question) catalog.Ruling { return j(q) }
func (judge) CheckRules(catalog.Scope) error            { return nil }

// What many tenants leave behind is removed.
func TestManyTenants(t *testing.T) {
	broker := limited(t, catalog.Limits{Tenants: map[string]catalog.TenantLimits{"*": {FlowLimits: catalog.FlowLimits{Concurrent: 1}}}}, 0, nil)
	for i := range 10_000 {
		if o := callIt(t.Context(), broker, fmt.Sprint("t", i), "mail.send", `{}`); o.Error != nil {
			t.Fatal(o.Error)
		}
	}
	if n := broker.Gates(); n > 4096 {
		t.Errorf("%d gates are kept", n)
	}
}
