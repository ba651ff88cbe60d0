package contract

import (
	"encoding/json"
	"time"
)

// Role of a message's author.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one entry of a thread's transcript.
type Message struct {
	// Index is the message's place in the transcript, from 0.
	Index int    `json:"index"`
	Role  Role   `json:"role"`
	Turn  string `json:"turn"`
	// Text is the user's or the agent's words, or a tool's result as JSON text.
	Text string `json:"text,omitempty"`
	// Body refers to the whole where it is longer than [MaxInline]; Text then
	// holds its beginning.
	Body *Ref `json:"body,omitempty"`
	// Calls are the tool calls that an assistant message asks for.
	Calls []Call `json:"calls,omitempty"`
	// Call is the id of the call that a tool message answers.
	Call string `json:"call,omitempty"`
	// Tool is the id of the tool that a tool message comes from.
	Tool string `json:"tool,omitempty"`
	// Problem says why the call of a tool message has no result.
	Problem *Problem `json:"problem,omitempty"`
	// Sources are sources of tools that were no longer as they were when an assistant
	// message was made. The agent was told which cannot be read, and which can be again.
	Sources []SourceState `json:"sources,omitempty"`
	// User is who wrote a user message, where that is not the thread's user.
	User string    `json:"user,omitempty"`
	At   time.Time `json:"at"`
}

// Call is a tool call as the model asked for it.
type Call struct {
	// ID is unique within the thread: turn, step and number, such as t3-s2-c1.
	ID string `json:"id"`
	// Tool is the tool's id, such as orders.refund.
	Tool string `json:"tool"`
	// Input is the exact input, a JSON object.
	Input json.RawMessage `json:"input,omitempty"`
	// Body refers to an input that is longer than [MaxInline]; Input is then empty.
	Body *Ref `json:"body,omitempty"`
}

// Ref refers to a value in the content-addressed store of the workers.
type Ref struct {
	// Digest is sha256:<64 hex digits> of the content.
	Digest string `json:"digest"`
	// Size is in bytes.
	Size int64 `json:"size"`
}

// TranscriptQuery asks for the messages From (inclusive) to To (exclusive; 0
// means to the end).
type TranscriptQuery struct {
	From int `json:"from"`
	To   int `json:"to,omitempty"`
}

// TranscriptPage answers a [TranscriptQuery] with as many messages as fit into
// one page (about 900 KiB).
type TranscriptPage struct {
	Messages []Message `json:"messages"`
	// Next is the index to go on from, or 0 when the page reaches the end asked for.
	Next int `json:"next,omitempty"`
	// Length is the length of the whole transcript.
	Length int `json:"length"`
	Earlier
}

// Earlier says where the part of a thread lies that is older than the run that
// was asked: a thread continues as new now and then, and each run answers for
// its own part. A backend reads it by sending the same query to PreviousRunID;
// a worker reads it from Archive.
type Earlier struct {
	// First is the first index (of messages) or sequence number (of parts) that
	// this run answers for.
	First int64 `json:"first,omitempty"`
	// PreviousRunID is the run before this one. Empty: this is the first.
	PreviousRunID string `json:"previous_run_id,omitempty"`
	// Archive refers to the [Archive] of all runs before this one.
	Archive *Ref `json:"archive,omitempty"`
}

// Archive lists where the older part of a thread is kept. It is rewritten at
// each continue-as-new and stands in the content-addressed store.
type Archive struct {
	Chunks []Chunk `json:"chunks"`
}

// Chunk is a stretch of an archived thread: a [ChunkBody] in the store.
type Chunk struct {
	// From and To bound the message indices, To exclusive.
	From int `json:"from"`
	To   int `json:"to"`
	Ref  Ref `json:"ref"`
}

// ChunkBody is the content of a chunk.
type ChunkBody struct {
	Messages []Message `json:"messages"`
	// Parts are the timeline parts that ended in the same stretch.
	Parts []Part `json:"parts,omitempty"`
}

// QueuePage answers the query queue: the submissions that wait, in their order,
// as many as fit into one page (about 900 KiB).
type QueuePage struct {
	Submissions []Submission `json:"submissions"`
}

// CallsQuery asks for open calls by id. No ids: all open calls.
type CallsQuery struct {
	IDs []string `json:"ids,omitempty"`
}

// CallsPage answers a [CallsQuery] with as many calls as fit into one page (about
// 900 KiB). A call that is not open is left out.
type CallsPage struct {
	Calls []Call `json:"calls"`
}
