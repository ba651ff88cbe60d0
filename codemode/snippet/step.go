package snippet

import (
	"encoding/json"
	"time"
)

// Kind is what a call asks for.
type Kind string

// The kinds. Each call of the snippet's API is one call of that kind, but for
// tools.batch, which is one KindCall per member.
const (
	// KindCall is a call of a tool: tools.call, tools.batch, a namespace's method.
	KindCall Kind = "call"
	// KindSearch is tools.search; its input is the query.
	KindSearch Kind = "search"
	// KindDescribe is tools.describe; its input says what to describe.
	KindDescribe Kind = "describe"
	// KindResult is tools.result: a slice of a stored result.
	KindResult Kind = "result"
	// KindSleep is sleep, setTimeout or setInterval; its input is {"ms": number}.
	// Nothing is delivered but that the time has passed.
	KindSleep Kind = "sleep"
)

// Step is what an execution did until it could move no further.
type Step struct {
	// Calls are the calls made in this step, in order. In the step that takes up
	// an execution from a journal they are all calls with no outcome yet.
	Calls []Call `json:"calls,omitempty"`
	// Cancelled are the numbers of sleeps of this or earlier steps that the
	// snippet called off. Their outcomes cannot be delivered.
	Cancelled []int `json:"cancelled,omitempty"`
	// CallSites are the calls that stand in the source, in the first step of a
	// program that asked for them, also those that have not been made: JSON, as
	// codemode/check reads it. By then the snippet has run up to its first calls, of
	// which none has been carried out.
	CallSites json.RawMessage `json:"callSites,omitempty"`
	// Console is what was logged in this step. In the step that takes up an
	// execution from a journal it is all that was logged.
	Console []Line `json:"console,omitempty"`
	// Dropped counts the console lines so far that ConsoleBytes left no room for.
	Dropped int `json:"dropped,omitempty"`
	// CPU is the processor time of the execution so far, in this process.
	CPU time.Duration `json:"cpu"`
	// End is set in the last step.
	End *End `json:"end,omitempty"`
}

// Call is something that the snippet asks of the world.
type Call struct {
	// Number counts the calls of an execution from 1, in the order of their issue.
	Number int  `json:"number"`
	Kind   Kind `json:"kind"`
	// Tool is the id of the tool of a KindCall.
	Tool string `json:"tool,omitempty"`
	// Input is the argument, as JSON.
	Input json.RawMessage `json:"input,omitempty"`
	// Digest stands for kind, tool and input together.
	Digest string `json:"digest"`
	// Position is where in the source the call was made.
	Position Position `json:"position"`
}

// Record is what a journal keeps of the call.
func (c Call) Record() Record {
	return Record{Number: c.Number, Kind: c.Kind, Tool: c.Tool, Digest: c.Digest}
}

// Position is a place in the source as the model wrote it. Line and column count
// from 1, columns in characters (code points). The zero value: not known.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Line is one line of console output.
type Line struct {
	// Level is debug, info, warn or error; console.log gives info.
	Level string `json:"level"`
	Text  string `json:"text"`
}

// End is how a snippet ended: with a result, undefined, or an error.
type End struct {
	// Result is the value of the snippet, as JSON. What JSON has no word for is
	// named as what it was, such as "[Function f]" or "10n".
	Result json.RawMessage `json:"result,omitempty"`
	// Bytes is the size of the result's JSON, also where Result is left out.
	Bytes int `json:"bytes,omitempty"`
	// Outline stands for a result of more than OutputBytes: as JSON, the same
	// structure with its long parts shortened, within OutputBytes. Result is then
	// the whole, unless it was too large to hand over (Truncated).
	Outline json.RawMessage `json:"outline,omitempty"`
	// Truncated says that the whole result is lost and Outline is what there is.
	Truncated bool `json:"truncated,omitempty"`
	// Undefined says that the snippet gave no value.
	Undefined bool `json:"undefined,omitempty"`
	// Hint is advice to whoever wrote the snippet.
	Hint string `json:"hint,omitempty"`
	// Error is why the snippet failed.
	Error *Error `json:"error,omitempty"`
	// Outstanding are the numbers of the calls without an outcome at the end, such
	// as the losers of a race.
	Outstanding []int `json:"outstanding,omitempty"`
	// Unawaited are those of the outstanding calls whose outcome nothing would
	// have noticed: a missing await.
	Unawaited []int `json:"unawaited,omitempty"`
	// Unhandled are failures that nothing caught and that did not end the snippet.
	Unhandled []Error `json:"unhandled,omitempty"`
}
