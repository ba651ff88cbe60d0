package heddle

import (
	"context"
	"fmt"
	"os"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/codemode/lookup"
	"github.com/heddle-dev/heddle/internal/blobs"
	"github.com/heddle-dev/heddle/internal/connect"
	"github.com/heddle-dev/heddle/internal/ledger"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
	"github.com/heddle-dev/heddle/workflows"
)

const (
	// cachedThreads bounds the threads that a worker keeps in memory between
	// their tasks. Each holds its transcript since the last continue-as-new, some
	// 50 KB as a rule and 2 MiB at most; one that is not cached is replayed.
	cachedThreads = 1000
	// activitiesAtOnce bounds what waits for a model or a tool at one time.
	activitiesAtOnce = 500
	// heartbeatInterval is the longest that the SDK may hold back a heartbeat. A
	// cancelled turn reaches an activity with the answer to one.
	heartbeatInterval = 2 * time.Second
	// deadlockAfter is how long a thread's workflow may run without a pause before it is
	// taken for one that never ends. It does so for milliseconds, but a machine that is busy
	// may give it no processor for some seconds.
	deadlockAfter = 9 * time.Second
)

// Run connects to the Temporal server and works until ctx ends. Then it takes no
// more tasks and lets the activities under way end, for as long as the
// configuration's stop_timeout; what is cut off after that is done again by
// another worker, or is known to be unknown. Run returns nil after such an end.
func (a *App) Run(ctx context.Context) error {
	err := a.run(ctx)
	if ctx.Err() != nil {
		return nil // what failed, failed because of that
	}
	return err
}

func (a *App) run(ctx context.Context) error {
	c, err := connect.Dial(ctx, a.connection, a.logger)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := ensureAttributes(ctx, c, a.connection.Namespace); err != nil {
		return err
	}
	store, err := blobs.Open(ctx, a.config.Blobs)
	if err != nil {
		return fmt.Errorf("store of large values (blobs): %w", err)
	}
	defer store.Close()
	a.files.open(guardedBlobs{store, a.exits})
	for _, stop := range a.closers {
		defer stop()
	}
	closeAudit, err := a.openAudit()
	if err != nil {
		return err
	}
	defer closeAudit()
	counts, err := a.toolCounts(ctx)
	if err != nil {
		return err
	}
	if err := a.checkElsewhere(ctx); err != nil {
		return err
	}
	stopConnections, err := a.serveConnections(ctx, signals.NewClient(c, &signals.Options{
		Namespace: a.connection.Namespace, DataConverter: a.connection.DataConverter, TaskQueue: a.config.TaskQueue,
	}))
	if err != nil {
		return err
	}
	defer stopConnections()

	tools := a.finder()
	snippets, closeSnippets, err := a.openSnippets(ctx, store, tools)
	if err != nil {
		return err
	}
	defer closeSnippets()

	meter, stopCounting := a.meter(c)
	defer stopCounting() // once the worker has stopped

	broken := make(chan error, 1)
	w := a.worker(c, meter, store, tools, snippets, func(err error) {
		select {
		case broken <- err:
		default: // one reason is enough
		}
	})
	if err := w.Start(); err != nil {
		return fmt.Errorf("start the worker: %w", err)
	}
	a.logger.Info("worker started", "address", a.connection.HostPort, "namespace", a.connection.Namespace,
		"task_queue", a.config.TaskQueue, "tools_by_agent", counts)
	select {
	case err := <-broken:
		return fmt.Errorf("the worker cannot go on: %w", err)
	case <-ctx.Done():
	}
	a.logger.Info("worker stopping", "stop_timeout", a.config.StopTimeout)
	w.Stop()
	a.logger.Info("worker stopped")
	return nil
}

// finder finds tools for models, in the application's order if it has one.
func (a *App) finder() *lookup.Lookup {
	tools := lookup.New(a.broker)
	if a.rerank != nil {
		tools.Rerank(a.rerank)
	}
	return tools
}

// worker wires the parts of a worker together.
func (a *App) worker(c client.Client, meter activities.Meter, store activities.Blobs, tools *lookup.Lookup, snippets activities.Snippets, broken func(error)) worker.Worker {
	worker.SetStickyWorkflowCacheSize(cachedThreads)
	near := newHandover()
	host, _ := os.Hostname() // only a label
	w := worker.New(c, a.config.TaskQueue, worker.Options{
		Identity:                           fmt.Sprintf("heddle %d@%s", os.Getpid(), host),
		MaxConcurrentActivityExecutionSize: activitiesAtOnce,
		MaxHeartbeatThrottleInterval:       heartbeatInterval,
		DefaultHeartbeatThrottleInterval:   heartbeatInterval,
		WorkerStopTimeout:                  a.config.StopTimeout,
		DeadlockDetectionTimeout:           deadlockAfter,
		OnFatalError:                       broken,
		Interceptors:                       []interceptor.WorkerInterceptor{near, a.exits},
	})
	threads := &workflows.Worker{Agents: a.agentNames(), Modes: a.broker.Modes().Names()}
	w.RegisterWorkflowWithOptions(threads.AgentThread, workflow.RegisterOptions{Name: contract.WorkflowType})
	w.RegisterWorkflowWithOptions(workflows.ListTools, workflow.RegisterOptions{Name: contract.ListToolsType})
	w.RegisterWorkflowWithOptions(workflows.Claim, workflow.RegisterOptions{Name: contract.ClaimType})
	w.RegisterWorkflowWithOptions(workflows.Lock, workflow.RegisterOptions{Name: contract.LockType})
	w.RegisterWorkflowWithOptions(workflows.TenantUsage, workflow.RegisterOptions{Name: contract.UsageType})
	claims := ledger.New(c, a.connection.DataConverter)
	var audit activities.Auditor
	if a.config.Audit != "" {
		audit = a.broker
	}
	w.RegisterActivity(&activities.Activities{
		Audit:  audit,
		Agents: a.agents,
		Broker: a.broker,
		Modes:  a.broker.Modes(),
		Threads: threadReader{
			reader: signals.NewReader(c, &signals.Options{Namespace: a.connection.Namespace, DataConverter: a.connection.DataConverter, Archive: store}),
			near:   near,
		},
		Blobs:    guardedBlobs{store, a.exits},
		Lookup:   tools,
		Ledger:   claims,
		Locks:    ledger.NewLocks(c, claims),
		Meter:    meter,
		Scripts:  a.scripts,
		Snippets: snippets,
	})
	return w
}

// meter counts what tenants use, where the configuration limits that: model turns, and
// by the broker the calls of tools.
func (a *App) meter(c client.Client) (meter activities.Meter, stop func()) {
	if len(a.config.Totals) == 0 {
		return nil, func() {}
	}
	m := ledger.NewMeter(c, a.config.TaskQueue, a.config.Totals, a.logger)
	a.broker.Meter(m)
	return m, m.Close
}
