package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/heddle-dev/heddle/internal/netguard"
)

// Server is an authorization server.
type Server struct {
	// Issuer names it. Empty where only the endpoints are known.
	Issuer string `json:"issuer,omitempty"`
	// The endpoints. Registration and Revocation may be empty.
	Authorization string `json:"authorization"`
	Token         string `json:"token"`
	Registration  string `json:"registration,omitempty"`
	Revocation    string `json:"revocation,omitempty"`
	// AuthMethods are how clients may authenticate at the token endpoint; none where
	// the server does not say.
	AuthMethods []string `json:"auth_methods,omitempty"`
	// NamesItself says that it names itself in its answers (RFC 9207).
	NamesItself bool `json:"names_itself,omitempty"`
	// TakesDocuments says that a client may be the URL of a document about it.
	TakesDocuments bool `json:"takes_documents,omitempty"`
	// Offline says that it wants to be asked for refresh tokens by a scope.
	Offline bool `json:"offline,omitempty"`
	// Guessed says that its endpoints are the usual ones, as it has no metadata.
	Guessed bool `json:"guessed,omitempty"`
}

// offlineAccess is the scope that asks for refresh tokens.
const offlineAccess = "offline_access"

// errNoMetadata says that a server says nothing of itself.
var errNoMetadata = errors.New("the authorization server has no metadata")

// ServerAt reads what the authorization server of an issuer says of itself.
func ServerAt(ctx context.Context, network *netguard.Client, issuer string) (Server, error) {
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return Server{}, fmt.Errorf("the issuer %q is not a URL without query and fragment", words(issuer, maxDescription))
	}
	if err := network.Check(u); err != nil {
		return Server{}, err
	}
	for _, address := range metadataOf(u) {
		var m oauthex.AuthServerMeta
		err := getJSON(ctx, network, address, &m)
		if absent(err) {
			continue
		}
		if err != nil {
			return Server{}, fmt.Errorf("metadata of the authorization server: %w", unavailable(err))
		}
		return readServer(network, issuer, u.Scheme == "https", m)
	}
	return Server{}, errNoMetadata
}

// metadataOf are the places where a server's metadata may be, in the order of trial.
func metadataOf(issuer *url.URL) []string {
	root := issuer.Scheme + "://" + issuer.Host + "/"
	const oauth, openID = ".well-known/oauth-authorization-server", ".well-known/openid-configuration"
	path := strings.Trim(issuer.EscapedPath(), "/")
	if path == "" {
		return []string{root + oauth, root + openID}
	}
	return []string{root + oauth + "/" + path, root + openID + "/" + path, root + path + "/" + openID}
}

func readServer(network *netguard.Client, issuer string, secure bool, m oauthex.AuthServerMeta) (Server, error) {
	fail := func(err error) (Server, error) {
		return Server{}, fmt.Errorf("metadata of the authorization server: %w", err)
	}
	if !same(m.Issuer, issuer) {
		return fail(fmt.Errorf("it is about the issuer %q, not about %s: that is refused", words(m.Issuer, maxDescription), issuer))
	}
	if !slices.Contains(m.CodeChallengeMethodsSupported, "S256") {
		return fail(errors.New("the server does not offer PKCE with S256, without which a stolen code is of use"))
	}
	for _, e := range []struct {
		what, address string
		optional      bool
	}{
		{"authorization endpoint", m.AuthorizationEndpoint, false},
		{"token endpoint", m.TokenEndpoint, false},
		{"registration endpoint", m.RegistrationEndpoint, true},
		{"revocation endpoint", m.RevocationEndpoint, true},
	} {
		if e.optional && e.address == "" {
			continue
		}
		if err := endpoint(network, e.what, e.address, secure); err != nil {
			return fail(err)
		}
	}
	return Server{
		Issuer: m.Issuer, Authorization: m.AuthorizationEndpoint, Token: m.TokenEndpoint,
		Registration: m.RegistrationEndpoint, Revocation: m.RevocationEndpoint,
		AuthMethods: m.TokenEndpointAuthMethodsSupported,
		NamesItself: m.AuthorizationResponseIssParameterSupported, TakesDocuments: m.ClientIDMetadataDocumentSupported,
		Offline: slices.Contains(m.ScopesSupported, offlineAccess),
	}, nil
}

// guessed is a server with the usual endpoints.
func guessed(root string) Server {
	root = strings.TrimSuffix(root, "/")
	return Server{
		Issuer: root, Authorization: root + "/authorize", Token: root + "/token", Registration: root + "/register", Guessed: true,
	}
}

// Known returns the server of which a person knows the endpoints.
func Known(network *netguard.Client, authorization, token, revocation string) (Server, error) {
	for what, address := range map[string]string{"authorization endpoint": authorization, "token endpoint": token, "revocation endpoint": revocation} {
		if address == "" && what == "revocation endpoint" {
			continue
		}
		if err := endpoint(network, what, address, false); err != nil {
			return Server{}, err
		}
	}
	return Server{Authorization: authorization, Token: token, Revocation: revocation}, nil
}
