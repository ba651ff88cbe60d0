package connections

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/heddle-dev/heddle/internal/netguard"
	"github.com/heddle-dev/heddle/internal/oauth"
	"github.com/heddle-dev/heddle/secrets"
)

// Store is where connections lie; [secrets.Store] says what its methods do. The same
// one for all workers.
type Store interface {
	Get(ctx context.Context, key secrets.Key) (secrets.Item, error)
	Put(ctx context.Context, key secrets.Key, item secrets.Item) error
	Delete(ctx context.Context, key secrets.Key) error
	List(ctx context.Context) ([]secrets.Entry, error)
}

// Options are what a book is made of. Store and Network are required.
type Options struct {
	Store Store
	// Network is what servers are asked through, as of [oauth.Network].
	Network *netguard.Client
	// Redactor learns each value. Nil: there is none to tell.
	Redactor *secrets.Redactor
	// Name is shown to the person who is asked for consent. Empty: Heddle.
	Name string
	// Document is the URL of a client id metadata document about this side. Empty: none.
	Document string
	// Redirect is where people come back to from consent, where a request does not say.
	Redirect string
}

// Book is the connections of all tenants. It is safe for concurrent use, by several
// processes.
type Book struct {
	Options
}

// New returns a book.
func New(o Options) *Book {
	o.Name = cmp.Or(o.Name, "Heddle")
	if o.Redactor == nil {
		o.Redactor = &secrets.Redactor{}
	}
	return &Book{o}
}

// Kind says how a connection came to be.
type Kind string

// The kinds.
const (
	// Consented: by a person's consent at an authorization server.
	Consented Kind = "oauth"
	// Given: a key or a token that a person has brought.
	Given Kind = "token"
)

// The states of a connection.
const (
	Active  = "active"
	Expired = "expired"
	Revoked = "revoked"
)

// Connection is what may be known of a connection. It holds no secret.
type Connection struct {
	ID
	Kind Kind `json:"kind"`
	// URL is the service, Issuer who grants.
	URL    string `json:"url,omitempty"`
	Issuer string `json:"issuer,omitempty"`
	// ClientID is who the issuer knows this side as.
	ClientID string   `json:"client_id,omitempty"`
	Scopes   []string `json:"scopes,omitempty"`
	// Status is active, expired or revoked, as far as it was found out.
	Status string `json:"status"`
	// Expires is when the token in use ends, and Renewable whether another can be had
	// then without a person.
	Expires   time.Time `json:"expires,omitzero"`
	Renewable bool      `json:"renewable"`
	Added     time.Time `json:"added"`
}

// ErrNotFound says that there is no such connection.
var ErrNotFound = errors.New("there is no such connection")

// Get returns a connection. The error wraps [ErrNotFound] where there is none.
func (b *Book) Get(ctx context.Context, id ID) (Connection, error) {
	_, g, err := b.read(ctx, id)
	if err != nil {
		return Connection{}, err
	}
	return g.connection(id, time.Now()), nil
}

// List returns the connections of a tenant, ordered by name; those that are of all of
// it come before those of its users.
func (b *Book) List(ctx context.Context, tenant string) ([]Connection, error) {
	entries, err := b.Store.List(ctx)
	if err != nil {
		return nil, err
	}
	all := []Connection{}
	for _, e := range entries {
		id, part, ok := idOf(e.Key)
		if !ok || part != grantPart || e.Tenant != tenant {
			continue
		}
		c, err := b.Get(ctx, id)
		if errors.Is(err, ErrNotFound) { // removed meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Connection) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.User, b.User)) })
	return all, nil
}

// Give stores a key or a token that a person has brought. It replaces what the
// connection had.
func (b *Book) Give(ctx context.Context, id ID, service string, token []byte) (Connection, error) {
	if err := id.Check(); err != nil {
		return Connection{}, err
	}
	now := time.Now()
	g := grant{Kind: Given, URL: service, Added: now}
	if err := b.write(ctx, id, &g, secrets.Item{Value: token}); err != nil {
		return Connection{}, err
	}
	return g.connection(id, now), nil
}

// Remove forgets a connection, and ends it at its authorization server where that can
// be done. That it could not is said beside, and is no error: here it is gone.
func (b *Book) Remove(ctx context.Context, id ID) (revoked bool, note string, _ error) {
	_, g, err := b.read(ctx, id)
	if err != nil {
		return false, "", err
	}
	if g.Kind == Consented && g.Ended == "" {
		err := oauth.Revoke(ctx, b.Network, g.Grantor, g.Refresh, g.Access)
		if revoked = err == nil; !revoked {
			note = "it was not revoked at the authorization server, where it may hold until it expires: " + err.Error()
		}
	}
	for _, part := range []string{tokenPart, grantPart} {
		if err := b.Store.Delete(ctx, id.key(part)); err != nil && !errors.Is(err, secrets.ErrNotFound) {
			return revoked, note, fmt.Errorf("connection %s: remove: %w", id, err)
		}
	}
	slog.InfoContext(ctx, "a connection was removed", "tenant", id.Tenant, "connection", id.Name, "user", id.User, "revoked", revoked)
	return revoked, note, nil
}
