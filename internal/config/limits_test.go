package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/catalog"
)

func TestLimitsOfCalls(t *testing.T) {
	c, err := Parse("heddle.yaml", []byte(`
limits:
  call: {input_bytes: 1000, output_bytes: 2000, time: 2m}
  tenants:
    "*": {concurrent: 20, rate: 600/m}
    acme: {concurrent: 100, output_bytes: 500}
  namespaces: {github: {rate: 5000/h, burst: 100}}
  connections: {"*": {concurrent: 4, rate: 3/s}}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := catalog.Limits{
		Call: catalog.CallLimits{InputBytes: 1000, OutputBytes: 2000, Time: 2 * time.Minute},
		Tenants: map[string]catalog.TenantLimits{
			"*":    {FlowLimits: catalog.FlowLimits{Concurrent: 20, Rate: catalog.Rate{Calls: 600, Per: time.Minute}}},
			"acme": {FlowLimits: catalog.FlowLimits{Concurrent: 100}, Call: catalog.CallLimits{OutputBytes: 500}},
		},
		Namespaces:  map[string]catalog.FlowLimits{"github": {Rate: catalog.Rate{Calls: 5000, Per: time.Hour}, Burst: 100}},
		Connections: map[string]catalog.FlowLimits{"*": {Concurrent: 4, Rate: catalog.Rate{Calls: 3, Per: time.Second}}},
	}
	if diff := cmp.Diff(want, c.Limits); diff != "" {
		t.Error(diff)
	}
}

func TestLimitsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"{call: {input_bytes: 5000000}}":              "1:17: limits.call.input_bytes: 5000000 is out of range",
		"{call: {time: 31m}}":                         "limits.call.time: 31m0s is out of range",
		"{tenants: {a/b: {concurrent: 1}}}":           "limits.tenants.a/b: is no name of a tenant",
		"{tenants: {acme: {rate: 60}}}":               "limits.tenants.acme.rate: want a rate such as 5/s",
		"{tenants: {acme: {rate: 0/s}}}":              "limits.tenants.acme.rate: 0 calls are out of range",
		"{tenants: {acme: {rate: 60/d}}}":             `limits.tenants.acme.rate: "60/d" is no rate`,
		"{namespaces: {github: {burst: 3}}}":          "limits.namespaces.github: has a burst and no rate",
		"{namespaces: {github.issues: {rate: 1/s}}}":  "limits.namespaces.github.issues: \"github.issues\" is no namespace",
		"{connections: {github: {concurrency: 3}}}":   "limits.connections.github.concurrency: unknown field; did you mean concurrent?",
		"{connections: {github: {output_bytes: 30}}}": "unknown field",
	} {
		_, err := Parse("heddle.yaml", []byte("limits: "+text), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error = %v, want %q", text, err, want)
		}
	}
}
