package workflows

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// Worker is what the workflows know of the worker that runs them. Only
// validators and recorded side effects read it, so another worker may know
// other agents.
type Worker struct {
	// Agents are the names of the agents of this worker.
	Agents []string
	// Modes are the names of the modes that a thread can be put into.
	Modes []string
}

// Input is the argument of the workflow: a backend's [contract.Start] and, after
// a continue-as-new, what the run before left.
type Input struct {
	contract.Start
	Carried *Carried `json:"carried,omitempty"`
}

// AgentThread is one durable conversation with one agent.
func (w *Worker) AgentThread(ctx workflow.Context, in Input) error {
	t, err := w.setUp(ctx, in)
	if err != nil {
		return err
	}
	return t.run()
}

// thread is the state of a thread within one run.
type thread struct {
	// ctx outlives a cancellation of the workflow, which ends the thread in
	// order; see inbox.go.
	ctx   workflow.Context
	log   log.Logger
	start contract.Start
	info  *workflow.Info
	// worker is asked by validators and in recorded side effects alone.
	worker *Worker

	timeline
	transcript
	inbox
	undoing
	waiting
	asking
	grants
	auditing
	telling
	reconciling
	shown searchable

	// changed are tools that are not what people had agreed to.
	changed []ChangedTool
	// executions are the snippets of the calls that are being carried out, kept the
	// results of which the agent was shown an outline.
	executions []*execution
	kept       []contract.KeptResult
	// keyed are the effects of the model turn that have asked for the lock of a
	// resource.
	keyed []*call

	// current is the turn that runs, if any.
	current *turn
	recent  []contract.Turn
	turns   int // how many turns there have been, queued ones included
	usage   contract.Usage
	// steps and spent are the steps and the time of the turns that have ended.
	steps int
	spent time.Duration
	runs  int
	// closing says why the thread ends; cancelled that the workflow was cancelled.
	closing   *contract.Close
	cancelled bool
	closed    bool
	// rolling says that the run is about to give way to the next.
	rolling bool
	// admitting says that no worker is known yet that has the agent.
	admitting bool
}

func (w *Worker) setUp(ctx workflow.Context, in Input) (*thread, error) {
	detached, _ := workflow.NewDisconnectedContext(ctx)
	t := &thread{
		ctx:   detached,
		log:   workflow.GetLogger(ctx),
		start: in.Start,
		info:  workflow.GetInfo(ctx),
		runs:  1,

		worker: w,
	}
	t.shown.status = contract.SearchActive
	// Only a run can leave something to the next: a starter cannot.
	if in.Carried != nil && t.info.ContinuedExecutionRunID != "" {
		t.resume(in.Carried)
	} else if err := in.Start.Validate(); err != nil {
		return nil, temporal.NewNonRetryableApplicationError(err.Error(), contract.ErrInvalid, nil)
	} else {
		t.admitting = !w.knows(ctx, in.Agent)
		t.label()
	}
	if err := t.answerQueries(); err != nil {
		return nil, err
	}
	if err := t.receive(ctx); err != nil {
		return nil, err
	}
	if t.admitting {
		return t, t.admit()
	}
	return t, nil
}

// knows asks the worker whether it has an agent. The answer is recorded, so that
// a replay by a worker with other agents goes the same way.
func (w *Worker) knows(ctx workflow.Context, agent string) (known bool) {
	summary := workflow.SideEffectOptions{Summary: "does the worker have the agent " + agent + "?"}
	encoded := workflow.SideEffectWithOptions(ctx, summary, func(workflow.Context) any { return slices.Contains(w.Agents, agent) })
	return encoded.Get(&known) == nil && known
}

