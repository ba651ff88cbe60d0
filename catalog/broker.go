package catalog

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Broker is the one way to the tools of several sources. It is safe for
// concurrent use.
type Broker struct {
	sources []*source
	views   views
	schemas schemas
	secrets Secrets
	policy  Policy
	modes   Modes
	lookups map[string]Lookup
	undos   map[string]UndoFunc
	gates   *gates
	auditor Auditor
	meter   Meter // nil: calls are not counted
	// askConsent makes the questions that have people connect services, or is nil.
	askConsent AskConsent
}

// New returns a broker of the sources' tools. Sources whose tools are at hand are
// listed once, and it refuses what their author must put right: an id that is
// illegal or used twice, and a descriptor that is incomplete. [Remote] and
// [Scoped] sources are asked when their tools are needed. A source that cannot be
// listed now, or not within ten seconds, is no error; its tools are there as soon
// as it can.
//
// Of tools with one id in several sources that of the first source counts, on
// every worker alike; the others are left out and logged.
func New(sources ...Source) (*Broker, error) {
	modes, err := NewModes()
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	b := &Broker{modes: modes, gates: &gates{}}
	names := map[string]bool{}
	for i, s := range sources {
		if s == nil {
			return nil, fmt.Errorf("catalog: source number %d is nil", i+1)
		}
		guarded := newSource(s)
		if guarded.remote != nil {
			namespace := guarded.remote.Namespace()
			if names[namespace] {
				return nil, fmt.Errorf("catalog: two sources have the namespace %s", quote(namespace))
			}
			names[namespace] = true
		}
		b.sources = append(b.sources, guarded)
	}
	for _, s := range b.sources {
		s.others = names
	}
	if err := b.checkAtHand(); err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	return b, nil
}

// checkAtHand says what is wrong with the tools that are at hand.
func (b *Broker) checkAtHand() error {
	listings := make([]*listing, len(b.sources))
	var wg sync.WaitGroup
	for i, s := range b.sources {
		if s.atHand() {
			wg.Go(func() { listings[i], _ = s.get(context.Background(), Scope{}, forStart) })
		}
	}
	wg.Wait()
	var faults []error
	places := map[string]string{}
	for i, l := range listings {
		if l == nil {
			continue
		}
		faults = append(faults, l.faults...)
		for _, tool := range l.tools {
			place := b.sources[i].place(tool)
			if first, twice := places[tool.ID]; twice {
				faults = append(faults, usedTwice(tool.ID, first, place))
				continue
			}
			places[tool.ID] = place
		}
	}
	return errors.Join(faults...)
}

// Plan checks a request and says what it takes. It does nothing outside. What
// is wrong with the request is in the plan's Error.
func (b *Broker) Plan(ctx context.Context, scope Scope, req Request) Plan {
	began := time.Now()
	p := Plan{Tool: req.Tool}
	c, err := b.check(ctx, scope, req)
	if err == nil {
		p = c.plan()
	} else {
		o := b.unconnected(ctx, scope, req, err)
		p.Error, p.Asks, p.Policy = o.Error, o.Asks, blockedBy(err)
	}
	p = b.redactPlan(scope, p)
	b.notePlan(scope, req, p, began)
	return p
}

// Dispatch carries out a request as planned. It checks all that Plan checks
// again, and calls nothing when the tool or the input is not what was planned.
func (b *Broker) Dispatch(ctx context.Context, scope Scope, req Request, plan Plan) Outcome {
	began := time.Now()
	var outcome Outcome
	b.carryOut(ctx, scope, req, plan, func(c *call) *Error { return c.agrees(plan) }, func(c *call, o Outcome, _ bool) {
		b.noteCall(scope, req, plan, c, o, began)
		outcome = o
	})
	return outcome
}

