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
	// Does says what the call does, where the tool can say more than its input: the
	// method and URL of a request, a difference.
	Does string `json:"does,omitempty"`
	// Changed says what has changed of the tool, where an earlier call of the thread was
	// not made since the tool was no longer what people had been asked about.
	// For each thing its place, what was behind a minus, and what is behind a plus.
	Changed string `json:"changed,omitempty"`
	// DescriptorDigest identifies the tool's description and schemas.
	DescriptorDigest string `json:"descriptor_digest"`
	// InputDigest identifies the exact input.
	InputDigest string `json:"input_digest"`
	// Digest covers the two and the tool's id. A decision must quote it.
	Digest string `json:"digest"`
	// Resource is the resource key of the call, if it has one.
	Resource string `json:"resource,omitempty"`
	// Approvers is how many people must agree, each another and none of them who
	// asked. 0: one, whoever it is.
	Approvers int `json:"approvers,omitempty"`
	// Grantable says that the decision may hold a [GrantTerms].
	Grantable bool `json:"grantable,omitempty"`
	// Votes are what was decided so far, oldest first.
	Votes []Vote `json:"votes,omitempty"`
	// Reminders counts how often people were reminded.
	Reminders   int       `json:"reminders,omitempty"`
	RequestedAt time.Time `json:"requested_at"`
	ExpiresAt   time.Time `json:"expires_at"`
}

// Verdict is what a person decided.
type Verdict string

// The verdicts.
const (
	Approve Verdict = "approve"
	Deny    Verdict = "deny"
	// Edit approves the call with another input, once that has been found right.
	Edit Verdict = "edit"
)

// Vote is one person's part in a decision.
type Vote struct {
	By      string  `json:"by,omitempty"`
	Verdict Verdict `json:"verdict"`
	// Digest is that of the approval which the person decided on: for an edit, the
	// digest of the call as edited.
	Digest  string    `json:"digest"`
	Comment string    `json:"comment,omitempty"`
	At      time.Time `json:"at"`
}

// Decision answers an approval. Deciding twice alike is idempotent; deciding
// otherwise than before is refused.
type Decision struct {
	// Approval is the id of the approval.
	Approval string `json:"approval"`
	// Digest is the approval's digest: it proves what the person was shown.
	Digest string `json:"digest"`
	// Verdict is "approve", "deny" or "edit".
	Verdict Verdict `json:"verdict"`
	// Input is the whole input of the call as edited, a JSON object of at most
	// [MaxInline] bytes; only with the verdict "edit".
	Input json.RawMessage `json:"input,omitempty"`
	// Grant extends the consent to further calls; only with the verdict "approve".
	Grant *GrantTerms `json:"grant,omitempty"`
	// By is the person who decided, as known to the backend. Where several must agree
	// it is required.
	By string `json:"by,omitempty"`
	// Comment is shown in the timeline and, for a denial, to the agent. At most
	// [MaxComment] bytes.
	Comment string `json:"comment,omitempty"`
}

// Decided is the answer to a decision.
type Decided struct {
	Approval string  `json:"approval"`
	Verdict  Verdict `json:"verdict"`
	// Missing is how many more people must agree.
	Missing int `json:"missing,omitempty"`
	// Duplicate says that the same decision had been taken before.
	Duplicate bool `json:"duplicate,omitempty"`
}
