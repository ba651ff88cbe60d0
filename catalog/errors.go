package catalog

import "encoding/json"

// Effect says what is known about the effect of a call that failed.
type Effect string

// The effects.
const (
	// EffectNone: nothing was applied. The zero value says nothing.
	EffectNone Effect = "none"
	// EffectUnknown: it may or may not have been applied.
	EffectUnknown Effect = "unknown"
	// EffectApplied: the write was carried out and only its result is lost.
	EffectApplied Effect = "applied"
)

// Codes of an [Error]. They are stable.
const (
	CodeToolNotFound      = "tool_not_found"
	CodeInvalidInput      = "invalid_input"
	CodeInvalidOutput     = "invalid_output"
	CodeToolFailed        = "tool_failed"
	CodeTimeout           = "timeout"
	CodeCancelled         = "cancelled"
	CodeDescriptorChanged = "descriptor_changed"
	CodeInputChanged      = "input_changed"
	CodeTooLarge          = "too_large"
	CodeSourceUnavailable = "source_unavailable"
	// CodeNotMade: the call could have been made, and was not.
	CodeNotMade = "not_made"
	// CodeModeDenied: the thread is in a mode that does not allow the call.
	CodeModeDenied = "mode_denied"
	// CodePolicyBlocked: a rule of the policy refuses the call.
	CodePolicyBlocked = "policy_blocked"
	// CodeApprovalRequired: the call needs the approval of more people than have
	// given it.
	CodeApprovalRequired = "approval_required"
	// CodeLimit: the call came to a limit; see [Error.Limit].
	CodeLimit = "limit_exceeded"
	// CodeInvalidTool: the tool's own description or schema cannot be used.
	CodeInvalidTool = "invalid_tool"
	// A secret that the tool needs is not among those it declares, is not there, or
	// cannot be read now.
	CodeSecretNotDeclared = "secret_not_declared"
	CodeSecretMissing     = "secret_missing"
	CodeSecretUnavailable = "secret_unavailable"
)

// Error is why a call was refused or failed, as the model sees it.
type Error struct {
	// Code is one of the Code constants, or a tool's own.
	Code string `json:"code"`
	// Message says what was wrong, where, and what to do.
	Message string `json:"message"`
	// Tool is the tool's id.
	Tool string `json:"tool,omitempty"`
	// Retryable says that the same call may succeed later.
	Retryable bool `json:"retryable,omitempty"`
	// Effect says whether anything was applied.
	Effect Effect `json:"effect,omitempty"`
	// Hint names what to do instead.
	Hint string `json:"hint,omitempty"`
	// Limit is which limit the call came to, if that is why.
	Limit *Exceeded `json:"limit,omitempty"`
	// Violations name the places of an input or output that do not fit.
	Violations []Violation `json:"violations,omitempty"`
	// Details is a tool's own, such as the body of an HTTP error.
	Details json.RawMessage `json:"details,omitempty"`
}

// Violation is one place of a value that does not fit its schema.
type Violation struct {
	// Pointer is a JSON pointer (RFC 6901) into the value.
	Pointer string `json:"pointer"`
	Message string `json:"message"`
}

// Error says the code and the message.
func (e *Error) Error() string { return e.Code + ": " + e.Message }
