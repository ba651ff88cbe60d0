package heddle

import (
	"context"
	"fmt"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/codemode"
	"github.com/heddle-dev/heddle/codemode/engine"
	"github.com/heddle-dev/heddle/codemode/lookup"
	"github.com/heddle-dev/heddle/codemode/sandbox"
)

// A program that imports this package can run snippets: it is run again as the
// child process that a snippet lives in. Such a process goes no further than here,
// whatever the program's main does. It serves from a goroutine of its own, since
// that of the initialisation is bound to one thread, which makes each step slower.
func init() {
	if sandbox.IsChild() {
		go sandbox.ChildMain()
		select {}
	}
}

// openSnippets makes what runs snippets, if an agent or a script needs it.
func (a *App) openSnippets(ctx context.Context, store activities.Blobs, tools *lookup.Lookup) (_ activities.Snippets, closeAll func(), _ error) {
	if !a.runsSnippets() {
		return nil, func() {}, nil
	}
	e, err := engine.New(engine.Options{Logger: a.logger, AllowUnhardened: a.config.Unhardened})
	if err != nil {
		return nil, nil, fmt.Errorf("agents of exposure code or auto, and scripts, need a sandbox for snippets (see sandbox in the configuration): %w", err)
	}
	stop := func() { _ = e.Close() }
	runner := codemode.New(codemode.Options{Engine: e, Broker: a.broker, Lookup: tools, Blobs: store})
	if err := a.checkScripts(ctx, runner); err != nil {
		stop()
		return nil, nil, err
	}
	return runner, stop, nil
}

// runsSnippets reports whether an agent's model may write snippets, or some are
// saved.
func (a *App) runsSnippets() bool {
	for _, agent := range a.agents {
		if agent.Exposure.RunsSnippets() {
			return true
		}
	}
	return len(a.scripts) > 0
}
