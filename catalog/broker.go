package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
)

// Broker is the one way to the tools of several sources. It is safe for
// concurrent use.
type Broker struct {
	sources []*source
	schemas schemas
	secrets Secrets
	policy  Policy
	modes   Modes
}

// New returns a broker of the sources' tools. It lists each source once and
// refuses what a source's author must put right: an id that is illegal or used
// twice, and a descriptor that is incomplete. A source that cannot be listed now,
// or not within ten seconds, is no error; its tools are there as soon as it can. A
// [Remote] source is not listed yet.
func New(sources ...Source) (*Broker, error) {
	modes, err := NewModes()
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	b := &Broker{modes: modes}
	for i, s := range sources {
		if s == nil {
			return nil, fmt.Errorf("catalog: source number %d is nil", i+1)
		}
		b.sources = append(b.sources, &source{Source: s})
	}
	var faults []error
	places := map[string]string{}
	for _, l := range b.Here().list(context.Background(), Scope{}) {
		for _, tool := range l.tools {
			place := fmt.Sprintf("%s (source %s)", cmp.Or(tool.Source, "unknown place"), quote(l.source.Name()))
			if err := checkTool(tool); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", place, err))
				continue
			}
			if first, twice := places[tool.ID]; twice {
				faults = append(faults, fmt.Errorf("tool id %s is used twice: at %s and at %s", quote(tool.ID), first, place))
				continue
			}
			places[tool.ID] = place
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	return b, nil
}

// Plan checks a request and says what it takes. It does nothing outside. What
// is wrong with the request is in the plan's Error.
func (b *Broker) Plan(ctx context.Context, scope Scope, req Request) Plan {
	c, err := b.check(ctx, scope, req)
	if err != nil {
		return b.redactPlan(scope, Plan{Tool: req.Tool, Error: err})
	}
	return b.redactPlan(scope, c.plan())
}

// Dispatch carries out a request as planned. It checks all that Plan checks
// again, and calls nothing when the tool or the input is not what was planned.
func (b *Broker) Dispatch(ctx context.Context, scope Scope, req Request, plan Plan) Outcome {
	c, err := b.check(ctx, scope, req)
	if err == nil {
		err = c.agrees(plan)
	}
	if err == nil {
		err = b.know(ctx, c)
	}
	if err != nil {
		return b.redact(scope, Outcome{Error: err})
	}
	return b.redact(scope, c.run(ctx, plan.Timeout, req.Before))
}

// sourceListing is what one source has, or why it cannot be read.
type sourceListing struct {
	source *source
	tools  []Tool
	err    error
}

// list asks all sources at once that the scope may have tools of; one that fails has
// no tools and an error. The answers come in the order of the sources.
func (b *Broker) list(ctx context.Context, scope Scope) []sourceListing {
	all := make([]sourceListing, len(b.sources))
	var wg sync.WaitGroup
	for i, s := range b.sources {
		if all[i].source = s; !scope.reaches(s) {
			continue
		}
		wg.Go(func() {
			tools, err := s.list(ctx)
			all[i] = sourceListing{s, tools, err}
		})
	}
	wg.Wait()
	return all
}
