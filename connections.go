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
func (a *App) serveConnections(ctx context.Context) (stop func(), _ error) {
	callback := a.config.Connections.Callback
	if callback == nil {
		return func() {}, nil
	}
	endpoint := &connections.Endpoint{Book: a.connections}
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