// admit looks for another worker that has the agent, as there is while a new
// configuration is rolled out. A thread that finds none can never work, and fails.
func (t *thread) admit() error {
	err := workflow.ExecuteActivity(workflow.WithActivityOptions(t.ctx, admitOptions()), a.Admit, t.start).Get(t.ctx, nil)
	if err != nil {
		return temporal.NewNonRetryableApplicationError(
			fmt.Sprintf("agent: no worker has an agent %q", t.start.Agent), contract.ErrUnknownAgent, nil)
	}
	t.admitting = false
	return nil
}

// run answers messages until the thread is closed or gives way to its next run.
func (t *thread) run() error {
	for {
		t.show()
		err := workflow.Await(t.ctx, func() bool {
			return t.current != nil || len(t.queue) > 0 || t.closing != nil || t.full()
		})
		t.catchUp()
		switch {
		case err != nil:
			return err
		case t.full():
			return t.rollOver()
		case t.current != nil: // a turn that the run before began
			t.runTurn(t.current)
		case t.closing != nil:
			return t.close()
		case len(t.queue) == 0: // what waited was cancelled
		default:
			t.runTurn(t.begin(t.dequeue()))
		}
	}
}

// full reports whether the run should give way to the next.
func (t *thread) full() bool {
	return t.info.GetContinueAsNewSuggested() ||
		t.info.GetCurrentHistoryLength() >= rollOverEvents ||
		t.info.GetCurrentHistorySize() >= rollOverBytes
}

// close ends the thread. The turn that ran has ended by now.
func (t *thread) close() error {
	for len(t.queue) > 0 {
		t.cancelQueued(t.dequeue(), t.closing.Reason)
	}
	t.closed = true
	t.dropDoubts()
	t.put(part("close", contract.KindMilestone, contract.PartDone, "Thread closed").with(func(p *contract.Part) {
		p.Text = t.closing.Reason
	}))
	t.show()
	if err := workflow.Await(t.ctx, func() bool { return workflow.AllHandlersFinished(t.ctx) && t.noting == 0 }); err != nil {
		return err
	}
	if t.cancelled {
		return temporal.NewCanceledError()
	}
	return nil
}

// maxArchivings bounds how often a run that gives way archives what came in while
// it archived. Past that the next run is given it.
const maxArchivings = 20

// rollOver archives what this run holds and continues as new. It happens between
// turns or between the steps of one, when no activity is in flight.
func (t *thread) rollOver() error {
	if err := workflow.Await(t.ctx, func() bool { return !t.unsettled() }); err != nil {
		return err
	}
	t.rolling = true // from here on, updates are told to come again
	if err := t.putExecutionsAside(); err != nil {
		return err
	}
	t.leaveGrants()
	ctx := workflow.WithActivityOptions(t.ctx, archiveOptions())
	in := activities.ArchiveInput{From: t.first, To: t.length(), After: t.archivedSeq, Archive: t.archive}
	for n := 1; ; n++ { // signals come in meanwhile, and may bring parts and messages
		var archived activities.ArchiveResult
		if err := workflow.ExecuteActivity(ctx, a.Archive, in).Get(t.ctx, &archived); err != nil {
			return fmt.Errorf("archive the run: %w", err)
		}
		in = activities.ArchiveInput{From: in.To, To: in.To, After: archived.Cursor, Archive: &archived.Archive}
		for t.queueIsLong() {
			var stored activities.StoreQueueResult
			if err := workflow.ExecuteActivity(ctx, a.StoreQueue).Get(t.ctx, &stored); err != nil {
				return fmt.Errorf("archive the queue: %w", err)
			}
			t.putAside(stored.Refs)
		}
		err := workflow.Await(t.ctx, func() bool { return workflow.AllHandlersFinished(t.ctx) && !t.unsettled() })
		if err != nil {
			return err
		}
		t.drain()
		if n >= maxArchivings || len(t.endedAfter(in.After)) <= tail && !t.queueIsLong() && !t.unsettled() {
			break
		}
	}
	next := Input{Start: t.start, Carried: t.carry(*in.Archive, in.After)}
	return workflow.NewContinueAsNewError(t.ctx, contract.WorkflowType, next)
}
