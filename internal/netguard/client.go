package netguard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// The defaults of [Options].
const (
	DefaultMaxBody   = 32 << 20
	DefaultTimeout   = time.Minute
	DefaultUserAgent = "heddle"
)

const (
	// maxHeader bounds the header of a response, in bytes.
	maxHeader = 256 << 10
	// connectTimeout bounds the way to a connection: resolve and connect, then TLS.
	connectTimeout = 10 * time.Second
	maxRedirects   = 5
	// maxIdlePerHost is how many connections to a host are kept: calls come many at
	// once, and one that is not kept is made anew, with its TLS.
	maxIdlePerHost = 32
)

// Options are the rules of a client. The zero value is the strictest.
type Options struct {
	// Allow names hosts that may be reached by plain HTTP and at any address, each
	// as host or host:port, such as localhost:8080 or billing.internal. An IPv6
	// address stands in brackets.
	Allow []string
	// MaxBody bounds the body of a response after decompression, in bytes.
	// 0: [DefaultMaxBody].
	MaxBody int64
	// Timeout bounds one request, from the name to the last byte of the response,
	// redirects included. 0: [DefaultTimeout].
	Timeout time.Duration
	// UserAgent is sent where a request has none. Empty: [DefaultUserAgent].
	UserAgent string
}

// Client makes requests within the rules. It is safe for concurrent use, and
// keeps connections for requests to come.
type Client struct {
	allow     map[string]bool
	maxBody   int64
	timeout   time.Duration
	userAgent string
	client    *http.Client
	// once has a connection for each request.
	once *http.Client
}

// New returns a client. The error names the option that cannot be.
func New(o Options) (*Client, error) {
	c := &Client{allow: map[string]bool{}, maxBody: o.MaxBody, timeout: o.Timeout, userAgent: o.UserAgent}
	for _, host := range o.Allow {
		u, err := url.Parse("//" + host)
		if err != nil || u.Hostname() == "" || u.Host != host {
			return nil, fmt.Errorf("netguard: allowed host %q: want host or host:port", host)
		}
		c.allow[strings.ToLower(host)] = true
	}
	if c.maxBody < 0 || c.timeout < 0 {
		return nil, errors.New("netguard: a limit is negative")
	}
	if c.maxBody == 0 {
		c.maxBody = DefaultMaxBody
	}
	if c.timeout == 0 {
		c.timeout = DefaultTimeout
	}
	if c.userAgent == "" {
		c.userAgent = DefaultUserAgent
	}
	transport := &http.Transport{
		DialContext:            c.dial,
		TLSHandshakeTimeout:    connectTimeout,
		MaxResponseHeaderBytes: maxHeader,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           100,
		MaxIdleConnsPerHost:    maxIdlePerHost,
		IdleConnTimeout:        time.Minute,
	}
	once := transport.Clone()
	once.DisableKeepAlives = true
	c.client = &http.Client{CheckRedirect: c.redirect, Transport: transport}
	c.once = &http.Client{CheckRedirect: c.redirect, Transport: once}
	return c, nil
}

// Close closes the connections that are not in use.
func (c *Client) Close() { c.client.CloseIdleConnections() }

// Do sends a request and returns the response, whose body the caller closes. The
// body gives [TooLargeError] past the limit. Of an error, errors.As tells
// [NotSentError] and [RefusedError].
//
// A request with Close set has a connection of its own: nothing goes over it before
// or after. On one that is used again, net/http may take what a server has sent too
// much for the answer to the next request.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	if err := c.Check(req.URL); err != nil {
		return nil, &NotSentError{err}
	}
	ctx, cancel := context.WithTimeout(req.Context(), c.timeout)
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) {
			// A write is tried on another connection only when nothing of it went over
			// the first, as when the server had closed that meanwhile.
			if !repeatable(req.Method) {
				connected.Store(false)
			}
		},
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	response, err := c.send(c.labelled(req.WithContext(ctx)))
	if err != nil {
		cancel()
		if err = cause(err); !connected.Load() {
			return nil, &NotSentError{err}
		}
		return nil, err
	}
	if encoding := response.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		_ = response.Body.Close()
		cancel()
		return nil, fmt.Errorf("the response has the content encoding %q, which was not asked for", encoding)
	}
	response.Body = &body{ReadCloser: response.Body, left: c.maxBody, limit: c.maxBody, done: cancel}
	return response, nil
}

