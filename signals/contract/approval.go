package contract

import (
	"encoding/json"
	"time"
)

// Approval is a call that waits for a person's decision. It is bound to the
// call: to the tool as described at the time and to the exact input.
type Approval struct {
	// ID is unique within the thread.
	ID   string `json:"id"`
	Turn string `json:"turn"`
	// Call is the id of the tool call.
	Call string `json:"call"`
	// Tool is the tool's id.
	Tool  string `json:"tool"`
	Title string `json:"title"`
	// Reason says why a person is asked.
	Reason string `json:"reason"`
	// Preview is the input as a person may see it, secrets redacted. It is the
	// whole input up to [MaxPreview] bytes, else its beginning as a JSON string.
	Preview json.RawMessage `json:"preview"`
	// DescriptorDigest identifies the tool's description and schemas.
	DescriptorDigest string `json:"descriptor_digest"`
	// InputDigest identifies the exact input.
	InputDigest string `json:"input_digest"`
	// Digest covers the two and the tool's id. A decision must quote it.
	Digest      string    `json:"digest"`
	RequestedAt time.Time `json:"requested_at"`
	ExpiresAt   time.Time `json:"expires_at"`
}

// Verdict is what a person decided.
type Verdict string

// The verdicts.
const (
	Approve Verdict = "approve"
	Deny    Verdict = "deny"
)

// Decision answers an approval. Deciding twice alike is idempotent; deciding
// otherwise than before is refused.
type Decision struct {
	// Approval is the id of the approval.
	Approval string `json:"approval"`
	// Digest is the approval's digest: it proves what the person was shown.
	Digest string `json:"digest"`
	// Verdict is "approve" or "deny".
	Verdict Verdict `json:"verdict"`
	// By is the person who decided, as known to the backend.
	By string `json:"by,omitempty"`
	// Comment is shown in the timeline and, for a denial, to the agent. At most
	// [MaxComment] bytes.
	Comment string `json:"comment,omitempty"`
}

// Decided is the answer to a decision.
type Decided struct {
	Approval string  `json:"approval"`
	Verdict  Verdict `json:"verdict"`
	// Duplicate says that the same decision had been taken before.
	Duplicate bool `json:"duplicate,omitempty"`
}
