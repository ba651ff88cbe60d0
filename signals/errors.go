package signals

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/grpc/codes"

	"github.com/heddle-dev/heddle/signals/contract"
)

// Error is why a thread refused something, or could not do it.
type Error struct {
	// Code is one of contract's Err constants, such as [contract.ErrThreadClosed].
	Code string
	// Message says what was wrong.
	Message string
}

// Error says the code and the message.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

func refuse(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// invalid makes of a validation error an [*Error]; nil stays nil.
func invalid(err error) error {
	if err == nil {
		return nil
	}
	return &Error{Code: contract.ErrInvalid, Message: err.Error()}
}

// typed returns the refusal that an error from Temporal carries. The end of a
// context is made recognisable, in whatever way it is reported; any other error
// is returned as it is.
func typed(err error) error {
	if err == nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return err
	}
	switch serviceerror.ToStatus(err).Code() {
	case codes.DeadlineExceeded:
		return fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	case codes.Canceled:
		return fmt.Errorf("%w: %w", context.Canceled, err)
	}
	var refused *temporal.ApplicationError
	if errors.As(err, &refused) && refused.Type() != "" {
		return &Error{Code: refused.Type(), Message: refused.Message()}
	}
	var failed *serviceerror.QueryFailed
	if errors.As(err, &failed) {
		if kind := failed.Failure.GetApplicationFailureInfo().GetType(); kind != "" {
			return &Error{Code: kind, Message: failed.Failure.GetMessage()}
		}
	}
	return err
}

// hasCode reports whether err is an [*Error] with the code.
func hasCode(err error, code string) bool {
	var refused *Error
	return errors.As(err, &refused) && refused.Code == code
}

func notFound(err error) bool {
	var missing *serviceerror.NotFound
	return errors.As(err, &missing)
}

// in says what was being done to which thread when an error happened.
func in(doing string, thread contract.ThreadRef, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", doing, thread, err)
}
