package openapi

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/catalog"
)

// Login says what authenticates. One of Token, Username with Password, and ClientID
// with ClientSecret is set. Token, Password and ClientSecret refer to secrets in the
// form of [catalog.SecretRef]: of the application, the tenant, the user, or a
// connection, whose tokens are renewed by whoever keeps them.
type Login struct {
	// Token is for API keys, bearer tokens and access tokens.
	Token string
	// Username and Password are for the basic scheme.
	Username, Password string
	// ClientID and ClientSecret are for OAuth client credentials: access tokens are
	// fetched with them, and anew before they expire or when they are refused.
	ClientID     string
	ClientSecret string
}

// ref is the one secret that a login needs.
func (l Login) ref() string {
	switch {
	case l.Token != "":
		return l.Token
	case l.Password != "":
		return l.Password
	}
	return l.ClientSecret
}

// anyScheme names the login for schemes that are not named.
const anyScheme = "*"

// checkLogins returns the references of the logins.
func checkLogins(o Options) ([]string, error) {
	if o.Logins != nil && o.Credentials != nil {
		return nil, errors.New("logins: give either these or credentials")
	}
	var refs []string
	for name, l := range o.Logins {
		token, basic, client := l.Token != "", l.Username != "" && l.Password != "", l.ClientID != "" && l.ClientSecret != ""
		none := Login{Token: l.Token}
		switch {
		case basic:
			none.Username, none.Password = l.Username, l.Password
		case client:
			none.ClientID, none.ClientSecret = l.ClientID, l.ClientSecret
		}
		if none != l || token == (basic || client) {
			return nil, fmt.Errorf("logins: %s: want one of a token, a user name with a password, and a client id with a client secret", name)
		}
		if _, err := catalog.ParseSecretRef(l.ref()); err != nil {
			return nil, fmt.Errorf("logins: %s: %w", name, err)
		}
		if !slices.Contains(refs, l.ref()) {
			refs = append(refs, l.ref())
		}
	}
	slices.Sort(refs)
	return refs, nil
}

// caller is on whose behalf a call is made, and the secrets that it may use.
type caller struct {
	scope   catalog.Scope
	secrets catalog.CallSecrets
}

// credentials are where a call gets secrets from; nil: nowhere.
func (s *Source) credentials(who caller) Credentials {
	if s.options.Logins != nil {
		return loginCredentials{s.options.Logins, who.secrets}
	}
	return s.options.Credentials
}

// loginCredentials are [Credentials] by logins.
type loginCredentials struct {
	logins  map[string]Login
	secrets catalog.CallSecrets
}

func (c loginCredentials) Use(ctx context.Context, need Need, use func(context.Context, Secret) error) error {
	login, ok := c.logins[need.Scheme]
	if !ok {
		login, ok = c.logins[anyScheme]
	}
	if !ok || (login.Username != "") != (need.Kind == "basic") {
		return fmt.Errorf("%s: %w", need.Scheme, ErrNoCredential)
	}
	err := c.secrets.Use(ctx, login.ref(), func(value []byte) error {
		secret := Secret{Username: login.Username, ClientID: login.ClientID}
		switch {
		case login.Token != "":
			secret.Token = string(value)
			if ref, err := catalog.ParseSecretRef(login.Token); err == nil {
				secret.connection = ref.Connection
			}
		case login.Password != "":
			secret.Password = string(value)
		default:
			secret.ClientSecret = string(value)
		}
		return use(ctx, secret)
	})
	absent := (*catalog.Error)(nil)
	if errors.As(err, &absent) && (absent.Code == catalog.CodeSecretMissing || absent.Code == catalog.CodeConnectionMissing) {
		return &missingSecret{absent, need.Scopes}
	}
	return err
}

// missingSecret is [ErrNoCredential] with what a person has to do about it.
type missingSecret struct {
	said *catalog.Error
	// scopes are what it is needed for.
	scopes []string
}

func (m *missingSecret) Error() string { return m.said.Error() }

// Is reports whether the target is [ErrNoCredential].
func (*missingSecret) Is(target error) bool { return target == ErrNoCredential } //nolint:errorlint // that is what Is is for
