package connections

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/oauth"
	"github.com/heddle-dev/heddle/secrets"
)

const (
	// ConsentTime is how long a person has to consent who has asked for it.
	ConsentTime = 15 * time.Minute
	// QuestionTime is how long one has who is asked.
	QuestionTime = 24 * time.Hour
)

// Request says what a person is to consent to.
type Request struct {
	ID
	// URL is the service.
	URL string
	// Scopes are what to ask for. Nil: what the service wants.
	Scopes []string
	// Needs are scopes to ask for besides those that the service wants.
	Needs []string
	// Issuer is the authorization server, and Server what is known of it. Both empty:
	// the service says.
	Issuer string
	Server *oauth.Server
	// ClientID and ClientSecret are of a client that a person has registered. Empty:
	// this side registers itself.
	ClientID, ClientSecret string
	// Redirect is where the person comes back to. Empty: as the book says.
	Redirect string
	// Within is how long the person has. 0: [ConsentTime].
	Within time.Duration
	// Challenge is what the service has answered already, if it has.
	Challenge *oauth.Challenge
}

func (r Request) within() time.Duration {
	if r.Within == 0 {
		return ConsentTime
	}
	return r.Within
}

// Consent is a request that a person has to agree to.
type Consent struct {
	ID
	// Service is what is consented to.
	Service string `json:"service"`
	// URL is where. It names the attempt: who has it can consent in its place.
	URL     string    `json:"consent_url"`
	Issuer  string    `json:"issuer,omitempty"`
	Scopes  []string  `json:"scopes,omitempty"`
	Expires time.Time `json:"expires"`
}

// pending is an attempt on its way, as the store keeps it.
type pending struct {
	ID      ID            `json:"id"`
	URL     string        `json:"url,omitempty"`
	Attempt oauth.Attempt `json:"attempt"`
	// Registered says that the client registered itself.
	Registered bool `json:"registered,omitempty"`
}

// pendingPrefix begins the names of attempts on their way, which are secrets of the
// application.
const pendingPrefix = "connections/pending/"

func pendingKey(state string) secrets.Key {
	sum := sha256.Sum256([]byte(state))
	return secrets.Key{Scope: secrets.App, Name: pendingPrefix + hex.EncodeToString(sum[:])}
}

// Begin prepares consent. Nothing that the connection has now changes before the
// person agrees.
func (b *Book) Begin(ctx context.Context, r Request) (Consent, error) {
	if err := r.Check(); err != nil {
		return Consent{}, err
	}
	for _, scope := range r.Scopes {
		if err := oauth.CheckScope(scope); err != nil {
			return Consent{}, fmt.Errorf("scope %q: %w", scope, err)
		}
	}
	if r.Redirect == "" {
		r.Redirect = b.Redirect
	}
	service, err := b.discover(ctx, r)
	if err != nil {
		return Consent{}, fmt.Errorf("connect %s: %w", r.URL, err)
	}
	if r.Scopes == nil {
		service.Scopes = union(service.Scopes, r.Needs)
	}
	client, registered := oauth.KnownClient(service.Server, r.ClientID, r.ClientSecret), false
	if r.ClientID == "" {
		client, err = oauth.Register(ctx, b.Network, service.Server, oauth.Identity{Name: b.Name, Document: b.Document, Redirect: r.Redirect})
		if errors.Is(err, oauth.ErrNoRegistration) {
			err = fmt.Errorf("%w; register one there by hand, with the redirect URL %s, and give its client id", err, r.Redirect)
		}
		if err != nil {
			return Consent{}, fmt.Errorf("connect %s: %w", r.URL, err)
		}
		registered = client.ID != b.Document
	}
	return b.ask(ctx, pending{ID: r.ID, URL: r.URL, Attempt: oauth.Begin(service, client, r.Redirect, r.Scopes), Registered: registered}, r.within())
}

func (b *Book) discover(ctx context.Context, r Request) (oauth.Service, error) {
	switch {
	case r.Server != nil:
		return oauth.Service{Server: *r.Server}, nil
	case r.Issuer != "":
		server, err := oauth.ServerAt(ctx, b.Network, r.Issuer)
		return oauth.Service{Resource: r.URL, Server: server}, err
	}
	return oauth.Discover(ctx, b.Network, r.URL, r.Challenge)
}

// Mend prepares consent to what a call lacks, for who has made it: what a user agrees to
// becomes the user's own. Where there has been a connection, the user's or the tenant's,
// its server is asked, for its scopes and for those that the call needs besides; else the
// service says.
func (b *Book) Mend(ctx context.Context, id ID, r catalog.Reconnection) (Consent, error) {
	g, err := b.precedent(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return b.Begin(ctx, Request{ID: id, URL: r.URL, Needs: r.Scopes, Within: QuestionTime})
	}
	if err != nil {
		return Consent{}, err
	}
	if g.Kind != Consented {
		return Consent{}, fmt.Errorf("the connection %s is a key, to which nobody consents; give another: starter connections add", id)
	}
	client := g.Grantor.Client
	if g.Registered && (b.Redirect != g.Redirect || g.Ended != "") { // it may be known no more, or not for this way back
		identity := oauth.Identity{Name: b.Name, Document: b.Document, Redirect: b.Redirect}
		if client, err = oauth.Register(ctx, b.Network, g.Grantor.Server, identity); err != nil {
			return Consent{}, fmt.Errorf("connect %s: %w", id, err)
		}
	}
	service := oauth.Service{Resource: g.Grantor.Resource, Server: g.Grantor.Server}
	p := pending{ID: id, URL: g.URL, Attempt: oauth.Begin(service, client, b.Redirect, union(g.Scopes, r.Scopes)), Registered: g.Registered}
	return b.ask(ctx, p, QuestionTime)
}

