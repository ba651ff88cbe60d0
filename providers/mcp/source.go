package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync/atomic"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/netguard"
)

var _ catalog.Remembering = (*Source)(nil)

// Source is the tools of one server. It is safe for concurrent use.
type Source struct {
	options     Options
	server      *url.URL // nil for a command
	client      *netguard.Client
	credentials Credentials
	permissions permissions
	// place says where the server is, for people.
	place   string
	pool    *pool
	breaker *breaker
	listing *listing
	// old says that the server leaves unanswered what only newer ones know.
	old atomic.Bool
}

// New returns the source of a server. It asks nothing yet; the error names the
// option that cannot be.
func New(o Options) (*Source, error) {
	server, err := o.check()
	if err != nil {
		return nil, fmt.Errorf("mcp: %s: %w", cut(o.Namespace, 2*maxNamespace), err)
	}
	s := &Source{
		options: o, server: server, permissions: o.Permissions,
		pool:    newPool(o.Idle, o.MaxConnections),
		breaker: newBreaker(maxConcurrent),
	}
	if o.Connection != "" {
		o.Credentials = connectionCredentials(o)
	}
	s.credentials = withSecrets(o.SecretHeaders, o.Secrets, both(o.Headers, o.Credentials))
	s.listing = newListing(s)
	if server == nil {
		s.place = o.Command.Path
		return s, nil
	}
	s.place = netguard.Origin(server)
	if s.client, err = o.network(); err == nil {
		err = s.client.Check(server)
	}
	if err != nil {
		return nil, fmt.Errorf("mcp: %s: %w", o.Namespace, err)
	}
	return s, nil
}

// Close ends all connections: those in use when their last call ends.
func (s *Source) Close() {
	s.pool.close()
	if s.client != nil {
		s.client.Close()
	}
}

// Name is the namespace.
func (s *Source) Name() string { return s.options.Namespace }

// Namespace begins the id of each tool.
func (s *Source) Namespace() string { return s.options.Namespace }

// Call calls a tool by the server's name for it, for a source that knows it without
// asking. The tool must be one that reads.
func (s *Source) Call(ctx context.Context, name string, c catalog.Call) (json.RawMessage, error) {
	result, err := s.with(ctx, c.Scope, false, func(ctx context.Context, l *link) (json.RawMessage, error) {
		return s.callTool(ctx, l, offer{name: name}, c)
	}, nil)
	if err == nil {
		result, err = s.outcome(ctx, result, false)
	}
	return result, public(err)
}

// Tools lists what the server offers. It is asked anew when it says that its tools
// have changed, and from time to time; while it cannot be asked the last answer
// holds.
func (s *Source) Tools(ctx context.Context) ([]catalog.Tool, error) {
	tools, _, err := s.listing.get(ctx)
	return tools, public(err)
}

// Remembered is what Tools would return while the last answer of the server holds.
func (s *Source) Remembered() ([]catalog.Tool, bool) {
	tools, _, ok := s.listing.remembered()
	return tools, ok
}

// Report says what of the last listing is not offered, and why.
func (s *Source) Report() Report { return s.listing.reported() }

// Shortfall says why the last answer of the server still holds, if it could not be
// asked anew, and what of it is not offered.
func (s *Source) Shortfall(catalog.Scope) (leftOut []string, stale error) {
	return s.listing.shortfall()
}

// connection returns a connection for a scope, and what to call when done with it.
func (s *Source) connection(ctx context.Context, scope catalog.Scope) (*link, func(), error) {
	credential, err := s.credentials(ctx, Need{Scope: scope})
	if err != nil {
		return nil, nil, credentialFault(err)
	}
	key := poolKey{tenant: scope.Tenant, generation: credential.Generation}
	return s.pool.get(ctx, key, func(ctx context.Context) (*link, error) {
		return s.dial(ctx, &holder{credentials: s.credentials, scope: scope, credential: credential})
	})
}

// dial makes a connection.
func (s *Source) dial(ctx context.Context, h *holder) (*link, error) {
	l := &link{answer: s.options.Answer, holder: h, progress: map[int64]func(catalog.Progress){}}
	e := events{notification: func(method string, params map[string]any) { s.heard(l, method, params) }, request: l.asked}
	var err error
	switch {
	case s.server == nil:
		l.wire, err = dialProcess(*s.options.Command, s.options.MaxMessage, e)
	case s.options.SSE:
		l.wire, err = dialSSE(ctx, s.client, s.server, h, s.options.MaxMessage, e)
	default:
		l.wire, err = dialHTTP(s.client, s.server, h, s.options.MaxMessage, e)
	}
	if err != nil {
		return nil, unwell(err)
	}
	if err := l.handshake(ctx, s.old.Load() || s.options.SSE); err != nil {
		l.wire.close()
		return nil, unwell(err)
	}
	if !l.modern {
		s.old.Store(true)
	}
	l.unsubscribe = l.subscribe()
	return l, nil
}

// unwell is an error on the way to a session: none of them says anything of a call,
// and a server that takes too long is not well.
func unwell(err error) error {
	var f *fault
	if !errors.As(err, &f) {
		return err
	}
	same := *f
	same.effect = catalog.EffectNone
	same.gone = false
	same.sick = f.sick || f.code == catalog.CodeTimeout
	if f.status == 404 && f.code == "http_404" {
		same.hint = "there is no server of the Model Context Protocol at this address"
	}
	return &same
}

// heard takes what the server says unasked.
func (s *Source) heard(l *link, method string, params map[string]any) {
	switch method {
	case "notifications/progress":
		l.progressed(params)
	case "notifications/tools/list_changed":
		s.listing.outdated()
	case "notifications/message":
		text, err := encode(params["data"])
		if err != nil {
			return
		}
		level, _ := params["level"].(string)
		slog.Debug("mcp: a server logs", "source", s.Name(), "level", plain(level, 20), "text", plain(string(text), maxText))
	}
}

// with carries out a request on a connection. A session that the server has
// forgotten, or a connection that is lost, is begun anew once where nothing can
// have happened yet, or nothing can happen: then again is asked first, which may
// refuse.
func (s *Source) with(ctx context.Context, scope catalog.Scope, write bool, act, again func(context.Context, *link) (json.RawMessage, error)) (result json.RawMessage, err error) {
	leave, err := s.breaker.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		leave(err)
		// What the server offered need not be what it offers when it is back.
		if f := (*fault)(nil); errors.As(err, &f) && f.code == CodeUnreachable {
			s.listing.expire()
		}
	}()
	do := act
	for attempt := 1; ; attempt++ {
		l, release, err := s.connection(ctx, scope)
		if err != nil {
			return nil, err
		}
		result, err := do(ctx, l)
		release()
		var f *fault
		if err == nil || attempt == 2 || !errors.As(err, &f) || !f.gone || write && f.effect != catalog.EffectNone || ctx.Err() != nil {
			return result, err
		}
		s.listing.expire()
		if again != nil {
			do = again
		}
	}
}