// Reading is what comes of a [Broker.DispatchRead].
type Reading struct {
	// Done says that the call was made or refused: then Outcome is what came of it, and of
	// Plan no more is to be relied on than its policy, but for a call that asks. Else it is
	// only planned.
	Done    bool
	Plan    Plan
	Outcome Outcome
	// Left says that the goroutine of the call is not that of the reading: the tool has not
	// come back to it from a context that has ended, or has ended it.
	Left bool
}

// DispatchRead is Plan and Dispatch in the same moment, for a read that nobody has to agree
// to: it is checked once and carried out. Any other request is only planned.
//
// The tool runs on the caller's own goroutine: a read takes less time than it takes to
// start another one. So then is called, once, with what comes of it, and before
// DispatchRead returns; but if the tool does not come back although its context has ended,
// or ends its goroutine, then is called on another goroutine, with Left, and DispatchRead
// returns when the tool does, or never.
func (b *Broker) DispatchRead(ctx context.Context, scope Scope, req Request, then func(Reading)) {
	began := time.Now()
	var effect *call
	b.carryOut(ctx, scope, req, Plan{}, func(c *call) *Error {
		if c.tool.Operation == Read && !c.consent.NeedsApproval {
			c.here = true
			return nil
		}
		effect = c
		return &Error{Code: CodeNotMade, Message: "it is planned"} // nobody sees it
	}, func(c *call, o Outcome, left bool) {
		if effect != nil {
			plan := b.redactPlan(scope, effect.plan())
			b.notePlan(scope, req, plan, began)
			then(Reading{Plan: plan})
			return
		}
		var plan Plan
		switch {
		case c == nil && o.Asks != nil: // it is to be planned once there is an answer
			plan = Plan{Tool: req.Tool, Error: o.Error, Asks: o.Asks}
		case c == nil:
			plan.Policy = blockedBy(o.Error)
		case b.auditor != nil || o.Asks != nil: // one that asks is to be made again, as planned
			plan = b.redactPlan(scope, c.plan())
		default:
			plan.Policy = decidedBy(c.ruling)
		}
		b.noteCall(scope, req, plan, c, o, began)
		then(Reading{Done: true, Plan: plan, Outcome: o, Left: left})
	})
}

// carryOut makes a call that agree, which is asked once all else was checked, has
// nothing against, and calls then with what came of it, as [call.invoke] says. There is
// no call where it was refused.
func (b *Broker) carryOut(
	ctx context.Context, scope Scope, req Request, plan Plan, agree func(*call) *Error, then func(c *call, o Outcome, left bool),
) {
	c, leave, err := b.admit(ctx, scope, req, agree)
	if err != nil {
		then(nil, b.redact(scope, b.unconnected(ctx, scope, req, err)), false)
		return
	}
	defer leave() // also where the way to then, which leaves first, ends in a panic
	b.run(ctx, c, plan, b.noteBegin(req, plan, c), func(o Outcome, left bool) {
		o = b.redact(scope, o)
		leave()
		then(c, o, left)
	})
}

// admit checks that a call may be made now. One that had to wait for others is
// checked again. leave is to be called at its end.
func (b *Broker) admit(ctx context.Context, scope Scope, req Request, agree func(*call) *Error) (c *call, leave func(), err *Error) {
	if c, err = b.confirm(ctx, scope, req, agree); err != nil {
		return nil, nil, err
	}
	leave, waited, err := b.gates.enter(ctx, c)
	if err != nil {
		return nil, nil, err.before(req.Tool)
	}
	if waited {
		if c, err = b.confirm(ctx, scope, req, agree); err != nil {
			leave()
			return nil, nil, err
		}
	}
	return c, leave, nil
}

// confirm checks a call as Plan does, and that agree has nothing against it.
func (b *Broker) confirm(ctx context.Context, scope Scope, req Request, agree func(*call) *Error) (*call, *Error) {
	c, err := b.check(ctx, scope, req)
	if err == nil {
		err = agree(c)
	}
	if err == nil {
		err = b.know(ctx, c)
	}
	return c, err
}