// union is scopes with more of them, as far as these are any.
func union(scopes, more []string) []string {
	all := slices.Clone(scopes)
	for _, scope := range more {
		if oauth.CheckScope(scope) == nil && !slices.Contains(all, scope) {
			all = append(all, scope)
		}
	}
	return all
}

// precedent is the grant that a connection has, or else the one of its tenant.
func (b *Book) precedent(ctx context.Context, id ID) (*grant, error) {
	_, g, err := b.read(ctx, id)
	if errors.Is(err, ErrNotFound) && id.User != "" {
		id.User = ""
		_, g, err = b.read(ctx, id)
	}
	return g, err
}

// ask stores an attempt, and clears away those that nobody has answered.
func (b *Book) ask(ctx context.Context, p pending, within time.Duration) (Consent, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return Consent{}, err
	}
	defer clear(text)
	b.Redactor.Hide(p.ID.Tenant, []byte(p.Attempt.Verifier))
	b.Redactor.Hide(p.ID.Tenant, []byte(p.Attempt.Grantor.Client.Secret))
	expires := time.Now().Add(within)
	if err := b.Store.Put(ctx, pendingKey(p.Attempt.State), secrets.Item{Value: text, Expires: expires}); err != nil {
		return Consent{}, fmt.Errorf("connect %s: store the attempt: %w", p.ID, err)
	}
	b.sweep(ctx)
	return Consent{ID: p.ID, Service: p.URL, URL: p.Attempt.URL, Issuer: p.Attempt.Grantor.Server.Issuer, Scopes: p.Attempt.Scopes, Expires: expires}, nil
}

// sweep removes attempts that are too old. What is left today is left for tomorrow.
func (b *Book) sweep(ctx context.Context) {
	entries, err := b.Store.List(ctx)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.Scope == secrets.App && strings.HasPrefix(e.Name, pendingPrefix) && time.Now().After(e.Expires) {
			_ = b.Store.Delete(ctx, e.Key)
		}
	}
}

// ErrNoAttempt says that an answer is to no attempt that is on its way: it comes too
// late or twice, or nobody has asked.
var ErrNoAttempt = errors.New("nobody waits for this answer: it comes too late or for the second time, or was made up")

// Finish takes the answer that a person comes back with, and stores the connection. An
// attempt is answered once, whatever comes of it. The error wraps [ErrNoAttempt],
// [oauth.ErrAnswer] or [oauth.ErrGrantEnded], or is an [*oauth.ServerError] where the
// person or the server says no.
func (b *Book) Finish(ctx context.Context, query url.Values) (Connection, error) {
	p, err := b.claim(ctx, query.Get("state"))
	if err != nil {
		return Connection{}, err
	}
	fail := func(err error) (Connection, error) { return Connection{}, fmt.Errorf("connect %s: %w", p.ID, err) }
	code, err := p.Attempt.Read(query)
	if err != nil {
		return fail(err)
	}
	// What was granted must not be lost to a browser that goes away.
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), oauth.RequestTimeout+storeTime)
	defer stop()
	t, err := oauth.Exchange(ctx, b.Network, p.Attempt, code)
	if err != nil {
		return fail(err)
	}
	now := time.Now()
	g := grant{
		Kind: Consented, URL: p.URL, Grantor: p.Attempt.Grantor, Redirect: p.Attempt.Redirect, Registered: p.Registered,
		Scopes: p.Attempt.Scopes, Added: now,
	}
	g.take(t)
	if err := b.write(ctx, p.ID, &g, secrets.Item{Value: []byte(g.Access), Expires: g.Expires}); err != nil {
		return fail(err)
	}
	slog.InfoContext(ctx, "a connection was made", "tenant", p.ID.Tenant, "connection", p.ID.Name, "user", p.ID.User, "issuer", g.Grantor.Server.Issuer)
	return g.connection(p.ID, now), nil
}

// claim takes an attempt out of the store. Of several that try, one has it.
func (b *Book) claim(ctx context.Context, state string) (pending, error) {
	key := pendingKey(state)
	item, err := b.Store.Get(ctx, key)
	if errors.Is(err, secrets.ErrNotFound) {
		return pending{}, ErrNoAttempt
	}
	if err != nil {
		return pending{}, err
	}
	defer clear(item.Value)
	switch err := b.Store.Delete(ctx, key); {
	case errors.Is(err, secrets.ErrNotFound):
		return pending{}, ErrNoAttempt
	case err != nil:
		return pending{}, err
	}
	var p pending
	if json.Unmarshal(item.Value, &p) != nil || time.Now().After(item.Expires) {
		return pending{}, ErrNoAttempt
	}
	return p, nil
}
