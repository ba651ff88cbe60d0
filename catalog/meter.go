package catalog

import "context"

// Meter counts the calls of tenants, over all brokers there are, and refuses those
// that their totals have no room for.
type Meter interface {
	// Begin counts a call that is about to be made, with the length of its input, or
	// refuses it. ended is to be called at the call's end: with made false the call is
	// not counted after all, and else its output is.
	Begin(ctx context.Context, tenant string, input int) (ended func(made bool, output int), refused *Error)
}

// Meter sets what counts calls; nil, which it is at first, counts none. It is called
// before the broker is used.
func (b *Broker) Meter(meter Meter) { b.meter = meter }

// run makes a call that may be made now, and has it counted. before is called before a
// write is sent, and can keep it from that; then with what comes of it, as [call.invoke]
// says.
func (b *Broker) run(ctx context.Context, c *call, plan Plan, before func(context.Context) error, then func(o Outcome, left bool)) {
	if b.meter == nil || ctx.Err() != nil {
		c.run(ctx, plan.Timeout, before, then)
		return
	}
	ended, refused := b.meter.Begin(ctx, c.scope.Tenant, len(c.input))
	if refused != nil {
		then(Outcome{Error: refused.before(c.tool.ID)}, false)
		return
	}
	made := false // the caller may have left meanwhile
	c.run(ctx, plan.Timeout, func(ctx context.Context) error {
		if before != nil {
			if err := before(ctx); err != nil {
				return err
			}
		}
		made = true
		return nil
	}, func(o Outcome, left bool) {
		ended(made, len(o.Result))
		then(o, left)
	})
}
