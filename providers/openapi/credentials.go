package openapi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/heddle-dev/heddle/catalog"
)

// Credentials gives out secrets for as long as a function runs.
type Credentials interface {
	// Use finds the secret for a need and calls use with it, at most once, and
	// returns its error. The secret is not kept beyond that. Where there is none,
	// the error wraps [ErrNoCredential] and use is not called.
	Use(ctx context.Context, need Need, use func(ctx context.Context, secret Secret) error) error
}

// CredentialsFunc is [Credentials] that a function looks up. Its error wraps
// [ErrNoCredential] where there is none.
type CredentialsFunc func(ctx context.Context, need Need) (Secret, error)

// Use looks the secret up and calls use with it.
func (f CredentialsFunc) Use(ctx context.Context, need Need, use func(context.Context, Secret) error) error {
	secret, err := f(ctx, need)
	if err != nil {
		return err
	}
	return use(ctx, secret)
}

// ErrNoCredential says that there is no secret for a need.
var ErrNoCredential = errors.New("there is no credential")

// Need says what a secret is wanted for.
type Need struct {
	// Scope is on whose behalf the call is made.
	Scope catalog.Scope
	// Scheme is the name of the security scheme in the specification; Kind is
	// apiKey, basic, bearer, oauth2 or openIdConnect.
	Scheme string
	Kind   string
	// Scopes are the OAuth scopes that the operation needs.
	Scopes []string
	// Origin is whom the secret will be sent to, such as https://api.example.com.
	Origin string
}

// Secret is a credential. Which fields are set depends on its kind: Token for an
// API key, a bearer token or an access token; Username and Password for basic;
// ClientID and ClientSecret for OAuth client credentials. It prints as nothing.
type Secret struct {
	Token              string
	Username, Password string
	ClientID           string
	ClientSecret       string
	// connection names the connection that the token is of, if it is.
	connection string
}

const hiddenSecret = "[secret]"

// String hides the secret.
func (Secret) String() string { return hiddenSecret }

// GoString hides the secret.
func (Secret) GoString() string { return hiddenSecret }

// LogValue hides the secret.
func (Secret) LogValue() slog.Value { return slog.StringValue(hiddenSecret) }

// MarshalJSON hides the secret.
func (Secret) MarshalJSON() ([]byte, error) { return json.Marshal(hiddenSecret) }

// Scheme is how an application authenticates where the specification says
// nothing of it.
type Scheme struct {
	// Type is bearer, basic, header, query or cookie.
	Type string
	// Name is that of the header, the query parameter or the cookie.
	Name string
}

func (s Scheme) scheme() (scheme, error) {
	read := &openapi3.SecurityScheme{Type: "apiKey", In: s.Type, Name: s.Name}
	switch s.Type {
	case "bearer", "basic":
		read = &openapi3.SecurityScheme{Type: "http", Scheme: s.Type}
	case "header", "query", "cookie":
		if !isToken(s.Name) {
			return scheme{}, fmt.Errorf("authentication by %s: the name %q cannot be one", s.Type, s.Name)
		}
	default:
		return scheme{}, fmt.Errorf("authentication is %q, want bearer, basic, header, query or cookie", s.Type)
	}
	return scheme{name: s.Type, SecurityScheme: read}, nil
}

func (s scheme) kind() string {
	if s.Type == "http" {
		return s.Scheme
	}
	return s.Type
}

// grant is what credentials add to a request.
type grant struct {
	header  http.Header
	query   []pair
	cookies []string
	// secrets are the values in use, to be taken out of what comes back.
	secrets []string
	// drop forgets the access token, if it came from here.
	drop func()
	// connection names the connection that a token is of, if one is, and scopes are
	// what the operation needs of it.
	connection string
	scopes     []string
}

