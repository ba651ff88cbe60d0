package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/heddle-dev/heddle/catalog"
)

// SecretHeader is the value of a header that a secret is part of.
type SecretHeader struct {
	// Secret refers to the secret, as [catalog.SecretRef] says.
	Secret string
	// Prefix stands before it, such as "Bearer ".
	Prefix string
}

// SecretCredential is the credential whose headers are made of secrets that a scope
// has. The error of one that is missing wraps [catalog.ErrNoSecret].
func SecretCredential(ctx context.Context, secrets catalog.Secrets, scope catalog.Scope, headers map[string]SecretHeader) (Credential, error) {
	c := Credential{Headers: map[string]string{}}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		h := headers[name]
		err := secrets.Use(ctx, scope, h.Secret, func(value []byte) error {
			fmt.Fprintf(sum, "%s %q\n", name, value)
			c.Headers[name] = h.Prefix + string(value)
			secrets.Hide(scope, value)
			return checkHeader(name, c.Headers[name])
		})
		if err != nil {
			return Credential{}, fmt.Errorf("secret %s: %w", quote(h.Secret), err)
		}
	}
	c.Generation = hex.EncodeToString(sum.Sum(nil))[:16]
	return c, nil
}

// withSecrets adds the headers that are made of secrets. A listing is nobody's: it
// goes without them where only a tenant or a user has them, and the server decides.
func withSecrets(headers map[string]SecretHeader, secrets catalog.Secrets, next Credentials) Credentials {
	if len(headers) == 0 {
		return next
	}
	return func(ctx context.Context, need Need) (Credential, error) {
		c, err := next(ctx, need)
		if err != nil {
			return Credential{}, err
		}
		secret, err := SecretCredential(ctx, secrets, need.Scope, headers)
		switch {
		case errors.Is(err, catalog.ErrNoSecret) && need.Scope.Tenant == "":
			return c, nil
		case errors.Is(err, catalog.ErrNoSecret):
			return Credential{}, &catalog.Error{
				Code: catalog.CodeSecretMissing, Message: "the server needs a credential: " + err.Error(),
				Hint: "a person must set it: starter secrets set", Effect: catalog.EffectNone,
			}
		case err != nil:
			return Credential{}, err
		}
		maps.Copy(secret.Headers, c.Headers)
		secret.Generation += " " + c.Generation
		return secret, nil
	}
}

// checkSecretHeaders says what is wrong with headers that are made of secrets.
func (o *Options) checkSecretHeaders() error {
	for name, h := range o.SecretHeaders {
		if err := checkHeader(name, h.Prefix); err != nil {
			return err
		}
		if _, err := catalog.ParseSecretRef(h.Secret); err != nil {
			return fmt.Errorf("header %s: %w", name, err)
		}
		if _, twice := o.Headers[name]; twice {
			return fmt.Errorf("header %s: is given twice", name)
		}
	}
	if len(o.SecretHeaders) > 0 && o.Secrets == nil {
		return errors.New("headers are made of secrets, and there is no store of secrets")
	}
	return nil
}
