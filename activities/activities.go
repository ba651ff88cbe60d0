package activities

import (
	"context"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// Activities are the activities of agent threads, with what they depend on.
// Workflow code names them through a nil pointer; a worker registers a filled
// one.
type Activities struct {
	// Agents are the agents of this worker, by name.
	Agents map[string]Agent
	// Broker is the way to the tools.
	Broker Broker
	// Modes are the modes that a thread can be in.
	Modes catalog.Modes
	// Threads reads the thread that an activity works for.
	Threads Threads
	// Blobs is the content-addressed store that all workers share.
	Blobs Blobs
	// Audit records what people decide. Nil where there is no audit log.
	Audit Auditor
	// Ledger keeps the claims of writes.
	Ledger Ledger
	// Locks keeps writes to one resource apart.
	Locks Locks
	// Meter counts model turns. Nil where no tenant's totals are limited.
	Meter Meter
	// Lookup answers what a model asks about tools. Nil where no agent has
	// [ExposureGateway] or eager tools.
	Lookup Lookup
	// Scripts are the sources of the saved scripts, by the ids of their tools.
	Scripts map[string]string
	// Snippets runs snippets. Nil where no agent's exposure needs it.
	Snippets Snippets
}

// Agent is an agent as configured: whom a thread talks to.
type Agent struct {
	Name string
	// Instructions are the model's system prompt.
	Instructions string
	Model        Model
	// ModelName is the vendor's name of the model.
	ModelName string
	// MaxOutputTokens bounds a reply. 0: the vendor's default.
	MaxOutputTokens int
	// Tools are globs over the ids of the tools that the agent may use.
	Tools []string
	// Exposure is how the model reaches them.
	Exposure Exposure
	// Eager are globs over the ids of the tools whose signatures the instructions
	// have.
	Eager []string
	// Limits bound a turn.
	Limits Limits
	// Mode is that of a thread whose backend chose none.
	Mode string
	// Price turns tokens into cost.
	Price Price
}

// Price of a model, in millionths of a US dollar per million tokens.
type Price struct {
	Input  int64
	Output int64
}

// Broker is the way to the tools. *[catalog.Broker] is one.
type Broker interface {
	// Tools lists what the scope may use, ordered by id.
	Tools(ctx context.Context, scope catalog.Scope) ([]catalog.Descriptor, error)
	// List lists the same without the schemas.
	List(ctx context.Context, scope catalog.Scope) ([]catalog.Descriptor, error)
	// Conditions say how the sources of the scope's tools have answered when they were
	// last asked. It asks nothing.
	Conditions(scope catalog.Scope) []catalog.Condition
	// Plan checks a request and says what it takes. It does nothing outside.
	Plan(ctx context.Context, scope catalog.Scope, req catalog.Request) catalog.Plan
	// CheckRules says what is wrong with the rules of a thread and of its message.
	CheckRules(scope catalog.Scope) error
	// Dispatch carries a planned request out.
	Dispatch(ctx context.Context, scope catalog.Scope, req catalog.Request, plan catalog.Plan) catalog.Outcome
	// Reconcile asks what became of a write that was dispatched.
	Reconcile(ctx context.Context, scope catalog.Scope, req catalog.Request, plan catalog.Plan) (catalog.Reconciled, error)
}

// Threads reads a thread from within one of its activities.
type Threads interface {
	// Transcript returns the messages 0 to in.Upto (exclusive), archived ones
	// included.
	Transcript(ctx context.Context, run RunRef, in ModelTurnInput) ([]contract.Message, error)
	// Messages returns the messages from (inclusive) to to (exclusive) that the
	// run itself holds.
	Messages(ctx context.Context, run RunRef, from, to int) ([]contract.Message, error)
	// Queue returns the submissions that wait for their turn.
	Queue(ctx context.Context, run RunRef) ([]contract.Submission, error)
	// Parts returns the timeline parts that the run itself holds and that have
	// ended.
	Parts(ctx context.Context, run RunRef) ([]contract.Part, error)
	// Calls returns open calls by id, in the order asked; one that is missing is
	// an error.
	Calls(ctx context.Context, run RunRef, ids []string) ([]contract.Call, error)
	// Execution returns what a segment begins with.
	Execution(ctx context.Context, run RunRef, in SegmentInput) (contract.ExecutionPage, error)
}

// RunRef names one run of a thread's workflow.
type RunRef struct {
	WorkflowID string
	RunID      string
}

// Blobs is a content-addressed store.
type Blobs interface {
	// Put stores a value; storing it again is no error.
	Put(ctx context.Context, value []byte) (contract.Ref, error)
	// Get returns the value, after checking that it is the one referred to.
	Get(ctx context.Context, ref contract.Ref) ([]byte, error)
}
