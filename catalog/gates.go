package catalog

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
)

const (
	// limitPatience is how long a call waits for others before it is refused. It is
	// less than what the deadline of a write's activity leaves beside the write.
	limitPatience = 30 * time.Second
	// maxGates is how many gates there are before those that nobody uses are removed.
	maxGates = 4096
)

// gates let calls pass within the limits of how many there are at once and how
// fast they follow.
type gates struct {
	limits Limits

	mu   sync.Mutex
	open map[string]*gate
}

// gate is one such limit: of a tenant, a namespace or a connection.
type gate struct {
	slots *semaphore.Weighted // nil: as many as there are
	rate  *rate.Limiter       // nil: as fast as they come
	users int                 // guarded by gates
}

// enter waits until a call may be made. It reports whether it had to wait: what
// was checked before may then be otherwise. leave is to be called at the call's end;
// called again it does nothing.
//
// A tenant's own namespaces, of a [Scoped] source, are no other tenant's, even if
// they have one name.
func (g *gates) enter(ctx context.Context, c *call) (leave func(), waited bool, err *Error) {
	if !g.limits.flows() {
		return func() {}, false, nil
	}
	tenant, namespace := c.scope.Tenant, c.tool.Namespace()
	connection := tenant + "\x00" + c.connection
	ofNamespace := namespace
	if c.connection != "" {
		ofNamespace = connection + "\x00" + namespace
	}
	var left []func()
	leave = sync.OnceFunc(func() {
		for _, one := range left {
			one()
		}
	})
	ctx, cancel := context.WithTimeout(ctx, limitPatience)
	defer cancel()
	for _, way := range []struct {
		key string
		flow
	}{
		// The order is the same for every call, so that no two wait for each other.
		{"t\x00" + tenant, g.limits.ofTenant(tenant)},
		{"c\x00" + connection + "\x00" + namespace, flowOf("limits.connections", namespace, SetByApp, g.limits.Connections)},
		{"n\x00" + ofNamespace, flowOf("limits.namespaces", namespace, SetByApp, g.limits.Namespaces)},
	} {
		if way.Concurrent == 0 && way.Rate.Calls == 0 {
			continue
		}
		gate := g.use(way.key, way.flow)
		out, slept, refused := gate.pass(ctx, way.flow)
		left = append(left, func() { out(); g.done(gate) })
		waited = waited || slept
		if refused != nil {
			leave()
			return func() {}, waited, refused
		}
	}
	return leave, waited, nil
}

// use finds a gate, or makes it.
func (g *gates) use(key string, f flow) *gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	found := g.open[key]
	if found == nil {
		if g.open == nil {
			g.open = map[string]*gate{}
		}
		if len(g.open) >= maxGates {
			g.sweep()
		}
		found = &gate{}
		if f.Concurrent > 0 {
			found.slots = semaphore.NewWeighted(int64(f.Concurrent))
		}
		if f.Rate.Calls > 0 {
			burst := f.Burst
			if burst == 0 {
				burst = f.Rate.Calls
			}
			found.rate = rate.NewLimiter(rate.Limit(float64(f.Rate.Calls)/f.Rate.Per.Seconds()), burst)
		}
		g.open[key] = found
	}
	found.users++
	return found
}

func (g *gates) done(gate *gate) {
	g.mu.Lock()
	defer g.mu.Unlock()
	gate.users--
}

// sweep removes gates that are as if they were new.
func (g *gates) sweep() {
	for key, gate := range g.open {
		if gate.users == 0 && (gate.rate == nil || gate.rate.Tokens() >= float64(gate.rate.Burst())) {
			delete(g.open, key)
		}
	}
}

// pass waits for a place and for a token of the bucket.
func (g *gate) pass(ctx context.Context, f flow) (out func(), waited bool, refused *Error) {
	out = func() {}
	if g.slots != nil {
		if !g.slots.TryAcquire(1) {
			waited = true
			if g.slots.Acquire(ctx, 1) != nil {
				return out, waited, refuse(ctx, f.concurrent, "too many calls are under way")
			}
		}
		out = func() { g.slots.Release(1) }
	}
	if g.rate != nil && !g.rate.Allow() {
		waited = true
		if g.rate.Wait(ctx) != nil {
			return out, waited, refuse(ctx, f.rate, "calls follow too fast")
		}
	}
	return out, waited, nil
}

// refuse is the error of a call that did not get to pass in time, or whose caller
// gave up.
func refuse(ctx context.Context, limit Exceeded, what string) *Error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ended(ctx, "while it waited for others")
	}
	e := exceeded(limit, 0, "%s; nothing was called", what)
	e.Retryable = true
	e.Hint = "make fewer calls at once, or make it again later"
	return e
}
