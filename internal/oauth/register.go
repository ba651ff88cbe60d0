package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/heddle-dev/heddle/internal/netguard"
)

// Identity is how this side introduces itself to servers that do not know it.
type Identity struct {
	// Name is shown to the person who is asked for consent.
	Name string
	// Document is the URL of a client id metadata document about it. Empty: none.
	Document string
	// Redirect is where the person comes back to.
	Redirect string
}

// How a client authenticates at the token endpoint (RFC 7591, section 2).
const (
	MethodNone  = "none"
	MethodBasic = "client_secret_basic"
	MethodPost  = "client_secret_post"
)

// Client is who a server knows this side as.
type Client struct {
	ID string `json:"id"`
	// Secret is empty for a client without one.
	Secret string `json:"secret,omitempty"`
	// Method is one of the Method constants.
	Method string `json:"method"`
}

// KnownClient is a client that a person has registered with a server.
func KnownClient(server Server, id, secret string) Client {
	switch {
	case secret == "":
		return Client{ID: id, Method: MethodNone}
	case slices.Contains(server.AuthMethods, MethodPost) && !slices.Contains(server.AuthMethods, MethodBasic):
		return Client{id, secret, MethodPost}
	}
	return Client{id, secret, MethodBasic}
}

// Metadata is what a server is told of the client.
func (i Identity) Metadata() oauthex.ClientRegistrationMetadata {
	kind := "web"
	if u, err := url.Parse(i.Redirect); err == nil && u.Scheme == "http" {
		kind = "native" // plain HTTP is allowed on loopback alone
	}
	return oauthex.ClientRegistrationMetadata{
		RedirectURIs: []string{i.Redirect}, ClientName: i.Name, ApplicationType: kind,
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		TokenEndpointAuthMethod: MethodNone,
	}
}

// Register makes this side known to a server: by its document where the server takes
// such, else by dynamic registration. The error wraps [ErrNoRegistration] where the
// server takes neither.
func Register(ctx context.Context, network *netguard.Client, server Server, i Identity) (Client, error) {
	if i.Document != "" && server.TakesDocuments {
		return Client{ID: i.Document, Method: MethodNone}, nil
	}
	if server.Registration == "" {
		return Client{}, ErrNoRegistration
	}
	wanted := i.Metadata()
	if len(server.AuthMethods) > 0 && !slices.Contains(server.AuthMethods, MethodNone) {
		wanted.TokenEndpointAuthMethod = MethodBasic
		if !slices.Contains(server.AuthMethods, MethodBasic) {
			wanted.TokenEndpointAuthMethod = MethodPost
		}
	}
	body, err := json.Marshal(wanted)
	if err != nil {
		return Client{}, err
	}
	a, err := post(ctx, network, server.Registration, "application/json", string(body), nil)
	if err != nil {
		return Client{}, unavailable(err)
	}
	if a.status != http.StatusCreated && a.status != http.StatusOK {
		err := a.refusal("the registration")
		if server.Guessed && (a.status == http.StatusNotFound || a.status == http.StatusMethodNotAllowed) {
			return Client{}, errors.Join(ErrNoRegistration, err)
		}
		return Client{}, err
	}
	var made oauthex.ClientRegistrationResponse
	if json.Unmarshal(a.body, &made) != nil || !visible(made.ClientID) || made.ClientSecret != "" && !visible(made.ClientSecret) {
		return Client{}, errors.New("the authorization server registers a client without a usable id")
	}
	c := Client{ID: made.ClientID, Secret: made.ClientSecret, Method: made.TokenEndpointAuthMethod}
	switch {
	case c.Secret == "":
		c.Method = MethodNone
	case c.Method == MethodNone:
		c.Secret = ""
	case c.Method != MethodPost:
		c.Method = MethodBasic // what is not said is that
	}
	return c, nil
}

// visible reports whether a credential holds what RFC 6749 allows (appendix A), so
// that it can be sent in any place.
func visible(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return text != "" && len(text) <= maxCredential
}

// maxCredential bounds a token, an id and a secret, in bytes.
const maxCredential = 16 << 10
