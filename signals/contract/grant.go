package contract

import "time"

// GrantTerms say for which further calls of the same tool a person agrees
// beforehand. The zero value is for all of the thread's.
type GrantTerms struct {
	// Resource is the resource key that a call must have. Empty: any, or none.
	Resource string `json:"resource,omitempty"`
	// Calls is for how many calls. 0: any number.
	Calls int `json:"calls,omitempty"`
	// Until is when it ends.
	Until *time.Time `json:"until,omitempty"`
}

// Grant is a consent to calls of a tool that have not been asked for yet. It
// covers the tool as it was described when it was given: a change of the tool ends
// it. It waives no rule of a policy.
type Grant struct {
	// ID is g1, g2, ... in the order in which they were given.
	ID   string `json:"id"`
	Tool string `json:"tool"`
	// DescriptorDigest is that of the tool as it was described.
	DescriptorDigest string `json:"descriptor_digest"`
	GrantTerms
	// Used is how many calls have been made by it.
	Used int `json:"used,omitempty"`
	// Approval is the id of the approval with which it was given, By who gave it.
	Approval string    `json:"approval"`
	By       string    `json:"by,omitempty"`
	At       time.Time `json:"at"`
}

// RevokeGrant ends a grant. A call that it let pass and that has not begun is not
// made.
type RevokeGrant struct {
	// Grant is the id of the grant.
	Grant  string `json:"grant"`
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// SetMode puts a thread into a mode, between turns or during one: what has not
// begun is bound by it.
type SetMode struct {
	// Mode is the name of a mode that the workers have. Empty: the agent's own.
	Mode   string `json:"mode"`
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// ModeSet is the answer to a [SetMode].
type ModeSet struct {
	Mode string `json:"mode"`
	// Before is the mode until then.
	Before string `json:"before"`
}
