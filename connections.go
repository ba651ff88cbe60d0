package heddle

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/config"
	"github.com/heddle-dev/heddle/internal/connections"
	"github.com/heddle-dev/heddle/internal/oauth"
	"github.com/heddle-dev/heddle/secrets"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// openConnections has the tokens of connections renewed. They lie among the secrets.
func (p *parts) openConnections(c *config.Config, vault *secrets.Vault) *connections.Book {
	network, err := oauth.Network(c.Connections.Allow)
	if err != nil {
		p.problem(c.Problem("connections.allow", err.Error()))
		return nil
	}
	p.closers = append(p.closers, network.Close)
	o := connections.Options{
		Store: vault, Network: network, Redactor: vault.Redactor(), Name: c.Connections.Name, Document: c.Connections.Document,
	}
	if c.Connections.Callback != nil {
		o.Redirect = c.Connections.Callback.URL + connections.CallbackPath
	}
	book := connections.New(o)
	vault.AddRenewal(book.Renew)
	return book
}

// serveConnections answers people who come back from consent, until stop is called.
func (a *App) serveConnections(ctx context.Context, threads *signals.Client) (stop func(), _ error) {
	callback := a.config.Connections.Callback
	if callback == nil {
		return func() {}, nil
	}
	endpoint := &connections.Endpoint{Book: a.connections, Made: func(ctx context.Context, made connections.Connection) {
		go a.tellThreads(context.WithoutCancel(ctx), threads, made)
	}}
	if callback.Token != "" {
		endpoint.Token = func(ctx context.Context, use func([]byte) error) error {
			return a.vault.Use(ctx, catalog.Scope{}, callback.Token, use)
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", callback.Listen)
	if err != nil {
		return nil, fmt.Errorf("connections.callback.listen: %w", err)
	}
	const slow, idle = 10 * time.Second, time.Minute
	server := &http.Server{Handler: endpoint.Handler(), ReadTimeout: slow, IdleTimeout: idle, MaxHeaderBytes: 64 << 10}
	go func() { _ = server.Serve(listener) }() // it ends with stop
	a.logger.Info("people come back from consent at", "url", callback.URL+connections.CallbackPath)
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), slow)
		defer cancel()
		_ = server.Shutdown(ctx)
	}, nil
}

// about is what questions for consent are about, for programs.
func about(connection string) string { return "connection:" + connection }

// askConsent makes the question that has the user of a thread connect what a call needs.
func (a *App) askConsent(ctx context.Context, scope catalog.Scope, r catalog.Reconnection) (*catalog.Elicitation, error) {
	consent, err := a.connections.Mend(ctx, connections.ID{Tenant: scope.Tenant, User: scope.User, Name: r.Name}, r)
	if err != nil {
		return nil, err
	}
	return &catalog.Elicitation{
		From: consent.Service, About: about(r.Name), URL: consent.URL, Expires: connections.QuestionTime,
		Message: fmt.Sprintf("May the agent use %s on your behalf? It needs the connection %s.", consent.Service, r.Name),
	}, nil
}

// tellThreads answers the questions of the threads that wait for a connection. A person
// may be quicker than the index of threads: it is looked at again.
func (a *App) tellThreads(ctx context.Context, threads *signals.Client, made connections.Connection) {
	ctx, stop := context.WithTimeout(ctx, tellTimeout)
	defer stop()
	for _, pause := range []time.Duration{0, 2 * time.Second, 10 * time.Second, 30 * time.Second} {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		for thread, err := range threads.List(ctx, signals.Filter{Tenant: made.Tenant, Pending: contract.KindQuestion}) {
			if err == nil {
				err = tellThread(ctx, threads, thread.ThreadRef, made)
			}
			if err != nil { // who waits still can be told by hand
				a.logger.Warn("a thread may not know of a connection that was made", "tenant", made.Tenant, "connection", made.Name, "error", err)
			}
		}
	}
}

// tellTimeout bounds the telling of all threads.
const tellTimeout = 2 * time.Minute

func tellThread(ctx context.Context, threads *signals.Client, thread contract.ThreadRef, made connections.Connection) error {
	state, err := threads.State(ctx, thread)
	if err != nil || made.User != "" && state.User != made.User {
		return err
	}
	for _, q := range state.Questions {
		if q.About != about(made.Name) {
			continue
		}
		if _, err := threads.Answer(ctx, thread, contract.Answer{Question: q.ID, By: made.User}); err != nil {
			return err
		}
	}
	return nil
}
