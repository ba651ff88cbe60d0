package connections

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/oauth"
	"github.com/heddle-dev/heddle/secrets"
)

// grantFormat is the version of a grant's form.
const grantFormat = 1

// grant is all that is kept of a connection, but the value that is sent.
type grant struct {
	Format  int           `json:"format"`
	Kind    Kind          `json:"kind"`
	URL     string        `json:"url,omitempty"`
	Grantor oauth.Grantor `json:"grantor,omitzero"`
	// Redirect is where the person came back to, which the client was registered with.
	// Registered says that it was, by itself.
	Redirect   string   `json:"redirect,omitempty"`
	Registered bool     `json:"registered,omitempty"`
	Scopes     []string `json:"scopes,omitempty"`
	// Access is the newest access token. The token of the connection follows it.
	Access  string    `json:"access,omitempty"`
	Refresh string    `json:"refresh,omitempty"`
	Expires time.Time `json:"expires,omitzero"`
	// Lease is until when one worker renews it.
	Lease time.Time `json:"lease,omitzero"`
	// Ended is why it holds no more: expired or revoked.
	Ended string    `json:"ended,omitempty"`
	Added time.Time `json:"added"`
}

func (g *grant) connection(id ID, now time.Time) Connection {
	c := Connection{
		ID: id, Kind: g.Kind, URL: g.URL, Issuer: g.Grantor.Server.Issuer, ClientID: g.Grantor.Client.ID,
		Scopes: g.Scopes, Status: Active, Expires: g.Expires, Renewable: g.Refresh != "" && g.Ended == "", Added: g.Added,
	}
	switch {
	case g.Ended != "":
		c.Status = g.Ended
	case g.Refresh == "" && g.spent(now):
		c.Status = Expired
	}
	return c
}

// spent reports whether the access token has ended.
func (g *grant) spent(now time.Time) bool { return !g.Expires.IsZero() && !now.Before(g.Expires) }

// fault is the error that the grant's end, or its absence, is to a call.
func (g *grant) fault(id ID, code, message string) *catalog.Error {
	return catalog.Reconnection{Name: id.Name, URL: g.URL}.Error(code, fmt.Sprintf("the connection %s %s", id.Name, message))
}

// read reads a grant, and its version in the item.
func (b *Book) read(ctx context.Context, id ID) (version int64, _ *grant, _ error) {
	if err := id.Check(); err != nil {
		return 0, nil, err
	}
	item, err := b.Store.Get(ctx, id.key(grantPart))
	if errors.Is(err, secrets.ErrNotFound) {
		return 0, nil, fmt.Errorf("connection %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return 0, nil, fmt.Errorf("connection %s: %w", id, err)
	}
	defer clear(item.Value)
	var g grant
	if json.Unmarshal(item.Value, &g) != nil || g.Format != grantFormat { // the decoder's error may quote a token
		return 0, nil, fmt.Errorf("connection %s: what is stored of it is not of format %d; connect it again, or use the version that has stored it", id, grantFormat)
	}
	b.know(id, &g)
	return item.Version, &g, nil
}

// know tells the redactor what of a grant is secret.
func (b *Book) know(id ID, g *grant) {
	for _, value := range []string{g.Access, g.Refresh, g.Grantor.Client.Secret} {
		b.Redactor.Hide(id.Tenant, []byte(value))
	}
}

// store stores a grant: in place of a version, or of any if that is 0.
func (b *Book) store(ctx context.Context, id ID, g *grant, version int64) error {
	g.Format = grantFormat
	b.know(id, g)
	text, err := json.Marshal(g)
	if err != nil {
		return err
	}
	defer clear(text)
	if err := b.Store.Put(ctx, id.key(grantPart), secrets.Item{Value: text, Version: version}); err != nil {
		return fmt.Errorf("connection %s: store: %w", id, err)
	}
	return nil
}

// write stores a connection anew. The grant comes first: a token without one could not
// be renewed.
func (b *Book) write(ctx context.Context, id ID, g *grant, token secrets.Item) error {
	b.Redactor.Hide(id.Tenant, token.Value)
	if err := b.store(ctx, id, g, 0); err != nil {
		return err
	}
	if err := b.Store.Put(ctx, id.key(tokenPart), token); err != nil {
		return fmt.Errorf("connection %s: store its token: %w", id, err)
	}
	return nil
}
