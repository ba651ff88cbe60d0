package openai

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/activities"
)

// maxMessage bounds an error's message, in bytes: it goes into the history.
const maxMessage = 1 << 10

// failure makes a *ModelError of whatever ended the call.
func (c *call) failure(err error) error {
	var known *activities.ModelError
	switch {
	case c.parent.Err() != nil:
		return &activities.ModelError{Kind: activities.ModelUnavailable, Message: "the call was ended: " + c.parent.Err().Error(), Err: c.parent.Err()}
	case errors.As(err, &known):
		known.Message = c.clean(known.Message)
		return known
	case errors.Is(err, errTooLarge), errors.Is(err, bufio.ErrTooLong):
		return malformed("the reply is larger than %d MiB", maxReply>>20)
	}
	switch context.Cause(c.ctx) {
	case errTimeout:
		return &activities.ModelError{Kind: activities.ModelUnavailable, Message: fmt.Sprintf("no whole reply within %v", c.timeout), Err: errTimeout}
	case errIdle:
		return &activities.ModelError{Kind: activities.ModelUnavailable, Message: fmt.Sprintf("the server was silent for %v", c.idle), Err: errIdle}
	}
	return c.networkError(err)
}

// networkError says which server it was. The cause is left out where it holds
// the key: it is printed beside the message.
func (c *call) networkError(err error) error {
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err
	}
	failed := &activities.ModelError{
		Kind:    activities.ModelUnavailable,
		Message: c.clean(fmt.Sprintf("talking to %s://%s failed: %v", c.base.Scheme, c.base.Host, err)),
		Err:     err,
	}
	if c.redact(err.Error()) != err.Error() {
		failed.Err = nil
	}
	return failed
}

// statusError reads an answer with a status other than success.
func (c *call) statusError(res *http.Response) error {
	if res.StatusCode < 400 {
		return &activities.ModelError{
			Kind:    activities.ModelInvalid,
			Status:  res.StatusCode,
			Message: "the server redirects" + target(res) + ", and no redirect is followed; set the base URL to where the API is",
		}
	}
	// What cannot be read of the body costs the explanation, not the status.
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxReply))
	p := readProblem(body)
	failed := &activities.ModelError{Kind: p.kind(res.StatusCode), Status: res.StatusCode, Message: p.message}
	if failed.Message == "" {
		failed.Message = http.StatusText(res.StatusCode) + describe(body, res.Header)
	}
	if failed.Retryable() {
		failed.RetryAfter = retryAfter(res.Header, time.Now())
	}
	return failed
}

// target names the host of a redirect. The rest of the address may be secret.
func target(res *http.Response) string {
	u, err := res.Location()
	if err != nil {
		return ""
	}
	return " to " + u.Scheme + "://" + u.Host
}

// reportedError is an error that came in place of a reply, with status 200.
func reportedError(raw json.RawMessage) error {
	p := readProblem(raw)
	status, _ := strconv.Atoi(p.code)
	if status < 400 || status > 599 {
		status = 0
	}
	if p.message == "" {
		p.message = "the server reported an error in place of a reply: " + string(raw)
	}
	return &activities.ModelError{Kind: p.kind(status), Status: status, Message: p.message}
}

func malformed(format string, args ...any) *activities.ModelError {
	return &activities.ModelError{Kind: activities.ModelUnavailable, Message: fmt.Sprintf(format, args...)}
}

// emptyReply is the error for a reply without words and calls.
func emptyReply(stop activities.StopReason) error {
	switch stop {
	case activities.StopLength:
		return &activities.ModelError{Kind: activities.ModelInvalid, Message: "the reply is empty: the output limit was reached before a word was said; raise the limit"}
	case activities.StopFilter:
		return &activities.ModelError{Kind: activities.ModelInvalid, Message: "the reply is empty: the vendor's content filter withheld all of it"}
	default:
		return malformed("the reply is empty: no words and no tool calls")
	}
}

// problem is what a server says of an error.
type problem struct{ message, code, class string }

// readProblem reads the forms in which servers report an error: {"error": {...}},
// {"error": "..."}, {"message": ...}, {"detail": ...}, and each of them in a list.
func readProblem(body []byte) problem {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &outer) == nil && len(outer.Error) > 0 && string(outer.Error) != "null" {
		body = outer.Error
	}
	var text string
	if json.Unmarshal(body, &text) == nil {
		return problem{message: text}
	}
	var fields struct {
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
		Code    json.RawMessage `json:"code"`
		Type    json.RawMessage `json:"type"`
	}
	if json.Unmarshal(body, &fields) != nil {
		return problem{}
	}
	return problem{
		message: cmp.Or(plain(fields.Message), plain(fields.Detail)),
		code:    plain(fields.Code),
		class:   plain(fields.Type),
	}
}

// plain returns a JSON string's text, nothing for null, and of any other value
// the JSON.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// kind says what an error means for the next attempt. Status 0 is unknown.
func (p problem) kind(status int) activities.ModelErrorKind {
	names := []string{p.code, p.class}
	has := func(part string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, part) })
	}
	switch {
	// An account without money answers 429, and will tomorrow.
	case has("insufficient_quota"), has("billing_not_active"):
		return activities.ModelUnauthorized
	case status == http.StatusUnauthorized, status == http.StatusPaymentRequired,
		status == http.StatusForbidden, status == http.StatusProxyAuthRequired:
		return activities.ModelUnauthorized
	case status == http.StatusTooManyRequests:
		return activities.ModelRateLimited
	case status == http.StatusRequestTimeout, status == http.StatusConflict,
		status == http.StatusTooEarly, status >= 500:
		return activities.ModelUnavailable
	case status >= 300:
		return activities.ModelInvalid
	case has("rate_limit"):
		return activities.ModelRateLimited
	case has("invalid_api_key"), has("authentication"), has("permission"):
		return activities.ModelUnauthorized
	case has("invalid_request"), has("context_length"):
		return activities.ModelInvalid
	default:
		return activities.ModelUnavailable
	}
}

// clean makes a server's words fit for an error: without the key, on one line,
// short.
func (c *call) clean(s string) string {
	return clip(strings.Join(strings.Fields(c.redact(s)), " "), maxMessage)
}

// clip cuts a text to at most limit bytes, between characters.
func clip(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
