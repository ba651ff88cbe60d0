package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/heddle-dev/heddle/internal/netguard"
)

// Service is what is to be authorized for.
type Service struct {
	// Resource names the service to its authorization server (RFC 8707). Empty where
	// the service is not known to name itself.
	Resource string
	// Scopes are those that the service wants; nil where it does not say.
	Scopes []string
	Server Server
}

// Challenge is what a service says beside 401 or 403 (RFC 6750, RFC 9728).
type Challenge struct {
	// Metadata is where the service describes itself, Scopes what it wants, and Error
	// why it refuses a token, such as insufficient_scope. All may be empty.
	Metadata string
	Scopes   []string
	Error    string
}

// Insufficient says that a token does not reach as far as a request.
const Insufficient = "insufficient_scope"

// maxChallenge bounds the headers that are read, in bytes.
const maxChallenge = 16 << 10

// ReadChallenge reads the values of WWW-Authenticate. Of what cannot be read it has
// nothing.
func ReadChallenge(headers []string) Challenge {
	var c Challenge
	for _, header := range headers {
		if len(header) > maxChallenge {
			continue
		}
		all, err := oauthex.ParseWWWAuthenticate([]string{header})
		if err != nil {
			continue
		}
		for _, one := range all {
			if one.Scheme != "bearer" {
				continue
			}
			if c.Metadata == "" {
				c.Metadata = one.Params["resource_metadata"]
			}
			if c.Scopes == nil {
				c.Scopes = readScopes(one.Params["scope"])
			}
			if c.Error == "" {
				c.Error = words(one.Params["error"], maxCode)
			}
		}
	}
	return c
}

// maxScopes bounds the scopes that are asked for.
const maxScopes = 100

// readScopes reads a list of scopes. What could not be one is left out.
func readScopes(text string) []string {
	var scopes []string
	for _, scope := range strings.Fields(text) {
		if CheckScope(scope) == nil && len(scopes) < maxScopes {
			scopes = append(scopes, scope)
		}
	}
	return scopes
}

// CheckScope says why a text is no scope (RFC 6749, section 3.3).
func CheckScope(scope string) error {
	if scope == "" || len(scope) > 256 {
		return errors.New("a scope has 1 to 256 characters")
	}
	for i := range len(scope) {
		if c := scope[i]; c <= ' ' || c == '"' || c == '\\' || c > '~' {
			return errors.New("a scope has no spaces, quotes, backslashes and none but ASCII characters")
		}
	}
	return nil
}

// Discover finds out how to be authorized for the service at an address. What it has
// answered already may be given; else it is asked. The error wraps
// [ErrNoAuthorization] where nothing is to be found.
func Discover(ctx context.Context, network *netguard.Client, address string, answered *Challenge) (Service, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Fragment != "" {
		return Service{}, errors.New("want the URL of a service, such as https://mcp.example.com/mcp")
	}
	if err := network.Check(u); err != nil {
		return Service{}, err
	}
	if answered == nil {
		c, err := ask(ctx, network, u)
		if err != nil {
			return Service{}, unavailable(err)
		}
		answered = &c
	}
	description, err := describe(ctx, network, u, answered.Metadata)
	if err != nil {
		return Service{}, err
	}
	if description == nil {
		return undescribed(ctx, network, u, answered.Scopes)
	}
	if len(description.AuthorizationServers) == 0 {
		return Service{}, fmt.Errorf("%w: its metadata has an empty list of them", ErrNoAuthorization)
	}
	service := Service{Resource: description.Resource, Scopes: answered.Scopes}
	if service.Scopes == nil {
		service.Scopes = readScopes(strings.Join(description.ScopesSupported, " "))
	}
	issuer := description.AuthorizationServers[0]
	if err := endpoint(network, "authorization server", issuer, u.Scheme == "https"); err != nil {
		return Service{}, err
	}
	service.Server, err = ServerAt(ctx, network, issuer)
	if errors.Is(err, errNoMetadata) {
		service.Server, err = guessed(issuer), nil
	}
	return service, err
}

// ask asks the service without a credential, to see what it says to that.
func ask(ctx context.Context, network *netguard.Client, u *url.URL) (Challenge, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Challenge{}, err
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	response, err := network.Do(req)
	if err != nil {
		return Challenge{}, err
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusUnauthorized && response.StatusCode != http.StatusForbidden {
		return Challenge{}, nil
	}
	return ReadChallenge(response.Header.Values("WWW-Authenticate")), nil
}

// describe reads what a service says of itself, nil where it says nothing. It must be
// about the service that was asked for: another one's would have tokens made for that.
func describe(ctx context.Context, network *netguard.Client, u *url.URL, named string) (*oauthex.ProtectedResourceMetadata, error) {
	root := &url.URL{Scheme: u.Scheme, Host: u.Host}
	const wellKnown = "/.well-known/oauth-protected-resource"
	type place struct{ address, of string }
	var places []place
	if named != "" {
		places = append(places, place{named, u.String()})
	}
	if path := strings.Trim(u.Path, "/"); path != "" {
		places = append(places, place{root.String() + wellKnown + "/" + path, u.String()})
	}
	places = append(places, place{root.String() + wellKnown, root.String()})
	for _, p := range places {
		if err := endpoint(network, "metadata of the service", p.address, u.Scheme == "https"); err != nil {
			return nil, err
		}
		var description oauthex.ProtectedResourceMetadata
		err := getJSON(ctx, network, p.address, &description)
		if absent(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("metadata of the service: %w", unavailable(err))
		}
		if !same(description.Resource, p.of) {
			return nil, fmt.Errorf("the metadata of the service is about %q, not about %s: that is refused", words(description.Resource, maxDescription), p.of)
		}
		return &description, nil
	}
	return nil, nil
}

// same reports whether two identifiers are the same but for a slash at the end.
func same(a, b string) bool {
	return a != "" && strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/")
}

// undescribed is a service that says nothing of itself: its host is the authorization
// server then, as protocols have it that are older than such metadata.
func undescribed(ctx context.Context, network *netguard.Client, u *url.URL, scopes []string) (Service, error) {
	root := (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
	server, err := ServerAt(ctx, network, root)
	if errors.Is(err, errNoMetadata) {
		return Service{Resource: u.String(), Scopes: scopes, Server: guessed(root)}, nil
	}
	return Service{Resource: u.String(), Scopes: scopes, Server: server}, err
}
