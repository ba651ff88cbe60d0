package oauth

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/oauth2"
)

// Grantor is whom tokens are had from, and as whom. All of it is fixed when a person
// consents: a service that later leads elsewhere gains nothing.
type Grantor struct {
	Server   Server `json:"server"`
	Client   Client `json:"client"`
	Resource string `json:"resource,omitempty"`
}

// Attempt is a request for consent that is on its way.
type Attempt struct {
	Grantor Grantor `json:"grantor"`
	// State names the attempt in the answer, and Verifier proves that whoever has
	// the code has begun it. Both are secret.
	State    string   `json:"state"`
	Verifier string   `json:"verifier"`
	Redirect string   `json:"redirect"`
	Scopes   []string `json:"scopes,omitempty"`
	// URL is where the person consents.
	URL string `json:"url"`
}

// Begin makes an attempt. Scopes are those to ask for; nil: those that the service
// wants.
func Begin(service Service, client Client, redirect string, scopes []string) Attempt {
	if scopes == nil {
		scopes = service.Scopes
	}
	if service.Server.Offline && !slices.Contains(scopes, offlineAccess) {
		scopes = append(slices.Clone(scopes), offlineAccess)
	}
	a := Attempt{
		Grantor: Grantor{service.Server, client, service.Resource},
		State:   rand.Text(), Verifier: oauth2.GenerateVerifier(), Redirect: redirect, Scopes: scopes,
	}
	query := url.Values{
		"response_type": {"code"}, "client_id": {client.ID}, "redirect_uri": {redirect}, "state": {a.State},
		"code_challenge": {oauth2.S256ChallengeFromVerifier(a.Verifier)}, "code_challenge_method": {"S256"},
	}
	if len(scopes) > 0 {
		query.Set("scope", strings.Join(scopes, " "))
	}
	if service.Resource != "" {
		query.Set("resource", service.Resource)
	}
	if slices.Contains(scopes, offlineAccess) {
		query.Set("prompt", "consent") // without it OpenID Connect gives no refresh token
	}
	joint := "?"
	if strings.Contains(service.Server.Authorization, "?") {
		joint = "&"
	}
	a.URL = service.Server.Authorization + joint + query.Encode()
	return a
}

// Read returns the code of an answer, which it checks to be of the server that was
// asked and for this attempt. The error wraps [ErrAnswer], or is a [*ServerError] where
// the person or the server has said no.
func (a Attempt) Read(query url.Values) (code string, _ error) {
	refuse := func(format string, args ...any) (string, error) {
		return "", fmt.Errorf("%w: %s", ErrAnswer, fmt.Sprintf(format, args...))
	}
	for _, name := range []string{"state", "iss", "code", "error"} {
		if len(query[name]) > 1 {
			return refuse("it has %s more than once", name)
		}
	}
	if subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(a.State)) != 1 {
		return refuse("its state is not that of this attempt")
	}
	issuer := query.Get("iss")
	switch {
	case issuer == "" && a.Grantor.Server.NamesItself:
		return refuse("it does not name the authorization server, which says that it does (iss)")
	case issuer != "" && a.Grantor.Server.Issuer != "" && issuer != a.Grantor.Server.Issuer:
		return refuse("it comes from %q, not from %s (iss)", words(issuer, maxDescription), a.Grantor.Server.Issuer)
	}
	if said := query.Get("error"); said != "" {
		return "", &ServerError{
			Asked: "consent", Code: words(said, maxCode), Description: words(query.Get("error_description"), maxDescription, a.State),
		}
	}
	if code = query.Get("code"); !visible(code) {
		return refuse("it has no code")
	}
	return code, nil
}
