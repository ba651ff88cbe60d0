package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/oauth"
	"github.com/heddle-dev/heddle/secrets"
)

// connectionCredentials give the token of a connection. One that the server refuses is
// renewed where that can be done; else the error says what a person must do.
func connectionCredentials(o Options) Credentials {
	ref := catalog.SecretOfConnection + ":" + o.Connection + ":token"
	return func(ctx context.Context, need Need) (Credential, error) {
		r := catalog.Reconnection{Name: o.Connection, URL: o.URL}
		if refused := need.Refused; refused != nil && refused.Status == http.StatusForbidden {
			challenge := oauth.ReadChallenge(refused.Challenge)
			if challenge.Error != oauth.Insufficient {
				return Credential{Generation: refused.Generation}, nil // another token would do no better
			}
			r.Scopes = challenge.Scopes
			return Credential{}, r.Error(catalog.CodeInsufficientScope, "the connection "+o.Connection+" does not reach as far as the call")
		}
		var c Credential
		err := o.Secrets.Use(ctx, need.Scope, ref, func(token []byte) error {
			sum := sha256.Sum256(token)
			generation := hex.EncodeToString(sum[:8])
			if need.Refused != nil && need.Refused.Generation == generation {
				return errRefused
			}
			c = Credential{Headers: map[string]string{"Authorization": "Bearer " + string(token)}, Generation: generation}
			return checkHeader("Authorization", c.Headers["Authorization"])
		})
		switch {
		case errors.Is(err, errRefused):
			return Credential{}, r.Error(catalog.CodeConnectionRevoked, "the server takes the token of the connection "+o.Connection+" no more")
		case errors.Is(err, catalog.ErrNoSecret):
			return Credential{}, r.Error(catalog.CodeConnectionMissing, "the server needs the connection "+o.Connection+", and there is none")
		}
		return c, err
	}
}

// errRefused says that the server has refused a token, so that it is renewed.
var errRefused = fmt.Errorf("the server refuses the token: %w", secrets.ErrStale)

// checkConnection says what is wrong with the connection of the options.
func (o *Options) checkConnection() error {
	switch {
	case o.Connection == "":
		return nil
	case catalog.CheckSecretName(o.Connection) != nil:
		return fmt.Errorf("connection: %w", catalog.CheckSecretName(o.Connection))
	case o.Credentials != nil:
		return errors.New("connection: credentials are given besides; give either")
	case o.Secrets == nil:
		return errors.New("connection: there is no store of secrets")
	}
	return nil
}
