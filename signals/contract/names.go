package contract

import (
	"fmt"
	"strings"
)

// WorkflowType is the Temporal workflow type of an agent thread. Its one
// argument is a [Start].
const WorkflowType = "AgentThread"

// TaskQueue is the task queue of threads and their activities unless the
// worker's configuration names another.
const TaskQueue = "heddle"

// Updates of a thread. An update answers the caller, after its validator has
// refused what cannot be right; it needs a running worker.
const (
	// UpdateSubmit takes a [Submission] and answers with a [Submitted]. Send it
	// as update-with-start to open the thread in the same call.
	UpdateSubmit = "submit"
	// UpdateDecide takes a [Decision] and answers with a [Decided].
	UpdateDecide = "decide"
	// UpdateAnswer takes an [Answer] and answers with an [Answered].
	UpdateAnswer = "answer"
	// UpdateSetMode takes a [SetMode] and answers with a [ModeSet].
	UpdateSetMode = "set_mode"
)

// Signals of a thread. A signal is taken by the server even while no worker
// runs; what is wrong with it shows as a part of kind "error" in the timeline. One
// that is no JSON at all is dropped, with a line in the worker's log.
const (
	// SignalSubmit takes a [Submission].
	SignalSubmit = "submit"
	// SignalApproval takes a [Decision].
	SignalApproval = "approval"
	// SignalReconcile takes a [Reconcile].
	SignalReconcile = "reconcile"
	// SignalAnswer takes an [Answer].
	SignalAnswer = "answer"
	// SignalCancelTurn takes a [CancelTurn].
	SignalCancelTurn = "cancel_turn"
	// SignalSetMode takes a [SetMode].
	SignalSetMode = "set_mode"
	// SignalRevokeGrant takes a [RevokeGrant].
	SignalRevokeGrant = "revoke_grant"
	// SignalClose takes a [Close].
	SignalClose = "close"
)

// Queries of a thread. A query adds nothing to the thread's history.
const (
	// QueryState takes nothing and answers with a [State].
	QueryState = "state"
	// QueryTimeline takes a [TimelineQuery] and answers with a [TimelinePage].
	QueryTimeline = "timeline"
	// QueryTranscript takes a [TranscriptQuery] and answers with a [TranscriptPage].
	QueryTranscript = "transcript"
	// QueryCalls takes a [CallsQuery] and answers with a [CallsPage]: the open
	// tool calls with their exact input.
	QueryCalls = "calls"
	// QueryQueue takes nothing and answers with a [QueuePage]: the messages that
	// wait for their turn.
	QueryQueue = "queue"
)

// Search attributes of a thread, to be registered in the namespace.
const (
	// AttributeTenant (Keyword) is the tenant that owns the thread.
	AttributeTenant = "HeddleTenant"
	// AttributeAgent (Keyword) is the agent that the thread talks to.
	AttributeAgent = "HeddleAgent"
	// AttributeStatus (Keyword) is one of the Search* values.
	AttributeStatus = "HeddleStatus"
	// AttributePending (KeywordList) holds the kinds of part that wait for a
	// person, so that HeddlePending = "approval" finds the threads to decide on, and
	// HeddlePending = "question" those that ask.
	AttributePending = "HeddlePending"
)

// Values of [AttributeStatus]. Each change costs an event, so the attribute
// says what an operator acts on and not whether a turn runs just now: that is
// in [State] and in the workflow's current details.
const (
	// SearchActive: nothing for a person to do.
	SearchActive = "active"
	// SearchWaiting: the thread waits for a person, see [AttributePending].
	SearchWaiting = "waiting"
	// SearchFailed: the last turn ended in an error.
	SearchFailed = "failed"
	// SearchClosed: the thread was closed.
	SearchClosed = "closed"
)

// ThreadRef names a thread.
type ThreadRef struct {
	// Tenant owns the thread. 1 to 64 characters of A-Z a-z 0-9 . _ -
	Tenant string `json:"tenant"`
	// Thread is the thread's name within its tenant, of the same form, 1 to 128
	// characters.
	Thread string `json:"thread"`
}

// WorkflowID returns the workflow id of the thread: thread/<tenant>/<thread>.
func (r ThreadRef) WorkflowID() string { return "thread/" + r.Tenant + "/" + r.Thread }

// String returns <tenant>/<thread>, the form in which people name a thread.
func (r ThreadRef) String() string { return r.Tenant + "/" + r.Thread }

// ParseThreadRef reads <tenant>/<thread> or a thread's workflow id.
func ParseThreadRef(s string) (ThreadRef, error) {
	tenant, thread, ok := strings.Cut(strings.TrimPrefix(s, "thread/"), "/")
	ref := ThreadRef{Tenant: tenant, Thread: thread}
	if !ok {
		return ThreadRef{}, fmt.Errorf("thread %q: want <tenant>/<thread>", s)
	}
	if err := ref.Validate(); err != nil {
		return ThreadRef{}, err
	}
	return ref, nil
}
