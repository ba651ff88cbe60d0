package activities

import (
	"fmt"
	"time"
)

// ModelErrorKind says what a failed model call means for the next attempt.
type ModelErrorKind string

// The kinds of model error.
const (
	// ModelRateLimited: too many requests; the vendor may say when to come back.
	ModelRateLimited ModelErrorKind = "rate_limited"
	// ModelUnavailable: a network error, a timeout, a server error, an answer
	// that is empty or malformed. Worth another attempt.
	ModelUnavailable ModelErrorKind = "unavailable"
	// ModelUnauthorized: the key is missing, wrong or not allowed.
	ModelUnauthorized ModelErrorKind = "unauthorized"
	// ModelInvalid: the vendor refuses the request, such as an unknown model or
	// a conversation that is too long.
	ModelInvalid ModelErrorKind = "invalid_request"
)

// ModelError is why a model gave no reply.
type ModelError struct {
	Kind ModelErrorKind
	// Status is the HTTP status, or 0.
	Status int
	// Message says what was wrong, without any credential.
	Message string
	// RetryAfter is how long the vendor asks to wait, or 0.
	RetryAfter time.Duration
	// Err is the cause, for errors.Is.
	Err error
}

// Error says the kind, the status and the message.
func (e *ModelError) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("model: %s (HTTP %d): %s", e.Kind, e.Status, e.Message)
	}
	return fmt.Sprintf("model: %s: %s", e.Kind, e.Message)
}

// Unwrap returns the cause.
func (e *ModelError) Unwrap() error { return e.Err }

// Retryable reports whether another attempt may succeed.
func (e *ModelError) Retryable() bool {
	return e.Kind == ModelRateLimited || e.Kind == ModelUnavailable
}
