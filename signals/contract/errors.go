package contract

// Types of the application errors with which a thread refuses an update or
// fails, and codes of the problems in its timeline. They are stable.
const (
	// ErrInvalid: a field of the payload is wrong; the message names it.
	ErrInvalid = "invalid_argument"
	// ErrUnknownAgent: the worker has no agent of that name.
	ErrUnknownAgent = "unknown_agent"
	// ErrUnknownThread: there is no such thread, or the server has forgotten it.
	ErrUnknownThread = "unknown_thread"
	// ErrThreadConflict: the thread exists with another agent or user.
	ErrThreadConflict = "thread_conflict"
	// ErrThreadClosed: the thread takes no more messages.
	ErrThreadClosed = "thread_closed"
	// ErrSubmissionConflict: the submission id was used with other content.
	ErrSubmissionConflict = "submission_conflict"
	// ErrQueueFull: MaxQueue turns wait already.
	ErrQueueFull = "queue_full"
	// ErrRollingOver: the thread is about to continue as new; send it again.
	ErrRollingOver = "rolling_over"
	// ErrUnknownApproval: the thread has no such approval.
	ErrUnknownApproval = "unknown_approval"
	// ErrUnknownReconciliation: the thread has no such reconciliation.
	ErrUnknownReconciliation = "unknown_reconciliation"
	// ErrAlreadyDecided: the approval was decided otherwise, expired or withdrawn; the
	// reconciliation was answered otherwise.
	ErrAlreadyDecided = "already_decided"
	// ErrUnknownQuestion: the thread has no such question.
	ErrUnknownQuestion = "unknown_question"
	// ErrAlreadyAnswered: the question was answered otherwise, expired or withdrawn.
	ErrAlreadyAnswered = "already_answered"
	// ErrNotPermitted: the person may not decide this, because they asked for it or
	// have not said who they are.
	ErrNotPermitted = "not_permitted"
	// ErrUnknownMode: the worker has no such mode.
	ErrUnknownMode = "unknown_mode"
	// ErrUnknownGrant: the thread has no such grant, or it has ended.
	ErrUnknownGrant = "unknown_grant"
	// ErrDigestMismatch: the decision quotes another digest than the approval's.
	ErrDigestMismatch = "digest_mismatch"
	// ErrUnknownTurn: the thread has no such turn, or it has ended.
	ErrUnknownTurn = "unknown_turn"
	// ErrForgotten: what was asked for lies in an earlier run of the thread which
	// the server no longer keeps, and the reader has no access to the archive.
	ErrForgotten = "forgotten"
	// ErrNotCounted: nothing is counted of what the tenant uses.
	ErrNotCounted = "not_counted"
)

// Codes with which a turn ends or a call fails.
const (
	CodeApprovalDenied  = "approval_denied"
	CodeApprovalExpired = "approval_expired"
	CodeGrantRevoked    = "grant_revoked"
	// CodeInputRequired: the call asks a person, and nobody could be asked.
	CodeInputRequired    = "input_required"
	CodeQuestionDeclined = "question_declined"
	CodeQuestionExpired  = "question_expired"
	CodeCancelled        = "cancelled"
	CodeLimit            = "limit_exceeded"
	CodeModel            = "model_failed"
	CodeOutcomeUnknown   = "outcome_unknown"
	// CodeReconciliationOpen: the write was not made, since another one to the same
	// resource may or may not have been applied.
	CodeReconciliationOpen = "reconciliation_open"
	// CodeResourceBusy: another write works on the resource, and the call was given up
	// before it was its turn.
	CodeResourceBusy = "resource_busy"
	// CodeResourceBlocked: nobody knows whether another write to the resource was
	// applied.
	CodeResourceBlocked = "resource_blocked"
	CodeInternal        = "internal"
)
