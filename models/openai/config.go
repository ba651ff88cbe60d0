package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// Defaults of a [Config].
const (
	DefaultBaseURL     = "https://api.openai.com/v1"
	DefaultTimeout     = 10 * time.Minute
	DefaultIdleTimeout = 3 * time.Minute
)

// Config says which server to ask, and how.
type Config struct {
	// BaseURL is the address up to and without /chat/completions, http or https.
	// Empty: [DefaultBaseURL].
	BaseURL string
	// APIKey returns the key, at each call. Nil: none is sent. A *ModelError that
	// it returns is passed on as it is; any other error counts as unavailable.
	APIKey func(ctx context.Context) (string, error) `json:"-" yaml:"-"`
	// HTTPClient carries the requests, and is the place for a guarded dialer. It
	// is copied; the copy follows no redirect. Nil: one with Go's default
	// timeouts for connecting.
	HTTPClient *http.Client `json:"-" yaml:"-"`
	// Timeout bounds a whole call. 0: [DefaultTimeout].
	Timeout time.Duration
	// IdleTimeout bounds the server's silence in a streamed call, from the
	// request to the first byte and from each byte to the next.
	// 0: [DefaultIdleTimeout].
	IdleTimeout time.Duration
}

// Key returns the APIKey of a [Config] for a key that does not change. An empty
// value stands for no key.
func Key(value string) func(context.Context) (string, error) {
	if value == "" {
		return nil
	}
	return func(context.Context) (string, error) { return value, nil }
}

// Model asks one server. It is safe for concurrent use.
type Model struct {
	chat sdk.ChatCompletionService
	base *url.URL
	// key is nil when none is sent.
	key           func(ctx context.Context) (string, error)
	timeout, idle time.Duration
}

// New checks the configuration. It makes no request.
func New(cfg Config) (*Model, error) {
	base, err := parseBaseURL(cfg.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("openai: base URL: %w", err)
	}
	if cfg.Timeout < 0 {
		return nil, fmt.Errorf("openai: timeout: %v is negative", cfg.Timeout)
	}
	if cfg.IdleTimeout < 0 {
		return nil, fmt.Errorf("openai: idle timeout: %v is negative", cfg.IdleTimeout)
	}
	m := &Model{base: base, key: cfg.APIKey, timeout: cfg.Timeout, idle: cfg.IdleTimeout}
	if m.timeout == 0 {
		m.timeout = DefaultTimeout
	}
	if m.idle == 0 {
		m.idle = DefaultIdleTimeout
	}
	// The service is made directly: the SDK's client would read OPENAI_* from
	// the environment.
	m.chat = sdk.NewChatCompletionService(
		option.WithBaseURL(base.String()),
		option.WithHTTPClient(httpClient(cfg.HTTPClient)),
		option.WithMaxRetries(0),
	)
	return m, nil
}

func parseBaseURL(s string) (*url.URL, error) {
	if s == "" {
		s = DefaultBaseURL
	}
	u, err := url.Parse(s)
	if err != nil {
		// The parser's message quotes the whole address, and so what may be a
		// password in it.
		return nil, errors.New("is not a URL")
	}
	switch {
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("must hold no user, query or fragment; a key belongs into APIKey")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%q must begin with http:// or https://", s)
	case u.Hostname() == "":
		return nil, fmt.Errorf("%q names no host", s)
	case strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions"):
		return nil, fmt.Errorf("%q must end before /chat/completions", s)
	}
	if !strings.HasSuffix(u.Path, "/") {
		u.Path += "/"
	}
	return u, nil
}

// httpClient returns a client that hands redirects back. A redirect would take
// the conversation, and perhaps the key, to a server that nobody configured.
func httpClient(given *http.Client) *http.Client {
	if given == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		// All threads of a worker talk to the same host.
		transport.MaxIdleConnsPerHost = transport.MaxIdleConns
		given = &http.Client{Transport: transport}
	}
	client := *given
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}
