package snippet

import (
	"encoding/json"
	"fmt"
)

// Codes of an [Error] that the engine gives. A call's error carries the code of
// whoever failed it.
const (
	// CodeSyntax: the source is not a snippet. Nothing of it ran.
	CodeSyntax = "syntax_error"
	// CodeException: the snippet threw something and nothing caught it.
	CodeException = "exception"
	// CodeNeverSettles: the snippet waits for a promise that nothing can settle.
	CodeNeverSettles = "never_settles"
	// CodeCPU, CodeTime, CodeMemory and CodeStack: a limit was exceeded.
	CodeCPU    = "cpu_limit"
	CodeTime   = "time_limit"
	CodeMemory = "memory_limit"
	CodeStack  = "stack_limit"
	// CodeCalls: one call more than the limit. The snippet can catch it.
	CodeCalls = "call_limit"
	// CodeInvalidInput: the argument of a call is no JSON. The snippet can catch it.
	CodeInvalidInput = "invalid_input"
	// CodeTooLarge: what the snippet handed over at once is too large.
	CodeTooLarge = "too_large"
	// CodeCrashed: the process that ran the snippet died of something else than a
	// limit. It may not be the snippet's fault.
	CodeCrashed = "crashed"
)

// Error is a failure as the snippet catches it and as the model reads it.
type Error struct {
	// Code is one of the Code constants, or the code of a call's error.
	Code    string `json:"code"`
	Message string `json:"message"`
	// Name is the name of the thrown error object, such as TypeError.
	Name string `json:"name,omitempty"`
	// Tool is the id of the tool whose call failed.
	Tool string `json:"tool,omitempty"`
	// Retryable says that the same may succeed later.
	Retryable bool `json:"retryable,omitempty"`
	// Effect says what is known of the effect of a call that failed.
	Effect string `json:"effect,omitempty"`
	// Hint says what to do instead.
	Hint string `json:"hint,omitempty"`
	// Details is the failed call's own.
	Details json.RawMessage `json:"details,omitempty"`
	// Position is where in the source it happened: the failed call, the throw, or
	// what ran when a limit was reached.
	Position *Position `json:"position,omitempty"`
	// Stack is the functions of the snippet that it happened in, innermost first.
	Stack []Frame `json:"stack,omitempty"`
	// Causes are the errors that led to it: its cause, or the members of an
	// AggregateError.
	Causes []Error `json:"causes,omitempty"`
}

// Frame is a function of the snippet and a place in it. Function is empty for the
// snippet's own body.
type Frame struct {
	Function string `json:"function,omitempty"`
	Position
}

// Error says the code, the message and where.
func (e *Error) Error() string {
	if e.Position != nil && e.Position.Line > 0 {
		return fmt.Sprintf("%s: %s (line %d, column %d)", e.Code, e.Message, e.Position.Line, e.Position.Column)
	}
	return e.Code + ": " + e.Message
}
