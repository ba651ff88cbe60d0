package catalog

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
)

// NotApplied returns an error that says of a write that it was not applied and
// may be made again: the request never left, or the target took nothing of it.
// Heddle makes such a call again by itself, a few times.
func NotApplied(err error) error {
	return wrapped(err, &Error{Code: CodeToolFailed, Effect: EffectNone, Retryable: true})
}

// Unknown returns an error that says of a write that it may or may not have been
// applied.
func Unknown(err error) error {
	return wrapped(err, &Error{Code: CodeToolFailed, Effect: EffectUnknown})
}

// effectError is an error that tells of its effect and stays what it was.
type effectError struct {
	told  *Error
	cause error
}

func (e *effectError) Error() string { return e.cause.Error() }

func wrapped(err error, e *Error) error {
	if err == nil {
		return nil
	}
	e.Message = err.Error()
	var typed *Error
	if errors.As(err, &typed) {
		e.Code, e.Message, e.Hint, e.Details = typed.Code, typed.Message, typed.Hint, typed.Details
	}
	return &effectError{told: e, cause: err}
}

// Unwrap gives the error with its effect first, then the one that it is about.
func (e *effectError) Unwrap() []error { return []error{e.told, e.cause} }

// transported is what an error of the network tells of the request: nothing was
// sent if the connection could not be made, and nobody knows if it broke. Empty:
// it is no error of the network.
func transported(err error) Effect {
	if notConnected(err) {
		return EffectNone
	}
	var request *url.Error
	var network *net.OpError
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrUnexpectedEOF),
		errors.As(err, &network):
		return EffectUnknown
	case errors.As(err, &request):
		return ofRequest(request)
	}
	return ""
}

// notConnected reports whether no connection was made over which a request could
// have been sent.
func notConnected(err error) bool {
	var (
		lookup    *net.DNSError
		dial      *net.OpError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		verify    *tls.CertificateVerificationError
		record    tls.RecordHeaderError
	)
	return errors.As(err, &lookup) || errors.As(err, &dial) && dial.Op == "dial" || errors.Is(err, syscall.ECONNREFUSED) ||
		errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid) ||
		errors.As(err, &verify) || errors.As(err, &record)
}

// ofRequest judges what an HTTP client says: a request that was not even well
// formed was not sent, any other may have been.
func ofRequest(err *url.Error) Effect {
	if err.Op == "parse" {
		return ""
	}
	return EffectUnknown
}
