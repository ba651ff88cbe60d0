package activities

import (
	"time"

	"github.com/heddle-dev/heddle/signals/contract"
)

// Limits bound one turn of an agent. 0 means the default.
type Limits struct {
	// Steps bounds the model turns.
	Steps int `json:"steps,omitempty"`
	// Calls bounds the tool calls, those of snippets included.
	Calls int `json:"calls,omitempty"`
	// Tokens bounds the sum of input and output tokens.
	Tokens int64 `json:"tokens,omitempty"`
	// CostMicros bounds the cost, in millionths of a US dollar.
	CostMicros int64 `json:"cost_micros,omitempty"`
	// InputBytes and OutputBytes bound the inputs and outputs of its calls together.
	InputBytes  int64 `json:"input_bytes,omitempty"`
	OutputBytes int64 `json:"output_bytes,omitempty"`
	// Time bounds the turn's duration; waits for a person do not count.
	Time time.Duration `json:"time,omitempty"`
	// ApprovalExpiry is how long an approval waits before it counts as denied.
	ApprovalExpiry time.Duration `json:"approval_expiry,omitempty"`
	// ReconcileExpiry is how long a call waits for a person to say whether it was
	// applied; after that its caller is told that this is unknown.
	ReconcileExpiry time.Duration `json:"reconcile_expiry,omitempty"`
	// ApprovalReminder is after how long people are reminded of an approval; each
	// further reminder comes after twice the time of the one before. 0: never.
	ApprovalReminder time.Duration `json:"approval_reminder,omitempty"`
	// Thread bounds all turns of a thread together.
	Thread contract.Limits `json:"thread,omitzero"`
}

// OfTurn are the limits of what a turn uses.
func (l Limits) OfTurn() contract.Limits {
	return contract.Limits{
		Steps: l.Steps, Calls: l.Calls, Tokens: l.Tokens, CostMicros: l.CostMicros,
		InputBytes: l.InputBytes, OutputBytes: l.OutputBytes, TimeMS: l.Time.Milliseconds(),
	}
}

// DefaultLimits are the limits of an agent that sets none. The cost is unbounded,
// since it is known only of models with a price.
var DefaultLimits = Limits{
	Steps:          25,
	Calls:          1000,
	Tokens:         500_000,
	Time:           30 * time.Minute,
	ApprovalExpiry: 72 * time.Hour,

	ReconcileExpiry: 72 * time.Hour,
}

// WithDefaults returns the limits with each zero replaced by its default.
func (l Limits) WithDefaults() Limits {
	if l.Steps == 0 {
		l.Steps = DefaultLimits.Steps
	}
	if l.Calls == 0 {
		l.Calls = DefaultLimits.Calls
	}
	if l.Tokens == 0 {
		l.Tokens = DefaultLimits.Tokens
	}
	if l.Time == 0 {
		l.Time = DefaultLimits.Time
	}
	if l.ApprovalExpiry == 0 {
		l.ApprovalExpiry = DefaultLimits.ApprovalExpiry
	}
	if l.ReconcileExpiry == 0 {
		l.ReconcileExpiry = DefaultLimits.ReconcileExpiry
	}
	return l
}
