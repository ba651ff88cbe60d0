package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/netguard"
	"github.com/heddle-dev/heddle/internal/oauth"
	"github.com/heddle-dev/heddle/secrets"
)

const (
	// maxAttempts bounds how often a read is tried of which the service asks to
	// come back later.
	maxAttempts = 3
	// maxPause bounds one such wait.
	maxPause = 30 * time.Second
)

// round is what a call sends, once or for each of several pages.
type round struct {
	out    *outgoing
	server *url.URL
	input  json.RawMessage
	caller caller
	write  bool
	pages  int
}

// call carries one call of an operation out.
func (s *Source) call(ctx context.Context, spec *Spec, o *operation, write bool, call catalog.Call) (json.RawMessage, error) {
	c, err := spec.compile(o)
	if err != nil {
		return nil, notMade(err)
	}
	r := round{input: call.Input, caller: caller{call.Scope, call.Secrets}, write: write, pages: c.pager.wanted(call.Input)}
	if r.server, err = s.where(spec, c); err != nil {
		return nil, notMade(err)
	}
	if r.out, err = c.build(call.Input, r.server, s.reader(ctx)); err != nil {
		return nil, notMade(err)
	}
	if write && call.IdempotencyKey != "" {
		// Not in its canonical form, which net/http takes for leave to send the
		// request again by itself when a connection breaks.
		r.out.header["idempotency-key"] = []string{call.IdempotencyKey}
	}
	if r.pages > 1 {
		return s.pages(ctx, c, r)
	}
	got, err := s.settle(ctx, c, r)
	return got.result, err
}

// settled is what came of one request.
type settled struct {
	result json.RawMessage
	links  []string
	// stale says that the service has refused an access token that was fetched here
	// and is now forgotten.
	stale bool
}

// settle sends a request, and once more where the service has refused an access
// token, and so has done nothing.
func (s *Source) settle(ctx context.Context, c *compiled, r round) (settled, error) {
	got, err := s.authenticated(ctx, c, r)
	if got.stale {
		got, err = s.authenticated(ctx, c, r)
	}
	return got, err
}

// authenticated sends a request with credentials.
func (s *Source) authenticated(ctx context.Context, c *compiled, r round) (got settled, _ error) {
	sent := false
	err := s.authenticate(ctx, c, r.caller, netguard.Origin(r.out.url), func(ctx context.Context, g grant) error {
		sent = true
		a, err := s.attempts(ctx, r.out, g, r.write)
		if err != nil {
			return redactError(err, g.secrets)
		}
		if got.stale = a.status == http.StatusUnauthorized && g.drop != nil; got.stale {
			g.drop()
		}
		a.body = redact(a.body, g.secrets)
		got.links = a.links
		got.result, err = s.judge(ctx, a, r.write)
		if err != nil && g.connection != "" {
			err = reconnecting(disconnected(a, g, err), r.server)
		}
		if a.status == http.StatusUnauthorized && g.drop == nil {
			return staleError{err} // where the secret can be renewed, it is
		}
		return err
	})
	if err != nil && !sent {
		return got, notMade(reconnecting(err, r.server))
	}
	if refused, ok := err.(staleError); ok { //nolint:errorlint // it is this source's own
		err = refused.error
	}
	return got, err
}

// disconnected is the error of an answer that only a person can mend, who connects the
// service again. Any other error stays as it is.
func disconnected(a answer, g grant, err error) error {
	r := catalog.Reconnection{Name: g.connection}
	switch challenge := oauth.ReadChallenge(a.challenges); {
	case a.status == http.StatusUnauthorized:
		return r.Error(catalog.CodeConnectionRevoked, "the service takes the token of the connection "+r.Name+" no more: "+err.Error())
	case a.status == http.StatusForbidden && challenge.Error == oauth.Insufficient:
		if r.Scopes = challenge.Scopes; r.Scopes == nil {
			r.Scopes = g.scopes
		}
		return r.Error(catalog.CodeInsufficientScope, "the connection "+r.Name+" does not reach as far as the call: "+err.Error())
	}
	return err
}

