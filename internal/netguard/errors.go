package netguard

import "fmt"

// RefusedError says that the rules forbid a request, a connection or a redirect.
type RefusedError struct {
	// Target is the origin or the address that was refused. It holds no query and
	// no credentials.
	Target string
	// Reason says why, and what an operator can do about it.
	Reason string
}

// Error names the target and the reason.
func (e *RefusedError) Error() string { return fmt.Sprintf("%s is refused: %s", e.Target, e.Reason) }

// TooLargeError says that a response is longer than allowed, after decompression.
type TooLargeError struct {
	// Limit is the most bytes that are read.
	Limit int64
}

// Error says the limit.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the response is longer than %d bytes", e.Limit)
}

// NotSentError wraps what kept a request from being sent: no byte of it has left.
type NotSentError struct{ Err error }

// Error is that of the cause.
func (e *NotSentError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *NotSentError) Unwrap() error { return e.Err }
