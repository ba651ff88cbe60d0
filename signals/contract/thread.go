package contract

import "time"

// Start is the argument of the workflow: who opens the thread, and for which
// agent. It comes from the backend; a model never supplies any of it.
type Start struct {
	ThreadRef
	// Agent is the name of an agent that the worker has.
	Agent string `json:"agent"`
	// User is the person on whose behalf the thread acts. Empty: nobody, such as
	// a scheduled job.
	User string `json:"user,omitempty"`
	// Roles are the user's roles, for policy.
	Roles []string `json:"roles,omitempty"`
	// Mode is the mode in which the thread begins: ask, plan, build, review or one
	// that the workers define. Empty: the agent's own, if it has one.
	Mode string `json:"mode,omitempty"`
	// TurnLimits bound each turn of the thread, ThreadLimits all of them together.
	// They tighten the agent's and loosen nothing.
	TurnLimits   *Limits `json:"turn_limits,omitempty"`
	ThreadLimits *Limits `json:"thread_limits,omitempty"`
	// Policy are rules for the calls of the thread. They tighten what the workers and
	// the agent say, and loosen nothing. At most [MaxThreadPolicy] bytes as JSON.
	Policy []Rule `json:"policy,omitempty"`
	// PromptPolicy are those of the message that a turn answers. The thread itself sets
	// them for its activities; a backend gives them with the message.
	PromptPolicy []Rule `json:"prompt_policy,omitempty"`
}