// reconnecting says, in an error that connecting the service mends, which service that is.
func reconnecting(err error, server *url.URL) error {
	var typed *catalog.Error
	if !errors.As(err, &typed) || server == nil {
		return err
	}
	r, ok := typed.Reconnection()
	if !ok {
		return err
	}
	r.URL = (&url.URL{Scheme: server.Scheme, Host: server.Host, Path: strings.TrimSuffix(server.Path, "/")}).String()
	return r.Error(typed.Code, typed.Message)
}

// staleError is that of a call whose credential was refused.
type staleError struct{ error }

func (e staleError) Unwrap() error        { return e.error }
func (e staleError) Is(target error) bool { return target == secrets.ErrStale } //nolint:errorlint // that is what Is is for

// notMade is the error of a call that has sent nothing.
func notMade(err error) error {
	var typed *catalog.Error
	if errors.As(err, &typed) {
		return err
	}
	return &catalog.Error{Code: catalog.CodeToolFailed, Message: err.Error(), Effect: catalog.EffectNone}
}

// judge makes a result, or an error, of an answer.
func (s *Source) judge(ctx context.Context, a answer, write bool) (json.RawMessage, error) {
	if a.status == http.StatusSeeOther && write {
		return json.RawMessage("null"), nil // done, and the result is elsewhere
	}
	if a.status < 200 || a.status >= 300 {
		return nil, answerFailure(a)
	}
	return a.result(ctx, s.options.Files)
}

// attempts sends a write once, and a read again where the service says when.
func (s *Source) attempts(ctx context.Context, out *outgoing, g grant, write bool) (answer, error) {
	for attempt := 1; ; attempt++ {
		a, err := s.send(ctx, out, g, write)
		if err != nil || write || attempt == maxAttempts || a.status != http.StatusTooManyRequests && a.status != http.StatusServiceUnavailable {
			return a, err
		}
		pause, ok := retryAfter(a.retryAfter, time.Now())
		if deadline, has := ctx.Deadline(); !ok || has && time.Until(deadline) < pause {
			return a, nil
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return a, nil
		}
	}
}

// retryAfter reads when a service wants to be asked again.
func retryAfter(value string, now time.Time) (time.Duration, bool) {
	pause := time.Duration(0)
	if seconds, err := strconv.Atoi(value); err == nil {
		pause = time.Duration(min(max(seconds, 0), 1<<20)) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		pause = max(at.Sub(now), 0)
	} else {
		return 0, false
	}
	return pause, pause <= maxPause
}

// send makes one request. A write has a connection of its own: on one that had been
// used before, what is still left of an earlier answer would be taken for that to it.
func (s *Source) send(ctx context.Context, out *outgoing, g grant, write bool) (answer, error) {
	u := *out.url
	for _, p := range g.query {
		u.RawQuery = withoutPair(u.RawQuery, p.name)
		if u.RawQuery != "" {
			u.RawQuery += "&"
		}
		u.RawQuery += p.name + "=" + p.value
	}
	req, err := http.NewRequestWithContext(ctx, out.method, u.String(), nil)
	if err != nil {
		return answer{}, notMade(errors.New("the request cannot be made"))
	}
	req.Close = write
	if out.body != nil {
		body := bytes.NewReader(out.body)
		req.Body, req.ContentLength = readCloser{body}, int64(len(out.body))
		if len(out.body) == 0 {
			req.Body = http.NoBody
		}
	}
	for name, values := range out.header {
		req.Header[name] = values
	}
	for name, values := range g.header {
		req.Header[name] = values
	}
	if cookies := append(out.cookies[:len(out.cookies):len(out.cookies)], g.cookies...); len(cookies) > 0 {
		req.Header.Set("Cookie", strings.Join(cookies, "; "))
	}
	response, err := s.client.Do(req)
	if err != nil {
		return answer{}, transportFailure(err)
	}
	return readAnswer(response)
}

// withoutPair takes a name out of a query: the address of a next page may repeat
// the credential of the last.
func withoutPair(query, name string) string {
	parts := strings.Split(query, "&")
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return strings.HasPrefix(part, name+"=") }), "&")
}

// readCloser is a body that cannot be rewound: what was sent is not sent again.
type readCloser struct{ *bytes.Reader }

func (readCloser) Close() error { return nil }

// redactError takes secrets out of an error.
func redactError(err error, secrets []string) error {
	var typed *catalog.Error
	if errors.As(err, &typed) {
		clean := *typed
		clean.Message = string(redact([]byte(clean.Message), secrets))
		return &clean
	}
	return err
}
