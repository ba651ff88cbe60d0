package snippet

import (
	"encoding/json"
	"time"
)

// MaxSource is the largest source of a snippet, in bytes.
const MaxSource = 64 << 10

// Program is what an execution starts from.
type Program struct {
	// Tenant is whose snippet it is. A process that has run one tenant's snippet
	// never runs another's. It does not reach the snippet.
	Tenant string `json:"-"`
	// Source is the snippet as the model wrote it: TypeScript, at most MaxSource
	// bytes, possibly in a Markdown fence.
	Source string `json:"source"`
	// Seed fixes all randomness of the execution. The same seed gives the same
	// random numbers and ids.
	Seed string `json:"seed"`
	// Now is the snippet's clock until the first delivery. It stands still between
	// deliveries, and shows UTC in whole milliseconds.
	Now time.Time `json:"now"`
	// API holds the namespaces: an object of namespace -> method -> tool id. A dot
	// in the name of a namespace nests it: "github.issues". Empty: none.
	API json.RawMessage `json:"api,omitempty"`
	// Input is the value of the global input, as JSON, where the snippet is one that
	// takes an input. Empty: there is no such global.
	Input json.RawMessage `json:"input,omitempty"`
	// ListCalls asks for the CallSites of the first step.
	ListCalls bool `json:"listCalls,omitempty"`
	// Limits bound the execution. A field that is zero takes the engine's value.
	Limits Limits `json:"limits"`
	// Journal is what has happened so far, when an execution is taken up again.
	Journal Journal `json:"journal"`
}

// Limits bound one execution. What exceeds one ends the snippet with an error
// whose code names the limit.
type Limits struct {
	// CPU is the processor time of all steps together.
	CPU time.Duration `json:"cpu,omitempty"`
	// Wall is the time that one step may take. That in which nobody looks after it, since
	// the worker or the machine stands still, does not count.
	Wall time.Duration `json:"wall,omitempty"`
	// Memory is that of the process that runs the snippet, in bytes: what is resident,
	// without the file of the program, which all such processes share.
	Memory int64 `json:"memory,omitempty"`
	// Calls is how many calls may be made. One more fails, catchably.
	Calls int `json:"calls,omitempty"`
	// OutputBytes is the largest result that comes without an outline.
	OutputBytes int `json:"outputBytes,omitempty"`
	// ConsoleBytes is how much console output is kept. The rest is counted.
	ConsoleBytes int `json:"consoleBytes,omitempty"`
}

// Journal is what happened in an execution until it was left.
type Journal struct {
	// Calls are the calls made, in order of their numbers, from 1 without a gap.
	Calls []Record `json:"calls,omitempty"`
	// Deliveries are the outcomes given, in the order in which they were given.
	Deliveries []Delivery `json:"deliveries,omitempty"`
}

// Record identifies a call that was made: enough to notice when another
// execution makes another one instead.
type Record struct {
	Number int    `json:"number"`
	Kind   Kind   `json:"kind"`
	Tool   string `json:"tool,omitempty"`
	// Digest is the digest of the call. See [Call].
	Digest string `json:"digest"`
}

// Delivery is the outcome of one call.
type Delivery struct {
	// Call is the number of the call.
	Call int `json:"call"`
	// Result is the outcome of a call that succeeded, as JSON. Empty: undefined.
	Result json.RawMessage `json:"result,omitempty"`
	// Error is the outcome of a call that failed. It is thrown where the snippet
	// awaits the call.
	Error *Error `json:"error,omitempty"`
	// At is when the outcome was known. The snippet's clock moves on to it; it
	// never moves back.
	At time.Time `json:"at"`
}
