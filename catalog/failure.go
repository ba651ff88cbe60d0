package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
)

const (
	// maxMessage bounds a message that a tool or a source supplied, in bytes.
	maxMessage = 2 << 10
	// maxCode bounds a tool's own code.
	maxCode = 64
	// maxDetails bounds a tool's own details.
	maxDetails = 16 << 10
)

// ended is the error of a call whose context has ended.
func ended(ctx context.Context, when string) *Error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &Error{Code: CodeTimeout, Message: "the time for the call ran out " + when}
	}
	return &Error{Code: CodeCancelled, Message: "the call was cancelled " + when}
}

// before says of an error which tool was asked for, and that nothing was called.
func (e *Error) before(tool string) *Error {
	e.Tool, e.Effect = plain(tool, 2*MaxID), EffectNone
	return e
}

// isTimeout reports whether an error says that something took too long: that of
// a context, of a network connection, of a file.
func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}

// sanitize copies an error that a tool made, within the bounds that an error may
// have.
func sanitize(e *Error) *Error {
	s := &Error{
		Code:       plain(e.Code, maxCode),
		Message:    plain(e.Message, maxMessage),
		Retryable:  e.Retryable,
		Effect:     e.Effect,
		Hint:       plain(e.Hint, maxMessage),
		Violations: slices.Clone(e.Violations[:min(len(e.Violations), maxViolations)]),
	}
	if s.Code == "" {
		s.Code = CodeToolFailed
	}
	for i, v := range s.Violations {
		s.Violations[i] = Violation{Pointer: plain(v.Pointer, maxPointer), Message: plain(v.Message, maxViolation)}
	}
	if len(e.Details) <= maxDetails && json.Valid(e.Details) {
		s.Details = e.Details
	}
	return s
}
