package activities

import (
	"encoding/json"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/codemode/snippet"
	"github.com/heddle-dev/heddle/signals/contract"
)

// SegmentInput asks for the next segment of a snippet. Source, journal and
// outcomes are read from the thread, so the input stays small.
type SegmentInput struct {
	Thread contract.Start `json:"thread"`
	// Root is the run id with which the thread began.
	Root string `json:"root"`
	// Call is the id of the call that runs the snippet.
	Call string `json:"call"`
	// Segment numbers the segments of an execution from 1.
	Segment int `json:"segment"`
	// Now is the snippet's clock when it begins.
	Now time.Time `json:"now"`
	// Outcomes is how many outcomes of effects the thread has given since what is
	// stored of the execution.
	Outcomes int `json:"outcomes,omitempty"`
	// Spent is the time that earlier segments and effects took.
	Spent time.Duration `json:"spent,omitempty"`
	// Dry says that effects are planned and not made.
	Dry bool `json:"dry,omitempty"`
	// Allowed is what the snippet's calls may still use.
	Allowed Allowance `json:"allowed,omitzero"`
	// Nested says that a snippet made the call, and is to get the value.
	Nested bool `json:"nested,omitempty"`
	Near   Near `json:"-"`
}

// SegmentResult is what a snippet did until it could move no further.
type SegmentResult struct {
	// End is set when the execution is over.
	End *SegmentEnd `json:"end,omitempty"`
	// Effects are the calls that the thread is to carry out, and Sleeps the times
	// that it is to let pass, in the order of their issue.
	Effects []PlannedCall `json:"effects,omitempty"`
	Sleeps  []Sleep       `json:"sleeps,omitempty"`
	// Cancelled are sleeps that the snippet has called off.
	Cancelled []int `json:"cancelled,omitempty"`
	// Cut says that reads were left for the sake of an effect: the next segment is to
	// make them, and is not to wait for the effect.
	Cut bool `json:"cut,omitempty"`
	// Record is what the next segment needs to know of this one. Where Stored is
	// set, all there is to know up to here is in the store instead.
	Record json.RawMessage `json:"record,omitempty"`
	Stored *contract.Ref   `json:"stored,omitempty"`
	// Served are the calls that this segment served, for the timeline.
	Served []Served `json:"served,omitempty"`
	// More counts those that Served has no room for.
	More int `json:"more,omitempty"`
	// Used is what the calls that are new in this segment have used. The outputs of
	// effects are not in it.
	Used contract.Usage `json:"used,omitzero"`
	// Spent is how long the segment took.
	Spent time.Duration `json:"spent"`
}

// SegmentEnd is how an execution ended.
type SegmentEnd struct {
	// Report is what the agent is told, at most [contract.MaxInline] bytes. Of a
	// nested execution it is the value.
	Report json.RawMessage `json:"report"`
	// Whole refers to a result of which Report has the outline only.
	Whole *contract.Ref `json:"whole,omitempty"`
	// Problem says, for the timeline, why the snippet failed.
	Problem *contract.Problem `json:"problem,omitempty"`
}

// Sleep is a time that a snippet lets pass.
type Sleep struct {
	// Number is that of the call.
	Number int           `json:"number"`
	For    time.Duration `json:"for"`
}

// Served is a call of a snippet that was served within a segment.
type Served struct {
	Number     int          `json:"n"`
	Kind       snippet.Kind `json:"kind"`
	Tool       string       `json:"tool,omitempty"`
	DurationMS int64        `json:"ms,omitempty"`
	// InputBytes and OutputBytes are the lengths of its input and output as JSON.
	InputBytes  int64 `json:"in,omitempty"`
	OutputBytes int64 `json:"out,omitempty"`
	// Policy is the rule of the policy that decided about it, if one did.
	Policy *catalog.Decided `json:"policy,omitempty"`
	// Problem says in short why the call failed.
	Problem *contract.Problem `json:"problem,omitempty"`
}

// Stretch is what a segment asks of [Snippets].
type Stretch struct {
	// Call is the id of the call that runs the snippet, and the handle of its result.
	Call  string
	Scope catalog.Scope
	// Program is the snippet, with its journal.
	Program snippet.Program
	// Effects are the numbers of the calls that the thread carries out, and that
	// have no outcome in the journal.
	Effects []int
	// Outcomes are outcomes of those, in the order to deliver them.
	Outcomes []snippet.Delivery
	// Results are the large results of the thread, by handle.
	Results map[string]contract.Ref
	// Spent is the time that the execution has taken so far.
	Spent time.Duration
	// Dry says that effects are planned and not made.
	Dry bool
	// Allowed is what the calls may still use.
	Allowed Allowance
	// Progress, unless nil, is told how many calls were made, and how many of those
	// are over. It returns soon.
	Progress func(made, over int)
}

// StretchResult is what came of a [Stretch].
type StretchResult struct {
	// Journal goes on from the program's.
	Journal snippet.Journal
	// Late are outcomes that came after the snippet's own end: of calls whose
	// outcome it did not wait for.
	Late []snippet.Delivery
	// Effects, Sleeps, Cancelled and Cut are as in [SegmentResult].
	Effects   []PlannedEffect
	Sleeps    []Sleep
	Cancelled []int
	Cut       bool
	Served    []Served
	// Used is as in [SegmentResult].
	Used contract.Usage
	// End is set when the execution is over.
	End *StretchEnd
}

// PlannedEffect is a call of a snippet that is not for a segment to carry out.
type PlannedEffect struct {
	snippet.Call
	Plan catalog.Plan
	// Asks is what the call asks, where it is a read that was made.
	Asks *catalog.Elicitation
}

// StretchEnd is how an execution ended: a [SegmentEnd] with the result itself.
type StretchEnd struct {
	Report json.RawMessage
	Whole  json.RawMessage
	// Value is the result itself, however long. Empty: undefined.
	Value json.RawMessage
	// Lost says that the result was too large to be had at all.
	Lost    bool
	Problem *contract.Problem
}
