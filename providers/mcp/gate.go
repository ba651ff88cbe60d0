package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/netguard"
)

// gate is the HTTP transport below those of mcp-go: each request that anything
// makes to a server goes through it, with the credential, within the rules of the
// network and the bounds of the exchange that it belongs to.
type gate struct {
	client *netguard.Client
	// origin is the server's. Nothing of the protocol leads elsewhere: an endpoint
	// that the server names at another one, or without TLS, is refused.
	origin string
	// holder gives the credential. It belongs to one connection.
	holder *holder
	// message bounds one message.
	message int64
}

// newHTTPClient is the client that a transport is given.
func newHTTPClient(g *gate) *http.Client {
	return &http.Client{
		Transport: g,
		// The network's rules decide about redirects, below.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// RoundTrip makes a request, and once more with another credential where the server
// refuses the first and there is another.
func (g *gate) RoundTrip(req *http.Request) (*http.Response, error) {
	x := exchangeOf(req.Context())
	credential := g.holder.current()
	response, err := g.trip(x, req, credential)
	if err != nil || response.StatusCode != http.StatusUnauthorized && response.StatusCode != http.StatusForbidden {
		return response, err
	}
	next, err := g.holder.replace(req.Context(), credential, response)
	if err != nil {
		_ = response.Body.Close()
		x.failed(err)
		return nil, err
	}
	if next == nil || req.Body != nil && req.GetBody == nil {
		return response, nil
	}
	_ = response.Body.Close()
	again := req.Clone(req.Context())
	if req.GetBody != nil {
		if again.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	x.restart()
	return g.RoundTrip(again)
}

func (g *gate) trip(x *exchange, req *http.Request, credential Credential) (*http.Response, error) {
	fail := func(err error) (*http.Response, error) {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		x.failed(err)
		return nil, err
	}
	first, err := x.spend()
	switch {
	case err != nil && listens(req):
		// It ends as at a server that offers no such stream; it would be tried for ever.
		return &http.Response{StatusCode: http.StatusMethodNotAllowed, Body: http.NoBody, Request: req}, nil
	case err != nil:
		return fail(&netguard.NotSentError{Err: err})
	}
	if origin := netguard.Origin(req.URL); origin != g.origin {
		return fail(&netguard.NotSentError{Err: &netguard.RefusedError{
			Target: origin, Reason: "the server is at " + g.origin + " and must not lead elsewhere",
		}})
	}
	response, err := g.client.Do(credential.on(req))
	if err != nil {
		x.failed(err)
		return nil, err
	}
	x.answered(first, response, req.Header.Get("Mcp-Session-Id") != "")
	stream := strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream")
	response.Body = &bounded{ReadCloser: response.Body, exchange: x, ctx: req.Context(), stream: stream, most: g.message, left: g.message}
	return response, nil
}

// on is a request with the credential. The header is another one, as the request's is
// its maker's.
func (c Credential) on(req *http.Request) *http.Request {
	if len(c.Headers) == 0 {
		return req
	}
	own := req.WithContext(req.Context())
	own.Header = make(http.Header, len(req.Header)+len(c.Headers))
	maps.Copy(own.Header, req.Header)
	for name, value := range c.Headers {
		own.Header.Set(name, value)
	}
	return own
}

// listens reports whether a request opens the stream of what a server says unasked.
func listens(req *http.Request) bool {
	return req.Method == http.MethodGet && req.Header.Get("Last-Event-Id") == ""
}

// bounded bounds each message of an answer. The answer as a whole is bounded below.
type bounded struct {
	io.ReadCloser
	exchange *exchange
	ctx      context.Context
	// stream says that a blank line ends a message.
	stream     bool
	most, left int64
	// newline says that the last byte was the end of a line.
	newline bool
	// messages counts those of the stream.
	messages int
	// effort is what putting the lines of a message together has cost so far.
	effort int64
}

// maxEffort bounds the bytes that are copied to put the lines of one message
// together: a transport copies, with each line, all that came before it.
const maxEffort = 1 << 30

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	switch b.count(p[:n]); {
	case b.left < 0:
		n, err = 0, &netguard.TooLargeError{Limit: b.most}
	case b.messages > maxMessages:
		n, err = 0, &fault{
			code: catalog.CodeTooLarge, effect: catalog.EffectUnknown, sick: true, gone: true,
			message: fmt.Sprintf("the server's answer is too long: it is a stream of more than %d messages", maxMessages),
		}
	}
	if err != nil && !errors.Is(err, io.EOF) && b.ctx.Err() == nil {
		b.exchange.failed(err)
	}
	return n, err
}

// count takes what was read from what is left of the message.
func (b *bounded) count(p []byte) {
	if !b.stream {
		b.left -= int64(len(p))
		return
	}
	for len(p) > 0 && b.left >= 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			b.left -= int64(len(p))
			b.newline = b.newline && len(p) == 1 && p[0] == '\r'
			return
		}
		blank := i == 0 || i == 1 && p[0] == '\r'
		b.left -= int64(i + 1)
		b.effort += b.most - b.left
		switch {
		case b.left < 0:
		case b.newline && blank:
			b.left, b.effort = b.most, 0
			b.messages++
		case b.effort > maxEffort:
			b.left = -1
		}
		b.newline = true
		p = p[i+1:]
	}
}

// newGate returns the gate of one connection.
func newGate(client *netguard.Client, server *url.URL, h *holder, message int64) *gate {
	return &gate{client: client, origin: netguard.Origin(server), holder: h, message: message}
}

// reserved are the headers that belong to the protocol and to HTTP itself. With a key of
// idempotency, which would be the same for all calls, Go's transport would send a call
// again by itself when a kept connection breaks.
var reserved = []string{
	"Accept", "Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Host",
	"Idempotency-Key", "Last-Event-Id", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "X-Idempotency-Key",
}

// checkHeader says why a header cannot be sent with each request. The value is in
// no message.
func checkHeader(name, value string) error {
	canonical := http.CanonicalHeaderKey(name)
	for _, r := range name {
		if r <= ' ' || r >= 0x7f || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", r) {
			return fmt.Errorf("header %q: that is no name of a header", name)
		}
	}
	if name == "" {
		return errors.New("a header has no name")
	}
	if strings.HasPrefix(canonical, "Mcp-") {
		return fmt.Errorf("header %s: belongs to the protocol", canonical)
	}
	for _, r := range reserved {
		if canonical == r {
			return fmt.Errorf("header %s: belongs to the protocol", canonical)
		}
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return fmt.Errorf("header %s: its value holds a control character", canonical)
		}
	}
	return nil
}
