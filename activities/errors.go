package activities

import (
	"encoding/json"
	"errors"

	"go.temporal.io/sdk/temporal"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// Types of the application errors with which an activity fails.
const (
	ErrTypeModel   = "ModelError"
	ErrTypeThread  = "ThreadUnreadable"
	ErrTypeBlobs   = "BlobsUnavailable"
	ErrTypeCatalog = "CatalogUnavailable"
	// ErrTypeNotSent: what must be durable before a write is sent is not.
	ErrTypeNotSent = "NotSent"
	// ErrTypeReconcile: what became of a write cannot be found out now; ErrTypeTooEarly:
	// that it was not applied does not hold yet.
	ErrTypeReconcile = "ReconcileUnavailable"
	ErrTypeTooEarly  = "TooEarly"
	// ErrTypeDiverged: a snippet did something else than its journal holds.
	ErrTypeDiverged = "SnippetDiverged"
	ErrTypeSnippets = "SnippetsUnavailable"
	// ErrTypeUsage: what the tenant uses cannot be counted now, and so is not used.
	ErrTypeUsage = "UsageUnavailable"
)

// ErrDiverged is what [Snippets] wraps when a snippet did something else than its
// journal holds. It never goes on from there.
var ErrDiverged = errors.New("the snippet diverged")

// modelFailure turns a model's error into what Temporal retries, or does not.
func modelFailure(err error) error {
	var failed *ModelError
	if !errors.As(err, &failed) {
		return err
	}
	return temporal.NewApplicationErrorWithOptions(failed.Error(), ErrTypeModel, temporal.ApplicationErrorOptions{
		NonRetryable:   !failed.Retryable(),
		NextRetryDelay: failed.RetryAfter,
	})
}

// unknownAgent is worth another attempt: while a new configuration is rolled out,
// another worker may have the agent.
func unknownAgent(name string) error {
	return temporal.NewApplicationError("the worker has no agent "+name+"; it is not in its configuration", contract.ErrUnknownAgent)
}

func unavailable(kind, what string, err error) error {
	return temporal.NewApplicationErrorWithCause(what+": "+err.Error(), kind, err)
}

// rest is what an error says besides its code and message. The tool stands beside
// it in the transcript.
type rest struct {
	Retryable  bool                `json:"retryable,omitempty"`
	Effect     catalog.Effect      `json:"effect,omitempty"`
	Hint       string              `json:"hint,omitempty"`
	Limit      *catalog.Exceeded   `json:"limit,omitempty"`
	Violations []catalog.Violation `json:"violations,omitempty"`
	Details    json.RawMessage     `json:"details,omitempty"`
}

// problem turns the broker's error into what stands in a thread's transcript.
func problem(e *catalog.Error) *contract.Problem {
	if e == nil {
		return nil
	}
	details, err := json.Marshal(rest{e.Retryable, e.Effect, e.Hint, e.Limit, e.Violations, e.Details})
	if err != nil || string(details) == "{}" { // Details was not JSON: the code and message still are
		details = nil
	}
	return &contract.Problem{Code: e.Code, Message: e.Message, Details: details}
}

// unknownOutcome says that nobody knows whether a write was applied.
func unknownOutcome(e *catalog.Error) *catalog.Error {
	told := *e
	told.Code = contract.CodeOutcomeUnknown
	told.Retryable = false
	told.Message = e.Code + ": " + e.Message +
		". The call may or may not have been applied: do not repeat it; find out, or tell the user"
	return &told
}
