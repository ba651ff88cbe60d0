package contract

import (
	"encoding/json"
	"time"
)

// QueryExecution is the query with which a worker's activities read a snippet
// that a thread executes. It takes an [ExecutionQuery] and answers with an
// [ExecutionPage]. It is a worker's own, and changes as workers do: a backend
// reads the timeline.
const QueryExecution = "execution"

// ExecutionQuery asks for what the next segment of a snippet begins with.
type ExecutionQuery struct {
	// Call is the id of the call that runs the snippet.
	Call string `json:"call"`
	// From and To bound the outcomes, To exclusive.
	From int `json:"from"`
	To   int `json:"to"`
}

// ExecutionPage answers an [ExecutionQuery] with as many outcomes as fit into one
// page (about 900 KiB).
type ExecutionPage struct {
	// Call is the call that runs the snippet, with its source.
	Call Call `json:"call"`
	// Source refers to the source of a saved script; else the call's input has it.
	Source *Ref `json:"source,omitempty"`
	// Stored refers to what is in the store of the execution's beginning, and
	// Records are what its segments have recorded since.
	Stored  *Ref              `json:"stored,omitempty"`
	Records []json.RawMessage `json:"records,omitempty"`
	// Outcomes are those that the thread gave since what is stored, oldest first.
	Outcomes []Outcome `json:"outcomes,omitempty"`
	// Next is where to go on from, or 0 when the page reaches the end asked for.
	Next int `json:"next,omitempty"`
	// Results are the large results that the thread keeps, by the call that gave them.
	Results []KeptResult `json:"results,omitempty"`
}

// Outcome is how an effect of a snippet ended.
type Outcome struct {
	// Number is the call's, within the snippet.
	Number int `json:"number"`
	// Result is the tool's output; that of a long one is in Body.
	Result  json.RawMessage `json:"result,omitempty"`
	Body    *Ref            `json:"body,omitempty"`
	Problem *Problem        `json:"problem,omitempty"`
	At      time.Time       `json:"at"`
}

// KeptResult is a result of which the agent was shown an outline.
type KeptResult struct {
	Call string `json:"call"`
	Ref  Ref    `json:"ref"`
}
