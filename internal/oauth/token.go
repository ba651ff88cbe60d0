package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/internal/netguard"
)

// Tokens are what a server grants.
type Tokens struct {
	Access string
	// Refresh is empty where the server gives none.
	Refresh string
	// Expires is when Access ends; zero where the server does not say.
	Expires time.Time
	// Scopes are what was granted; nil where that is what was asked for.
	Scopes []string
}

// Exchange has a code exchanged for tokens. The error wraps [ErrGrantEnded] where the
// code was used before, is of somebody else, or is too old.
func Exchange(ctx context.Context, network *netguard.Client, a Attempt, code string) (Tokens, error) {
	return a.Grantor.ask(ctx, network, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {a.Redirect}, "code_verifier": {a.Verifier},
	}, code, a.Verifier)
}

// Refresh has new tokens made. Refresh of the result is the token to use the next time:
// the same one, or another in its place. The error wraps [ErrGrantEnded],
// [ErrClientUnknown] or [ErrUnavailable].
func Refresh(ctx context.Context, network *netguard.Client, g Grantor, refresh string) (Tokens, error) {
	t, err := g.ask(ctx, network, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}}, refresh)
	if t.Refresh == "" {
		t.Refresh = refresh
	}
	return t, err
}

// Revoke ends a grant at the server, which must offer it. Access is the access token,
// for a grant without a refresh token.
func Revoke(ctx context.Context, network *netguard.Client, g Grantor, refresh, access string) error {
	if g.Server.Revocation == "" {
		return errors.New("the authorization server offers no revocation")
	}
	form := url.Values{"token": {refresh}, "token_type_hint": {"refresh_token"}}
	if refresh == "" {
		form = url.Values{"token": {access}, "token_type_hint": {"access_token"}}
	}
	a, err := g.post(ctx, network, g.Server.Revocation, form)
	if err != nil {
		return unavailable(err)
	}
	if a.status != http.StatusOK {
		return a.refusal("the revocation", refresh, access, g.Client.Secret)
	}
	return nil
}

// post sends a form as the client.
func (g Grantor) post(ctx context.Context, network *netguard.Client, address string, form url.Values) (answer, error) {
	if g.Client.Method != MethodBasic {
		form.Set("client_id", g.Client.ID)
	}
	if g.Client.Method == MethodPost {
		form.Set("client_secret", g.Client.Secret)
	}
	return post(ctx, network, address, "application/x-www-form-urlencoded", form.Encode(), func(req *http.Request) {
		if g.Client.Method == MethodBasic {
			req.SetBasicAuth(url.QueryEscape(g.Client.ID), url.QueryEscape(g.Client.Secret))
		}
	})
}

// ask asks for tokens.
func (g Grantor) ask(ctx context.Context, network *netguard.Client, form url.Values, secrets ...string) (Tokens, error) {
	if g.Resource != "" {
		form.Set("resource", g.Resource)
	}
	asked := time.Now()
	a, err := g.post(ctx, network, g.Server.Token, form)
	if err != nil {
		return Tokens{}, unavailable(err)
	}
	if a.status != http.StatusOK {
		return Tokens{}, a.refusal("a token", append(secrets, g.Client.Secret)...)
	}
	return readTokens(a.body, asked)
}

// readTokens reads a server's answer. What cannot be used is not taken: an empty token
// would be sent as if it were one.
func readTokens(body []byte, asked time.Time) (Tokens, error) {
	var said struct {
		Access  string          `json:"access_token"`
		Type    string          `json:"token_type"`
		Refresh string          `json:"refresh_token"`
		Expires json.RawMessage `json:"expires_in"`
		Scope   string          `json:"scope"`
		Error   string          `json:"error"`
	}
	fail := func(format string, args ...any) (Tokens, error) {
		return Tokens{}, fmt.Errorf("the answer of the authorization server is no token: "+format, args...)
	}
	switch err := json.Unmarshal(body, &said); {
	case err != nil:
		return fail("it is not the JSON that was expected")
	case said.Error != "": // some answer errors with 200
		return Tokens{}, answer{http.StatusBadRequest, body}.refusal("a token")
	case !visible(said.Access):
		return fail("access_token is missing, or holds what cannot be sent")
	case said.Type != "" && !strings.EqualFold(said.Type, "bearer"):
		return fail("token_type is %q, want Bearer", words(said.Type, maxCode))
	case said.Refresh != "" && !visible(said.Refresh):
		return fail("refresh_token holds what cannot be sent")
	}
	t := Tokens{Access: said.Access, Refresh: said.Refresh, Scopes: readScopes(said.Scope)}
	var seconds json.Number
	if text := strings.Trim(string(said.Expires), `"`); text != "" && text != "null" { // some write the number as text
		seconds = json.Number(text)
		n, err := seconds.Float64()
		if err != nil || n != n {
			return fail("expires_in is not a number")
		}
		const longest = 10 * 365 * 24 * 3600
		t.Expires = asked.Add(time.Duration(min(max(n, 0), longest)) * time.Second)
	}
	return t, nil
}
