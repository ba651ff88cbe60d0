package codemode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/codemode/engine"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

// Broker is the way to the tools. *[catalog.Broker] is one.
type Broker interface {
	// DispatchRead carries out a read that nobody has to agree to, and plans any other call.
	DispatchRead(ctx context.Context, scope catalog.Scope, req catalog.Request, then func(catalog.Reading))
	// Snapshot is what the sources list now.
	Snapshot(ctx context.Context, scope catalog.Scope) (*catalog.Snapshot, error)
	// Lookup describes one tool, with its schemas.
	Lookup(ctx context.Context, scope catalog.Scope, id string) (catalog.Descriptor, error)
	// Nearest are ids that may be meant by one that there is not.
	Nearest(ctx context.Context, scope catalog.Scope, id string) []string
}

// Lookup answers what a snippet asks about the tools there are: tools.search and
// tools.describe. An error that is a *[catalog.Error] reaches the snippet as it is.
type Lookup interface {
	Search(ctx context.Context, scope catalog.Scope, input json.RawMessage) (json.RawMessage, error)
	Describe(ctx context.Context, scope catalog.Scope, input json.RawMessage) (json.RawMessage, error)
}

// Budget bounds one execution as a whole. A field that is zero takes the value of
// [DefaultBudget]; the limits of single steps are the engine's.
type Budget struct {
	// Wall is the time that it may take; waits for people and sleeps do not count.
	Wall time.Duration
	// Bytes bounds the results of its calls together.
	Bytes int64
}

// DefaultBudget is the budget where nothing else is said.
var DefaultBudget = Budget{Wall: 5 * time.Minute, Bytes: 64 << 20}

// Options say what a runner works with.
type Options struct {
	Engine *engine.Engine
	Broker Broker
	Lookup Lookup
	// Blobs holds the results that tools.result reads.
	Blobs  activities.Blobs
	Budget Budget
}

// Runner runs snippets. It is safe for concurrent use.
type Runner struct {
	Options
}

var _ activities.Snippets = (*Runner)(nil)

// New makes a runner. All options but the budget are needed.
func New(options Options) *Runner {
	if options.Budget.Wall == 0 {
		options.Budget.Wall = DefaultBudget.Wall
	}
	if options.Budget.Bytes == 0 {
		options.Budget.Bytes = DefaultBudget.Bytes
	}
	return &Runner{Options: options}
}

// maxRuns bounds how often a stretch is run whose child process died of no limit.
const maxRuns = 3

// Run takes a snippet up where its journal ends; see [activities.Snippets].
func (r *Runner) Run(ctx context.Context, in activities.Stretch) (activities.StretchResult, error) {
	for n := 1; ; n++ {
		result, crashed, err := r.run(ctx, in)
		var diverged *engine.DivergenceError
		switch {
		case errors.As(err, &diverged):
			return result, fmt.Errorf("%w: %s", activities.ErrDiverged, diverged.Error())
		case err != nil || !crashed || n == maxRuns:
			return result, err
		}
	}
}

// run runs a stretch once. It reports whether the snippet's process died, which may
// not be the snippet's fault.
func (r *Runner) run(ctx context.Context, in activities.Stretch) (_ activities.StretchResult, crashed bool, _ error) {
	tools, err := r.tools(ctx, in.Scope, in.Program)
	if err != nil {
		return activities.StretchResult{}, false, err
	}
	program := in.Program
	program.API = tools.api
	program.ListCalls = len(program.Journal.Calls) == 0
	x, step, err := r.Engine.Start(ctx, program)
	if err != nil {
		return activities.StretchResult{}, false, err
	}
	defer x.Close()
	s := newStretch(ctx, r, in, x)
	defer s.stop()
	if findings := tools.check(ctx, step.CallSites); len(findings) > 0 {
		return activities.StretchResult{End: s.refused(findings)}, false, nil
	}
	if err := s.play(step); err != nil {
		return activities.StretchResult{}, false, err
	}
	crashed = s.end != nil && s.end.Error != nil && s.end.Error.Code == snippet.CodeCrashed
	return s.result(), crashed, nil
}
