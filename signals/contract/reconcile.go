package contract

import (
	"encoding/json"
	"time"
)

// Reconciliation is a write that may or may not have been applied. While it is
// open, the thread makes no other write with its resource key; without one, no
// call of its tool with the same input.
//
// It stays open until someone says how the write ended, also when the call that it
// is about waits no longer: since the turn was cancelled, or after ExpiresAt.
type Reconciliation struct {
	// ID is unique within the thread.
	ID   string `json:"id"`
	Turn string `json:"turn"`
	// Call is the id of the tool call.
	Call string `json:"call"`
	// Tool is the tool's id.
	Tool string `json:"tool"`
	// InputDigest identifies the exact input.
	InputDigest string `json:"input_digest"`
	// Resource is the resource key of the call, if it has one.
	Resource string `json:"resource,omitempty"`
	// Key is the idempotency key that the target was sent: what to look for there.
	Key string `json:"key,omitempty"`
	// Reason says why it is not known how the write ended, and why the tool itself
	// could not find out.
	Reason   string    `json:"reason"`
	OpenedAt time.Time `json:"opened_at"`
	// AskedAt is since when a person is asked. Empty: the tool is finding out.
	AskedAt *time.Time `json:"asked_at,omitempty"`
	// ExpiresAt is when the call ends as outcome_unknown, if nobody has answered.
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	// Left says that the call waits no longer: it has ended as outcome_unknown.
	Left bool `json:"left,omitempty"`
}

// Finding says how a write ended.
type Finding string

// The findings.
const (
	// FindingApplied: the target has applied it. The call ends with the result.
	FindingApplied Finding = "applied"
	// FindingNotApplied: the target has not applied it, and will not. The call is
	// made again, under the same key.
	FindingNotApplied Finding = "not_applied"
	// FindingAbandoned: nobody will find out. The call ends as outcome_unknown.
	FindingAbandoned Finding = "abandoned"
)

// Reconcile answers a reconciliation. Answering twice alike is idempotent; answering
// otherwise than before is refused.
type Reconcile struct {
	// Reconciliation is the id of the reconciliation.
	Reconciliation string  `json:"reconciliation"`
	Finding        Finding `json:"finding"`
	// Result is the tool's output, any JSON of at most [MaxInline] bytes; only with
	// the finding "applied". Empty: null.
	Result json.RawMessage `json:"result,omitempty"`
	// By is the person who found out, as known to the backend.
	By string `json:"by,omitempty"`
	// Comment is shown in the timeline. At most [MaxComment] bytes.
	Comment string `json:"comment,omitempty"`
}
