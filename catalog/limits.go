package catalog

import (
	"fmt"
	"time"
)

// Limits bound what passes a [Broker]. What is zero is not bounded, but for what
// holds of every call: [MaxInput], [MaxOutput] and [MaxTimeout].
//
// How many calls there are at once and how fast they follow is counted in this
// process: a fleet of workers may come to as many times that as there are workers.
type Limits struct {
	// Call bounds each call.
	Call CallLimits
	// Tenants bounds the calls of each tenant, by its name; the entry "*" holds for
	// those who have no entry, and for what an entry leaves out.
	Tenants map[string]TenantLimits
	// Namespaces bounds the calls to the tools of a namespace, whoever makes them, and
	// Connections those of each tenant to it. Both are by namespace, or "*".
	Namespaces  map[string]FlowLimits
	Connections map[string]FlowLimits
}

// CallLimits bound one call.
type CallLimits struct {
	// InputBytes and OutputBytes bound its input and output as JSON.
	InputBytes, OutputBytes int
	// Time bounds how long it takes.
	Time time.Duration
}

// FlowLimits bound calls together.
type FlowLimits struct {
	// Concurrent is how many are under way at one time. More wait, in order.
	Concurrent int
	// Rate is how fast they follow one another. More wait.
	Rate Rate
	// Burst is how many may follow at once after a pause; the bucket's size. 0: the
	// calls of the rate.
	Burst int
}

// TenantLimits bound the calls of a tenant. Call tightens [Limits.Call].
type TenantLimits struct {
	FlowLimits
	Call CallLimits
}

// Rate is so many calls in so much time.
type Rate struct {
	Calls int
	Per   time.Duration
}

// Who sets a limit.
const (
	SetByApp    = "app"
	SetByTenant = "tenant"
)

// Exceeded says which limit a call, a turn or a thread came to.
type Exceeded struct {
	// Limit is the limit's place in the configuration, such as
	// limits.namespaces.github.concurrent.
	Limit string `json:"limit"`
	// Value is the limit, in Unit: bytes, calls, calls/s, ms, tokens, steps, micro-USD.
	Value int64  `json:"value"`
	Unit  string `json:"unit"`
	// SetBy is who set it: app, agent, thread (its backend) or tenant.
	SetBy string `json:"set_by"`
	// Used is what it came to, where that is known.
	Used int64 `json:"used,omitempty"`
	// Until is when the period ends that the limit is of, if it is of one.
	Until time.Time `json:"until,omitzero"`
}

func (e *Exceeded) String() string {
	return fmt.Sprintf("%s is %d %s (set by the %s)", e.Limit, e.Value, e.Unit, e.SetBy)
}

// flows reports whether calls are bounded together.
func (l Limits) flows() bool { return len(l.Tenants)+len(l.Namespaces)+len(l.Connections) > 0 }

// flow is what bounds one kind of calls together, each limit with its place.
type flow struct {
	FlowLimits
	concurrent, rate Exceeded
}

// flowOf finds the limits of a name among those by name, field by field.
func flowOf(at, name, setBy string, limits map[string]FlowLimits) flow {
	own, all := limits[name], limits["*"]
	f := flow{FlowLimits: own}
	concurrentAt, rateAt, concurrentBy, rateBy := at+"."+name, at+"."+name, setBy, setBy
	if own.Concurrent == 0 {
		f.Concurrent, concurrentAt, concurrentBy = all.Concurrent, at+".*", SetByApp
	}
	if own.Rate.Calls == 0 {
		f.Rate, f.Burst, rateAt, rateBy = all.Rate, all.Burst, at+".*", SetByApp
	}
	f.concurrent = Exceeded{Limit: concurrentAt + ".concurrent", Value: int64(f.Concurrent), Unit: "calls", SetBy: concurrentBy}
	f.rate = Exceeded{Limit: rateAt + ".rate", Value: int64(f.Rate.Calls), Unit: "calls/" + f.Rate.unit(), SetBy: rateBy}
	return f
}

// ofTenant finds what bounds a tenant's calls together.
func (l Limits) ofTenant(tenant string) flow {
	flows := map[string]FlowLimits{"*": l.Tenants["*"].FlowLimits}
	if own, has := l.Tenants[tenant]; has {
		flows[tenant] = own.FlowLimits
	}
	return flowOf("limits.tenants", tenant, SetByTenant, flows)
}

// unit names the time of a rate.
func (r Rate) unit() string {
	switch r.Per {
	case time.Second:
		return "s"
	case time.Minute:
		return "m"
	case time.Hour:
		return "h"
	}
	return r.Per.String()
}

// callLimits are those of a tenant's calls, each with its place.
type callLimits struct {
	input, output, time Exceeded // of which a Value of 0 is no bound
}

// of finds what bounds a call: the tightest of what holds for all and for the
// tenant.
func (l Limits) of(tenant string) callLimits {
	var found callLimits
	if l.Call == (CallLimits{}) && len(l.Tenants) == 0 {
		return found
	}
	tighten := func(into *Exceeded, at, setBy string, value int64, unit string) {
		if value > 0 && (into.Value == 0 || value < into.Value) {
			*into = Exceeded{Limit: "limits." + at, Value: value, Unit: unit, SetBy: setBy}
		}
	}
	add := func(at, setBy string, c CallLimits) {
		tighten(&found.input, at+".input_bytes", setBy, int64(c.InputBytes), "bytes")
		tighten(&found.output, at+".output_bytes", setBy, int64(c.OutputBytes), "bytes")
		tighten(&found.time, at+".time", setBy, c.Time.Milliseconds(), "ms")
	}
	add("call", SetByApp, l.Call)
	own, rest := l.Tenants[tenant].Call, l.Tenants["*"].Call
	add("tenants."+tenant, SetByTenant, own)
	// The entry of all holds for what the tenant's own leaves out.
	if own.InputBytes > 0 {
		rest.InputBytes = 0
	}
	if own.OutputBytes > 0 {
		rest.OutputBytes = 0
	}
	if own.Time > 0 {
		rest.Time = 0
	}
	add("tenants.*", SetByApp, rest)
	return found
}

// exceeded is the error of a call that came to a limit.
func exceeded(limit Exceeded, used int64, format string, args ...any) *Error {
	limit.Used = used
	return &Error{Code: CodeLimit, Message: fmt.Sprintf(format, args...) + ": " + limit.String(), Limit: &limit, Effect: EffectNone}
}
