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
)

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

// problem turns the broker's error into what stands in a thread's transcript.
func problem(e *catalog.Error) *contract.Problem {
	if e == nil {
		return nil
	}
	rest := *e
	rest.Code, rest.Message = "", ""
	details, err := json.Marshal(rest)
	if err != nil { // Details was not JSON: the code and message still are
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