// Rule takes some calls and says what becomes of them. The first that takes a call
// decides for its scope, the strictest scope for the call. A field that is empty does
// not restrict.
type Rule struct {
	// Name is how errors speak of the rule.
	Name string `json:"name,omitempty"`
	// Effect is allow, ask or block. Allow keeps later rules of the scope from the
	// call.
	Effect string `json:"effect"`
	// Tools are ids of tools or patterns such as orders.*, Namespaces the first parts
	// of ids, Operation read or write, Capabilities and Tags names or patterns such as
	// workspace.*, Modes names of modes.
	Tools        []string `json:"tools,omitempty"`
	Namespaces   []string `json:"namespaces,omitempty"`
	Operation    string   `json:"operation,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
	Tags         []string `json:"tags,omitempty"`
	Modes        []string `json:"modes,omitempty"`
	// When is a condition in CEL on the call.
	When string `json:"when,omitempty"`
	// Reason is told to the model or to the person who is asked.
	Reason string `json:"reason,omitempty"`
	// Approvers, of a rule that asks, is how many people must agree.
	Approvers int `json:"approvers,omitempty"`
}

// Limits bound what a turn or a thread may use. 0: no bound.
type Limits struct {
	// Steps bounds the replies of the model.
	Steps int `json:"steps,omitempty"`
	// Calls bounds the calls of tools, those of snippets included.
	Calls int `json:"calls,omitempty"`
	// Tokens bounds the sum of input and output tokens.
	Tokens int64 `json:"tokens,omitempty"`
	// CostMicros bounds the cost, in millionths of a US dollar.
	CostMicros int64 `json:"cost_micros,omitempty"`
	// InputBytes and OutputBytes bound the inputs and the outputs of its calls
	// together, as JSON.
	InputBytes  int64 `json:"input_bytes,omitempty"`
	OutputBytes int64 `json:"output_bytes,omitempty"`
	// TimeMS bounds how long it takes, in milliseconds; waits for a person do not
	// count.
	TimeMS int64 `json:"time_ms,omitempty"`
}

// Status of a thread or of a turn.
type Status string

// The states of a thread and of a turn.
const (
	StatusIdle      Status = "idle"      // thread: no turn runs and none is queued
	StatusQueued    Status = "queued"    // turn: waits for the turns before it
	StatusRunning   Status = "running"   // a turn runs
	StatusWaiting   Status = "waiting"   // a turn runs and waits for a person
	StatusCompleted Status = "completed" // turn: the agent has answered
	StatusFailed    Status = "failed"    // turn: ended by an error or a limit
	StatusCancelled Status = "cancelled" // turn: ended by a cancel_turn signal or a close
	StatusClosed    Status = "closed"    // thread: takes no more messages
)

// Ended reports whether a turn with this status is over.
func (s Status) Ended() bool {
	return s == StatusCompleted || s == StatusFailed || s == StatusCancelled
}

// State is what a thread is doing now.
type State struct {
	Start
	Status Status `json:"status"`
	// Turn is the running turn, if any.
	Turn *Turn `json:"turn,omitempty"`
	// Queue holds the turns that wait, first come first served.
	Queue []Turn `json:"queue,omitempty"`
	// Recent holds the last ended turns, oldest first; at most [RecentTurns].
	Recent []Turn `json:"recent,omitempty"`
	// Pending are the approvals that wait for a person, oldest first.
	Pending []Approval `json:"pending,omitempty"`
	// Reconciliations are those that are open, oldest first.
	Reconciliations []Reconciliation `json:"reconciliations,omitempty"`
	// Questions are those that wait for an answer, oldest first.
	Questions []Question `json:"questions,omitempty"`
	// Grants are the consents to further calls that stand.
	Grants []Grant `json:"grants,omitempty"`
	// Usage is the sum over all turns of the thread.
	Usage Usage `json:"usage"`
	// Messages is the length of the transcript.
	Messages int `json:"messages"`
	// Cursor is the timeline's newest sequence number.
	Cursor int64 `json:"cursor"`
	// FirstRunID is the run id with which the thread began; a thread that
	// continues as new keeps it.
	FirstRunID string `json:"first_run_id"`
	// Runs counts the runs of the thread so far, this one included.
	Runs int `json:"runs"`
}

// RecentTurns is how many ended turns a thread's state remembers.
const RecentTurns = 16

// Turn is one message to the agent and all that follows from it, up to the
// agent's answer.
type Turn struct {
	// ID is t1, t2, ... in the order of submission.
	ID string `json:"id"`
	// Submission is the id that the backend gave to the message.
	Submission string `json:"submission"`
	Status     Status `json:"status"`
	// Answer is the agent's final message, once completed; for a long one its
	// beginning, and the transcript has the whole at index AnswerIndex.
	Answer      string `json:"answer,omitempty"`
	AnswerIndex *int   `json:"answer_index,omitempty"`
	// Problem says why a failed or cancelled turn ended.
	Problem *Problem `json:"problem,omitempty"`
	// Steps is the number of model turns so far.
	Steps     int        `json:"steps"`
	Usage     Usage      `json:"usage"`
	StartedAt *time.Time `json:"started_at,omitempty"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`
}

// Usage is what model turns and tool calls have used.
type Usage struct {
	InputTokens  int64 `json:"input_tokens,omitempty"`
	OutputTokens int64 `json:"output_tokens,omitempty"`
	// Calls counts tool calls, those of snippets included.
	Calls int `json:"calls,omitempty"`
	// CostMicros is in millionths of a US dollar, as far as the agent's model
	// has a price in the configuration.
	CostMicros int64 `json:"cost_micros,omitempty"`
	// InputBytes and OutputBytes are the inputs and outputs of tool calls, as JSON.
	InputBytes  int64 `json:"input_bytes,omitempty"`
	OutputBytes int64 `json:"output_bytes,omitempty"`
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens:  u.InputTokens + v.InputTokens,
		OutputTokens: u.OutputTokens + v.OutputTokens,
		Calls:        u.Calls + v.Calls,
		CostMicros:   u.CostMicros + v.CostMicros,
		InputBytes:   u.InputBytes + v.InputBytes,
		OutputBytes:  u.OutputBytes + v.OutputBytes,
	}
}

// CancelTurn asks a thread to end a turn. A write that was sent is let to its
// end and recorded; reads stop, and approvals that wait are withdrawn.
type CancelTurn struct {
	// Turn is the turn to end, running or queued. Empty: the running turn.
	Turn   string `json:"turn,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Undo has what the turn did undone, in a turn of its own that comes next: see
	// [RunUndo]. Of a turn that has not begun there is nothing to undo.
	Undo bool `json:"undo,omitempty"`
}

// UndoID is the submission id of the first undo of a turn, so that it is asked for
// once: by a cancellation, or by a person.
func UndoID(turn string) string { return "undo-" + turn }

// Close ends a thread: the running turn and the queued ones are cancelled, the
// workflow completes, and the thread takes no more messages.
type Close struct {
	Reason string `json:"reason,omitempty"`
}
