package heddle

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/config"
	"github.com/heddle-dev/heddle/providers/mcp"
	"github.com/heddle-dev/heddle/providers/web"
)

// The secrets that web.search and web.fetch use where they are set: what
// authenticates a tenant at the service, for higher limits than it grants to all, and
// the key that session ids are made with.
const (
	webToken = "web.token"
	webKey   = "app:web.session_key"
)

// WithoutWeb leaves web.search and web.fetch out, which every agent has otherwise.
// For one agent alone that is [Agent].NoWeb.
func WithoutWeb() Option { return optionFunc(func(p *parts) { p.withoutWeb = true }) }

// openWeb adds the tools of the web, unless the application does without or has a
// source of its own in their namespace.
func (p *parts) openWeb(c *config.Config, secrets catalog.Secrets) {
	if p.withoutWeb || c.Web.Off || p.hasNamespace(web.Namespace) {
		return
	}
	endpoint := c.Web.URL
	if endpoint == "" {
		endpoint = web.Endpoint
	}
	server, err := mcp.New(mcp.Options{
		Namespace: web.Namespace, URL: endpoint, Allow: c.Web.Allow, Trusted: true,
		Credentials: func(ctx context.Context, need mcp.Need) (mcp.Credential, error) {
			return webCredential(ctx, secrets, need)
		},
	})
	if err != nil {
		p.problem(c.Problem("web", err.Error()))
		return
	}
	p.closers = append(p.closers, server.Close)
	p.sources = append(p.sources, web.New(server.Call, func(ctx context.Context) (key []byte, err error) {
		err = secrets.Use(ctx, catalog.Scope{}, webKey, func(value []byte) error {
			key = slices.Clone(value)
			return nil
		})
		if errors.Is(err, catalog.ErrNoSecret) {
			return nil, nil
		}
		return key, err
	}))
}

// webCredential is the tenant's, or none.
func webCredential(ctx context.Context, secrets catalog.Secrets, need mcp.Need) (mcp.Credential, error) {
	c, err := mcp.SecretCredential(ctx, secrets, need.Scope, map[string]mcp.SecretHeader{"Authorization": {Secret: webToken, Prefix: "Bearer "}})
	if errors.Is(err, catalog.ErrNoSecret) {
		return mcp.Credential{}, nil
	}
	return c, err
}

// hasNamespace reports whether the application has a source or a tool of its own in
// a namespace.
func (p *parts) hasNamespace(namespace string) bool {
	return slices.ContainsFunc(p.sources, func(s catalog.Source) bool { return s.Name() == namespace }) ||
		slices.ContainsFunc(p.tools, func(t catalog.Tool) bool { return strings.HasPrefix(t.ID, namespace+".") })
}

// withWeb adds the tools of the web to those of an agent.
func (p *parts) withWeb(c *config.Config, globs []string, without bool) []string {
	if without || p.withoutWeb || c.Web.Off {
		return globs
	}
	all := slices.Clip(globs)
	for _, id := range []string{"web.search", "web.fetch"} {
		if !(catalog.Scope{Tools: globs}).Allows(id) {
			all = append(all, id)
		}
	}
	return all
}
