package codemode

import (
	"context"
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/codemode/check"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

// checkingTenant is whose processes look at saved scripts.
const checkingTenant = "heddle.check"

// Check finds what is wrong with a script that is to be saved, against the tools of
// a broker: that it is no snippet, and calls that cannot succeed. No call is made.
// An error says that it could not be looked at.
func (r *Runner) Check(ctx context.Context, broker Broker, source string) ([]check.Finding, error) {
	of := &Runner{Options: r.Options}
	of.Broker = broker
	scope := catalog.Scope{Tenant: checkingTenant, Tools: []string{"*"}}
	tools, err := of.tools(ctx, scope, snippet.Program{Source: source})
	if err != nil {
		return nil, err
	}
	x, step, err := r.Engine.Start(ctx, snippet.Program{
		Tenant: checkingTenant, Source: source, Seed: "check", Now: time.Unix(0, 0), API: tools.api, Input: []byte("{}"), ListCalls: true,
	})
	if err != nil {
		return nil, fmt.Errorf("start it: %w", err)
	}
	defer x.Close()
	// It has run up to its first calls, on an input that need not fit: what it threw
	// says nothing.
	if step.End != nil && step.End.Error != nil && step.End.Error.Code == snippet.CodeSyntax {
		finding := check.Finding{Message: step.End.Error.Message}
		if at := step.End.Error.Position; at != nil {
			finding.Position = *at
		}
		return []check.Finding{finding}, nil
	}
	return tools.check(ctx, step.CallSites), nil
}
