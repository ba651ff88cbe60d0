package activities

import (
	"encoding/json"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// Near is what the activity will read from the thread. It never leaves the
// process: a worker whose workflow task and activity run in one process can hand
// it over and save the query (see the root package), and every other reads it by
// query. So it must be exactly what the query would answer.
type Near struct {
	// First is the index of the first of Messages.
	First    int
	Messages []contract.Message
	Calls    []contract.Call
	// Execution is what a segment begins with.
	Execution *contract.ExecutionPage
}

// ModelTurnInput asks for the agent's next message.
type ModelTurnInput struct {
	Thread contract.Start `json:"thread"`
	Turn   string         `json:"turn"`
	// Step numbers the model turns of a turn from 1.
	Step int `json:"step"`
	// Upto is the length of the transcript that the model is to see.
	Upto int `json:"upto"`
	// Message is a digest of the user's message, on the first step of a turn. That
	// step follows in the workflow task that took the message: should the task be
	// lost and done again with another message, the digest tells the two apart.
	Message string `json:"message,omitempty"`
	// Used is what the thread has used before the turn, on its first step.
	Used *Used `json:"used,omitempty"`
	// Told is what the thread was told last of sources of tools that are not well.
	Told []SourceTold `json:"told,omitempty"`
	// Run is set in a turn that runs a snippet or makes a call, and asks no model.
	Run contract.Run `json:"run,omitempty"`
	// Script names the saved script that is run, Tool the tool that is called.
	Script string `json:"script,omitempty"`
	Tool   string `json:"tool,omitempty"`
	Near   Near   `json:"-"`
}

// ModelTurnResult is the agent's next message, its calls already planned.
type ModelTurnResult struct {
	// Text is what the agent says; a long one is cut and Body refers to the whole.
	Text string        `json:"text,omitempty"`
	Body *contract.Ref `json:"body,omitempty"`
	// Reasoning is the beginning of what the model thought, where it tells.
	Reasoning string         `json:"reasoning,omitempty"`
	Calls     []PlannedCall  `json:"calls,omitempty"`
	Stop      StopReason     `json:"stop"`
	Model     string         `json:"model,omitempty"`
	Usage     contract.Usage `json:"usage"`
	// Sources are the sources of tools that are no longer as the thread was told.
	Sources []contract.SourceState `json:"sources,omitempty"`
	// Limits are the agent's as configured now; only on the first step of a turn.
	Limits *Limits `json:"limits,omitempty"`
	// Audited says that the worker keeps an audit log; only on the first step of a turn.
	Audited bool `json:"audited,omitempty"`
	// Refused says why the turn cannot go on, and that no model was asked: a limit of
	// the thread or of its tenant, or rules of its backend that cannot be used. But for
	// the tenant's it is on the first step of a turn alone.
	Refused *contract.Problem `json:"refused,omitempty"`
}

// PlannedCall is a call that the model asked for, and what the broker says of it.
type PlannedCall struct {
	contract.Call
	// Kind says how the call is carried out.
	Kind CallKind `json:"kind,omitempty"`
	// Number is the call's within the snippet that made it; 0: the model did.
	Number int `json:"number,omitempty"`
	// Source refers to the source of a saved script that the call runs.
	Source *contract.Ref `json:"source,omitempty"`
	// Plan says what the call takes. Its Error is never set: see Problem.
	Plan catalog.Plan `json:"plan"`
	// Problem says why the call cannot be made at all.
	Problem *contract.Problem `json:"problem,omitempty"`
	// Asks is what the call asks before it can go on. A read that was made within a
	// snippet is then made again, with an answer; a call without a plan is planned.
	Asks *Asked `json:"asks,omitempty"`
	// Described refers to the tool's descriptor, where a person is asked: what the next
	// plan is compared with if it has changed when the call is to be made. Changed says,
	// of such a plan, what has changed.
	Described *contract.Ref `json:"described,omitempty"`
	Changed   string        `json:"changed,omitempty"`
}

// CallKind says how a call is carried out.
type CallKind string

// The kinds of calls. The zero value is a call of a tool.
const (
	// CallExecute runs a snippet, in segments.
	CallExecute CallKind = "execute"
	// CallConnect has a person connect a source of tools, and is over when they have.
	CallConnect CallKind = "connect"
	// CallSearch and CallDescribe ask about tools, and are made as reads.
	CallSearch   CallKind = "search"
	CallDescribe CallKind = "describe"
)

// CallRef names an open call. The activity reads its input from the thread and
// checks it against the digest, so that what was planned, and shown to a person,
// is what runs.
type CallRef struct {
	ID   string `json:"id"`
	Tool string `json:"tool"`
	// Kind is set for what is no call of a tool.
	Kind             CallKind `json:"kind,omitempty"`
	DescriptorDigest string   `json:"descriptor_digest"`
	InputDigest      string   `json:"input_digest"`
	// Approved says that a person agreed to the call, Granted that they did so
	// beforehand, and Approvers how many had to.
	Approved  bool `json:"approved,omitempty"`
	Granted   bool `json:"granted,omitempty"`
	Approvers int  `json:"approvers,omitempty"`
}

// BatchReadInput asks for reads that may run together.
type BatchReadInput struct {
	Thread contract.Start `json:"thread"`
	Calls  []CallRef      `json:"calls"`
	Near   Near           `json:"-"`
}

// BatchReadResult holds one result per call, in the order of the calls.
type BatchReadResult struct {
	Results []CallResult `json:"results"`
}

// WriteInput asks for one write.
type WriteInput struct {
	Thread contract.Start `json:"thread"`
	// Root is the run id with which the thread began; see [IdempotencyKey].
	Root string  `json:"root"`
	Call CallRef `json:"call"`
	// Resource is what the write works on; see [catalog.Plan]. Empty: nothing that
	// others could work on too.
	Resource string `json:"resource,omitempty"`
	// Waited says that the write has a place at the lock of its resource.
	Waited bool `json:"waited,omitempty"`
	// Attempt numbers the attempts from 1. There is another only when the one
	// before is known to have sent nothing, or where Again is set.
	Attempt int `json:"attempt,omitempty"`
	// Again says that the write may have been sent before and may be sent once more,
	// since its target honours the key.
	Again bool `json:"again,omitempty"`
	// Answer is the answer to what the call has asked.
	Answer *AnswerInput `json:"answer,omitempty"`
	Near   Near         `json:"-"`
}

// CallResult is how a call ended: with a result, or with a problem.
type CallResult struct {
	ID string `json:"id"`
	// Result is the tool's output; a long one is cut, and is then a JSON string
	// with its beginning, and Body refers to the whole.
	Result  json.RawMessage   `json:"result,omitempty"`
	Body    *contract.Ref     `json:"body,omitempty"`
	Warning string            `json:"warning,omitempty"`
	Problem *contract.Problem `json:"problem,omitempty"`
	// Asks is what the call asks before it can go on: nothing was applied. Problem
	// says so too.
	Asks *Asked `json:"asks,omitempty"`
	// Undo says how a write that was applied is undone, where its tool says so.
	Undo *catalog.Undo `json:"undo,omitempty"`
	// NotSent says of a write with a problem that nothing of it was sent, and that
	// another attempt may go better.
	NotSent bool `json:"not_sent,omitempty"`
	// Waits says of a write that was not sent who has its resource: it has a place
	// among those who wait for it.
	Waits *contract.Lock `json:"waits,omitempty"`
	// Held says that the write still has its resource.
	Held bool `json:"held,omitempty"`
	// DurationMS is how long the call took.
	DurationMS int64 `json:"duration_ms,omitempty"`
}

// ArchiveInput asks to archive what the current run of a thread holds.
type ArchiveInput struct {
	// From and To bound the messages, To exclusive.
	From int `json:"from"`
	To   int `json:"to"`
	// After is the sequence number up to which the timeline is archived.
	After int64 `json:"after,omitempty"`
	// Archive refers to the archive of what was before.
	Archive *contract.Ref `json:"archive,omitempty"`
}

// ArchiveResult refers to the new archive.
type ArchiveResult struct {
	Archive contract.Ref `json:"archive"`
	// Cursor is the sequence number up to which the ended parts are in it.
	Cursor int64 `json:"cursor"`
}

// StoreQueueResult refers to the texts of waiting submissions, by submission id.
// A short text is not stored.
type StoreQueueResult struct {
	Refs map[string]contract.Ref `json:"refs"`
}

// MaxCarriedText is the length in bytes up to which the text of a waiting
// submission is carried on when a thread continues as new.
const MaxCarriedText = 256