func (g grant) with(s scheme, secret Secret) (grant, error) {
	g.header = g.header.Clone()
	if g.header == nil {
		g.header = http.Header{}
	}
	g.secrets = slices.Clone(g.secrets)
	authorization := ""
	switch {
	case s.kind() == "basic":
		if secret.Username == "" && secret.Password == "" {
			return g, fmt.Errorf("%w: the one for %s has no user name and password", ErrNoCredential, s.name)
		}
		encoded := base64.StdEncoding.EncodeToString([]byte(secret.Username + ":" + secret.Password))
		authorization = "Basic " + encoded
		g.secrets = append(g.secrets, secret.Password, encoded)
	case secret.Token == "":
		return g, fmt.Errorf("%w: the one for %s has no token", ErrNoCredential, s.name)
	case s.Type != "apiKey":
		authorization = "Bearer " + secret.Token
	case s.In == "header":
		g.header.Set(s.Name, secret.Token)
	case s.In == "query":
		g.query = append(slices.Clone(g.query), pair{escape(s.Name, "[]"), escape(secret.Token, "")})
	default:
		g.cookies = append(slices.Clone(g.cookies), s.Name+"="+escape(secret.Token, ""))
	}
	if authorization != "" {
		g.header.Set("Authorization", authorization)
	}
	g.secrets = append(g.secrets, secret.Token)
	for _, values := range g.header {
		if err := headerValue(values[0]); err != nil {
			return g, fmt.Errorf("the credential for %s cannot be sent: %w", s.name, err)
		}
	}
	return g, nil
}

// authenticate calls use with what one of the operation's alternatives grants:
// the first for which there are credentials.
func (s *Source) authenticate(ctx context.Context, c *compiled, who caller, origin string, use func(context.Context, grant) error) error {
	alternatives := c.security.alternatives
	if !c.security.declared {
		alternatives = [][]scheme{{}}
		if s.scheme != nil {
			alternatives = [][]scheme{{*s.scheme}}
		}
	}
	credentials := s.credentials(who)
	free := false
	var missing error
	var wanted []string
	for _, all := range alternatives {
		if len(all) == 0 {
			free = true
			continue
		}
		for _, one := range all {
			wanted = append(wanted, one.name)
		}
		if credentials == nil || !s.trusted(origin) {
			continue
		}
		used := false
		err := s.useAll(ctx, credentials, all, who.scope, origin, grant{}, func(ctx context.Context, g grant) error {
			used = true
			return use(ctx, g)
		})
		if used || !errors.Is(err, ErrNoCredential) {
			return err
		}
		missing = err
	}
	if free {
		return use(ctx, grant{})
	}
	return s.noCredential(origin, wanted, missing)
}

func (s *Source) noCredential(origin string, wanted []string, missing error) error {
	e := &catalog.Error{
		Code: CodeNoCredential, Effect: catalog.EffectNone,
		Message: fmt.Sprintf("the call needs credentials (%s), and there are none", strings.Join(wanted, ", ")),
		Hint:    "a person must connect the service first",
	}
	if absent := (*missingSecret)(nil); errors.As(missing, &absent) {
		e.Message, e.Hint = "the call needs credentials: "+absent.said.Message, absent.said.Hint
		if r, ok := absent.said.Reconnection(); ok {
			r.Scopes = absent.scopes
			e = r.Error(absent.said.Code, e.Message)
		}
	}
	if (s.options.Credentials != nil || s.options.Logins != nil) && !s.trusted(origin) {
		e.Message = fmt.Sprintf("the call needs credentials, and they are not sent to %s", origin)
		e.Hint = "the operator must allow the origin"
	}
	return e
}

// useAll gathers what all schemes of an alternative grant.
func (s *Source) useAll(ctx context.Context, credentials Credentials, schemes []scheme, scope catalog.Scope, origin string, g grant, use func(context.Context, grant) error) error {
	if len(schemes) == 0 {
		return use(ctx, g)
	}
	one := schemes[0]
	need := Need{Scope: scope, Scheme: one.name, Kind: one.kind(), Scopes: one.scopes, Origin: origin}
	return credentials.Use(ctx, need, func(ctx context.Context, secret Secret) error {
		drop := g.drop
		if secret.Token == "" && secret.ClientID != "" {
			token, err := s.tokens.get(ctx, s, one, scope, secret)
			if err != nil {
				return err
			}
			g.secrets = append(slices.Clone(g.secrets), secret.ClientSecret)
			drop = func() { s.tokens.drop(token) }
			secret = Secret{Token: token.value}
		}
		granted, err := g.with(one, secret)
		if err != nil {
			return err
		}
		granted.drop = drop
		if secret.connection != "" {
			granted.connection, granted.scopes = secret.connection, one.scopes
		}
		return s.useAll(ctx, credentials, schemes[1:], scope, origin, granted, use)
	})
}
