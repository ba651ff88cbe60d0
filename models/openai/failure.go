package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
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
	case errors.Is(err, errTooLarge):
		return unavailable("the reply is larger than %d MiB, or a line of its stream than %d MiB", maxReply>>20, maxLine>>20)
	}
	switch context.Cause(c.ctx) {
	case errTimeout:
		return unavailable("no whole reply within %v", c.timeout)
	case errIdle:
		return unavailable("the server was silent for %v", c.idle)
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
		failed.Message = cmp.Or(http.StatusText(res.StatusCode), "no reason given") + c.describe(body, res.Header)
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

// unavailable is the error for what another attempt may well do better.
func unavailable(format string, args ...any) *activities.ModelError {
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
		return unavailable("the reply is empty: no words and no tool calls")
	}
}

func mediaType(header http.Header) string {
	t, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return t
}

// describe says what came instead of JSON.
func (c *call) describe(body []byte, header http.Header) string {
	if json.Valid(body) {
		return ""
	}
	kind := mediaType(header)
	if kind == "" {
		kind = "no content type"
	}
	if len(body) == 0 {
		return fmt.Sprintf(" (%s, empty)", kind)
	}
	return fmt.Sprintf(" (%s, begins with %q; is the base URL right?)", kind, clip(c.redact(string(body)), 80))
}

// redact removes the key from what a server said.
func (c *call) redact(s string) string {
	// A server without keys is often given a word like "ollama" for one. To
	// remove that would damage messages and protect nothing.
	if len(c.key) < 8 {
		return s
	}
	return strings.ReplaceAll(s, c.key, "[redacted]")
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