// labelled gives a request a header of its own, with a user agent: what the caller does
// with its own later is of no matter.
func (c *Client) labelled(req *http.Request) *http.Request {
	header := make(http.Header, len(req.Header)+1)
	header.Set("User-Agent", c.userAgent)
	maps.Copy(header, req.Header)
	if header.Get("User-Agent") == "" {
		header.Set("User-Agent", c.userAgent)
	}
	req.Header = header
	return req
}

// send sends a request. A write is never redirected, so that it takes nobody who could
// follow.
func (c *Client) send(req *http.Request) (*http.Response, error) {
	by := c.client
	if req.Close {
		by = c.once
	}
	if repeatable(req.Method) {
		return by.Do(req)
	}
	return by.Transport.RoundTrip(req)
}

// cause takes the URL out of the error of a client, as its query may hold a
// credential, and who was asked for a name, which is nobody's business.
func cause(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var unresolved *net.DNSError
	if errors.As(err, &unresolved) {
		unnamed := *unresolved
		unnamed.Server = ""
		return &unnamed
	}
	return err
}

// Check says why the rules forbid a request to a URL, as far as can be told
// before its name is resolved: a *[RefusedError].
func (c *Client) Check(u *url.URL) error {
	refuse := func(reason string) error { return &RefusedError{Origin(u), reason} }
	switch {
	case u.Hostname() == "":
		return refuse("it has no host")
	case u.User != nil:
		return refuse("a URL must not hold a user name or password")
	case u.Scheme == "https":
	case u.Scheme != "http":
		return refuse("only https is allowed")
	case !c.allowed(u.Hostname(), port(u)):
		return refuse("only https is allowed, unless the operator allows the host")
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil && !c.allowed(u.Hostname(), port(u)) {
		return refuseAddress(u.Hostname(), addr)
	}
	return nil
}

func refuseAddress(target string, addr netip.Addr) error {
	if what := notPublic(addr); what != "" {
		return &RefusedError{target, "its address " + addr.String() + " is not public (" + what + "), and the operator does not allow the host"}
	}
	return nil
}

// Origin is the scheme, host and port of a URL, in lower case and with the port
// only where it is not the scheme's own.
func Origin(u *url.URL) string {
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	scheme := strings.ToLower(u.Scheme)
	if p := u.Port(); p != "" && (scheme != "https" || p != "443") && (scheme != "http" || p != "80") {
		host += ":" + p
	}
	return scheme + "://" + host
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "http":
		return "80"
	}
	return "443"
}

func (c *Client) allowed(host, port string) bool {
	host = strings.ToLower(host)
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return c.allow[host] || c.allow[host+":"+port]
}

// dial connects to a host. The address is looked at when all is resolved and
// before anything is sent.
func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: connectTimeout}
	if !c.allowed(host, port) {
		dialer.Control = func(_, resolved string, _ syscall.RawConn) error {
			addr, err := netip.ParseAddrPort(resolved)
			if err != nil {
				return &RefusedError{host, "its address cannot be read"}
			}
			return refuseAddress(host, addr.Addr())
		}
	}
	return dialer.DialContext(ctx, network, address)
}

// repeatable reports whether a request of the method may be sent again by itself.
func repeatable(method string) bool {
	return method == "" || method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions || method == http.MethodTrace
}

// redirect decides about following one. A write is not sent again to wherever a
// server says: its response is the redirect itself.
func (c *Client) redirect(req *http.Request, via []*http.Request) error {
	if !repeatable(via[0].Method) {
		return http.ErrUseLastResponse
	}
	if len(via) > maxRedirects {
		return &RefusedError{Origin(req.URL), fmt.Sprintf("it is the end of more than %d redirects", maxRedirects)}
	}
	if err := c.Check(req.URL); err != nil {
		return fmt.Errorf("redirect: %w", err)
	}
	// The query of the last address may hold a credential too.
	req.Header.Del("Referer")
	for _, earlier := range append(via[1:len(via):len(via)], req) {
		if Origin(earlier.URL) != Origin(via[0].URL) {
			req.Header = harmless(req.Header)
			break
		}
	}
	return nil
}

// harmless are the headers that another origin may see.
func harmless(h http.Header) http.Header {
	kept := http.Header{}
	for _, name := range []string{"Accept", "Accept-Language", "User-Agent"} {
		if values := h.Values(name); len(values) > 0 {
			kept[name] = values
		}
	}
	return kept
}

// body bounds a response and frees its time limit at the end.
type body struct {
	io.ReadCloser
	left, limit int64
	done        context.CancelFunc
}

func (b *body) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, &TooLargeError{b.limit}
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, &TooLargeError{b.limit}
	}
	return n, err
}

func (b *body) Close() error {
	defer b.done()
	return b.ReadCloser.Close()
}
