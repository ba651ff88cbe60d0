package connections

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/oauth"
	"github.com/heddle-dev/heddle/secrets"
)

const (
	// LeaseTime is how long a worker may take to renew a token before another one
	// does. Its request and the storing of the answer end well before, so clocks may
	// differ by some seconds.
	LeaseTime = 40 * time.Second
	// storeTime bounds the storing of what was renewed, beside the time of the request.
	storeTime = 10 * time.Second
	// lookAgain is how often who waits for another worker looks.
	lookAgain = 100 * time.Millisecond
)

// Renew makes a new token of a connection's old one, for [secrets.NewVault]. However
// many workers ask at once, the server is asked once. The error is an
// *[catalog.Error] that says what a person must do where nothing but that helps, and
// wraps [secrets.ErrNotFound] for a secret that is no connection's token.
func (b *Book) Renew(ctx context.Context, key secrets.Key, old []byte) ([]byte, time.Time, error) {
	id, part, ok := idOf(key)
	if !ok || part != tokenPart {
		return nil, time.Time{}, secrets.ErrNotFound
	}
	for {
		version, g, err := b.read(ctx, id)
		if errors.Is(err, ErrNotFound) {
			return nil, time.Time{}, secrets.ErrNotFound
		}
		if err != nil {
			return nil, time.Time{}, err
		}
		now := time.Now()
		switch {
		case g.Kind == Given:
			return nil, time.Time{}, g.fault(id, catalog.CodeConnectionRevoked, "is refused by the service: its key holds no more")
		case g.Ended != "":
			return nil, time.Time{}, g.ended(id)
		case g.Access != string(old) && !g.spent(now):
			return []byte(g.Access), g.Expires, nil // another has renewed it
		case g.Refresh == "":
			if err := b.end(ctx, id, g, version, Expired); err != nil {
				return nil, time.Time{}, err
			}
			return nil, time.Time{}, g.ended(id)
		case now.Before(g.Lease):
			if err := pause(ctx, lookAgain); err != nil {
				return nil, time.Time{}, fmt.Errorf("another worker renews the connection %s: %w", id.Name, err)
			}
			continue
		}
		g.Lease = now.Add(LeaseTime)
		switch err := b.store(ctx, id, g, version); {
		case errors.Is(err, secrets.ErrChanged): // another has the lease
			continue
		case err != nil:
			return nil, time.Time{}, err
		}
		// A store gives the versions one by one.
		err = b.refresh(ctx, id, g, version+1)
		switch {
		case errors.Is(err, secrets.ErrChanged): // connected anew, or removed, meanwhile
			continue
		case err != nil:
			return nil, time.Time{}, err
		}
		return []byte(g.Access), g.Expires, nil
	}
}

// ended is the error of a grant that holds no more.
func (g *grant) ended(id ID) *catalog.Error {
	if g.Ended == Expired {
		return g.fault(id, catalog.CodeConnectionExpired, "has expired, and its server gave nothing to renew it with")
	}
	return g.fault(id, catalog.CodeConnectionRevoked, "was revoked, or ended at its authorization server")
}

// refresh asks for new tokens and stores them, under the lease. It does not end with
// the call that wants them: the old refresh token may be spent once the request is out.
func (b *Book) refresh(ctx context.Context, id ID, g *grant, version int64) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), oauth.RequestTimeout+storeTime)
	defer stop()
	t, err := oauth.Refresh(ctx, b.Network, g.Grantor, g.Refresh)
	g.Lease = time.Time{}
	switch {
	case errors.Is(err, oauth.ErrGrantEnded), errors.Is(err, oauth.ErrClientUnknown):
		slog.WarnContext(ctx, "a connection has ended", "tenant", id.Tenant, "connection", id.Name, "user", id.User, "error", err)
		if err := b.end(ctx, id, g, version, Revoked); err != nil {
			return err
		}
		return g.ended(id)
	case err != nil:
		if failed := b.store(ctx, id, g, version); failed != nil && !errors.Is(failed, secrets.ErrChanged) {
			err = errors.Join(err, failed)
		}
		return &catalog.Error{
			Code: catalog.CodeSecretUnavailable, Effect: catalog.EffectNone, Retryable: true,
			Message: fmt.Sprintf("the token of the connection %s cannot be renewed now: %s", id.Name, err),
		}
	}
	g.take(t)
	return b.keep(ctx, id, g, version)
}

// take makes tokens those of the grant.
func (g *grant) take(t oauth.Tokens) {
	g.Access, g.Refresh, g.Expires = t.Access, t.Refresh, t.Expires
	if t.Scopes != nil {
		g.Scopes = t.Scopes
	}
}

// keep stores what was renewed, and tries again while the store is away: what is not
// stored is lost.
func (b *Book) keep(ctx context.Context, id ID, g *grant, version int64) error {
	for {
		err := b.store(ctx, id, g, version)
		if err == nil || errors.Is(err, secrets.ErrChanged) {
			return err
		}
		slog.ErrorContext(ctx, "the renewed token of a connection is not stored yet", "tenant", id.Tenant, "connection", id.Name, "error", err)
		if pause(ctx, time.Second) != nil {
			return err
		}
	}
}

// end marks a grant as one that holds no more.
func (b *Book) end(ctx context.Context, id ID, g *grant, version int64, why string) error {
	g.Ended = why
	return b.store(ctx, id, g, version)
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
