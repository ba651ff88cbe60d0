package contract

import (
	"encoding/json"
	"time"
)

// Kind of a timeline part.
type Kind string

// The kinds of part.
const (
	KindMessage        Kind = "message"        // the user's or the agent's words
	KindModel          Kind = "model"          // a model turn
	KindBatch          Kind = "batch"          // reads that run together; its calls are its children
	KindCall           Kind = "call"           // one tool call
	KindExecute        Kind = "execute"        // a snippet; the calls that it makes are its children
	KindSearch         Kind = "search"         // the model or a snippet looks for tools
	KindDescribe       Kind = "describe"       // the model or a snippet reads about tools
	KindApproval       Kind = "approval"       // a call waits, or waited, for a person
	KindQuestion       Kind = "question"       // a call asks, or asked, a person
	KindGrant          Kind = "grant"          // a consent to further calls of a tool
	KindReconciliation Kind = "reconciliation" // it is not known whether a write was applied
	KindSources        Kind = "sources"        // sources of tools are no longer as they were
	KindMilestone      Kind = "milestone"      // something to know, such as a turn's end
	KindError          Kind = "error"          // something was refused or failed
)

// PartStatus is how far a part is.
type PartStatus string

// The states of a part.
const (
	PartRunning   PartStatus = "running"
	PartWaiting   PartStatus = "waiting" // for a person or, see Part.Lock, a resource
	PartDone      PartStatus = "done"
	PartFailed    PartStatus = "failed"
	PartDenied    PartStatus = "denied"
	PartExpired   PartStatus = "expired"
	PartCancelled PartStatus = "cancelled"
)

// Visibility says for whom a part is meant.
type Visibility string

// The visibilities.
const (
	VisibleUser     Visibility = "user"     // the person who talks to the agent
	VisibleOperator Visibility = "operator" // the people who run it
)

// Part is one row of a thread's timeline. A part is updated in place: the same
// ID comes again with a higher Seq, and the newer replaces the older.
type Part struct {
	ID string `json:"id"`
	// Seq orders the parts and their updates over the whole thread, from 1. It
	// is the cursor for [TimelineQuery].
	Seq int64 `json:"seq"`
	// Revision counts the updates of this part, from 1.
	Revision   int        `json:"revision"`
	Kind       Kind       `json:"kind"`
	Visibility Visibility `json:"visibility"`
	Status     PartStatus `json:"status"`
	Turn       string     `json:"turn,omitempty"`
	Submission string     `json:"submission,omitempty"`
	// Parent is the id of the part that this one belongs to.
	Parent string `json:"parent,omitempty"`
	Title  string `json:"title"`
	// Role and Message say, for a message, whose it is and which of the
	// transcript; Text is its beginning, at most [MaxPartText] bytes.
	Role    Role   `json:"role,omitempty"`
	Message *int   `json:"message,omitempty"`
	Text    string `json:"text,omitempty"`
	// Tool is the tool's id, for a call or an approval.
	Tool string `json:"tool,omitempty"`
	// Undoes is, of a call that undoes another one, the id of that call.
	Undoes string `json:"undoes,omitempty"`
	// Approval is what a part of kind approval waits for.
	Approval *Approval `json:"approval,omitempty"`
	// Reconciliation is what a part of kind reconciliation is about, and Finding how
	// it was answered; without the result, which the transcript has.
	Reconciliation *Reconciliation `json:"reconciliation,omitempty"`
	Finding        *Reconcile      `json:"finding,omitempty"`
	// Question is what a part of kind question asks, and Answer what was answered,
	// without its content.
	Question *Question `json:"question,omitempty"`
	Answer   *Answer   `json:"answer,omitempty"`
	// Grant is what a part of kind grant is about; GrantID, of a call, names the grant
	// by which it needed no approval.
	Grant   *Grant `json:"grant,omitempty"`
	GrantID string `json:"grant_id,omitempty"`
	// Lock says, of a call that waits for its turn to work on a resource, who has it.
	Lock *Lock `json:"lock,omitempty"`
	// Decision is how it was decided.
	Decision *Decision `json:"decision,omitempty"`
	// Policy is the rule of the policy that decided about a call, if one did.
	Policy *PolicyDecision `json:"policy,omitempty"`
	// Sources are those that a part of kind sources tells of.
	Sources []SourceState `json:"sources,omitempty"`
	// Problem says what went wrong.
	Problem *Problem `json:"problem,omitempty"`
	// Progress counts what is done of a part with several pieces, and of a call as far
	// as its source tells.
	Progress *Progress `json:"progress,omitempty"`
	// Usage is what the part has used, with all that is within it: of a turn, a model
	// turn, a snippet, a batch, a call.
	Usage *Usage `json:"usage,omitempty"`
	// StartedAt never changes, so that clients can order by (StartedAt, ID).
	StartedAt  time.Time  `json:"started_at"`
	EndedAt    *time.Time `json:"ended_at,omitempty"`
	DurationMS int64      `json:"duration_ms,omitempty"`
}

// PolicyDecision is a rule of the workers' policy that decided about a call.
type PolicyDecision struct {
	// Verdict is allow, ask or block.
	Verdict string `json:"verdict"`
	// Rule is its name, and Place where it stands, such as heddle.yaml:12:5.
	Rule  string `json:"rule"`
	Place string `json:"place,omitempty"`
}

// Progress of a part.
type Progress struct {
	Done int `json:"done"`
	// Total is 0 where it is not known.
	Total int `json:"total"`
	// Message is what whoever carries out the call says of it.
	Message string `json:"message,omitempty"`
}

// Beat is what the heartbeats of a thread's activities tell of what they carry out,
// beside what is their own. It stands in no history: the server has the last one, and
// [Part.Progress] of a part that runs is made of it.
type Beat struct {
	// Progress is by the ids of parts.
	Progress map[string]Progress `json:"progress,omitempty"`
}

// TimelineQuery asks for the parts whose Seq is greater than After.
type TimelineQuery struct {
	After int64 `json:"after"`
	// Limit bounds the answer; 0 means [MaxParts], which is also the most.
	Limit int `json:"limit,omitempty"`
}

// TimelinePage answers a [TimelineQuery], ordered by Seq.
type TimelinePage struct {
	Parts []Part `json:"parts"`
	// Cursor is the After to go on from.
	Cursor int64 `json:"cursor"`
	// More says that there are more parts now.
	More bool `json:"more,omitempty"`
	// Status of the thread, so that a follower knows when to stop.
	Status Status `json:"status"`
	Earlier
}

// Problem is an error as the timeline, a turn and the model see it.
type Problem struct {
	// Code is stable and meant for programs, such as approval_denied.
	Code string `json:"code"`
	// Message is meant for people.
	Message string `json:"message"`
	// Details depends on the code.
	Details json.RawMessage `json:"details,omitempty"`
}

// Error makes a Problem an error.
func (p *Problem) Error() string { return p.Code + ": " + p.Message }
