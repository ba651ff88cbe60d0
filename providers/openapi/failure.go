package openapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/netguard"
)

// The codes of this source's errors, beside those of the catalog. An answer that
// is an error has the code http_ and its status, such as http_404.
const (
	// CodeNoCredential: the call needs credentials that there are none of.
	CodeNoCredential = "no_credential"
	// CodeRefused: the rules of the network forbid the address.
	CodeRefused = "address_refused"
	// CodeUnreachable: the service could not be reached; nothing was sent.
	CodeUnreachable = "unreachable"
	// CodeConnectionLost: the connection broke before the answer was there.
	CodeConnectionLost = "connection_lost"
)

// maxErrorBody bounds the body of an error that a model is shown.
const maxErrorBody = 8 << 10

// transportFailure says what kept a call from having an answer, and what that
// means for its effect.
func transportFailure(err error) error {
	e := &catalog.Error{Code: CodeConnectionLost, Effect: catalog.EffectUnknown, Retryable: true}
	var (
		refused *netguard.RefusedError
		unsent  *netguard.NotSentError
		large   *netguard.TooLargeError
		timeout interface{ Timeout() bool }
	)
	switch {
	case errors.As(err, &refused):
		e.Code, e.Retryable = CodeRefused, false
	case errors.As(err, &unsent):
		e.Code = CodeUnreachable
	case errors.As(err, &large):
		e.Code, e.Retryable = catalog.CodeTooLarge, false
	case errors.Is(err, context.Canceled):
		e.Code = catalog.CodeCancelled
	case errors.As(err, &timeout) && timeout.Timeout():
		e.Code = catalog.CodeTimeout
	}
	if errors.As(err, &unsent) {
		e.Effect = catalog.EffectNone
	}
	e.Message = "the service has given no answer: " + err.Error()
	return e
}

// answerFailure makes an error of an answer that is one.
func answerFailure(a answer) error {
	status, text := a.status, a.body
	name := http.StatusText(status)
	e := &catalog.Error{
		Code: fmt.Sprintf("http_%d", status), Effect: effectOf(status),
		Message:   strings.TrimSpace(fmt.Sprintf("the service answers %d %s", status, name)),
		Retryable: status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status == http.StatusTooEarly || status >= 500 && status != http.StatusNotImplemented,
	}
	if said := said(text); said != "" {
		e.Message += ": " + said
	}
	if status >= 300 && status < 400 {
		e.Hint = "the answer is a redirect, which is not followed"
	}
	if pause, _ := retryAfter(a.retryAfter, time.Now()); pause > 0 {
		e.Hint = fmt.Sprintf("the service asks to be left alone for %s", pause.Round(time.Second))
	}
	e.Details = errorDetails(status, a.contentType, text)
	return e
}

// effectOf is what the status of an answer tells of a write.
func effectOf(status int) catalog.Effect {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return catalog.EffectUnknown
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return catalog.EffectNone
	}
	if status >= 400 && status < 500 {
		return catalog.EffectNone
	}
	return catalog.EffectUnknown
}

// said finds the sentence in an error's body.
func said(text []byte) string {
	if !valid(text) {
		return ""
	}
	o := objectOf(text)
	for _, key := range []string{"detail", "message", "error_description", "title", "error", "errors"} {
		value := o[key]
		switch kindOf(value) {
		case "a string":
			if s := unquote(value); s != "" {
				return cut(s, 500)
			}
		case "an object":
			inner := objectOf(value)
			for _, key := range []string{"message", "detail"} {
				if s := inner.text(key); s != "" {
					return cut(s, 500)
				}
			}
		}
	}
	return ""
}

// errorDetails are the status and the body, whole or its beginning.
func errorDetails(status int, contentType string, text []byte) json.RawMessage {
	details := map[string]any{"status": status}
	switch {
	case len(text) == 0:
	case len(text) <= maxErrorBody && valid(text):
		details["body"] = json.RawMessage(text)
	case utf8.Valid(text):
		details["body"] = cut(string(text), maxErrorBody)
	default:
		details["body"] = fmt.Sprintf("%d bytes of %s", len(text), cut(essence(contentType), 60))
	}
	return must(encode(details))
}
