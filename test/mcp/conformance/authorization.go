package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"github.com/heddle-dev/heddle/internal/netguard"
	"github.com/heddle-dev/heddle/internal/oauth"
	"github.com/heddle-dev/heddle/providers/mcp"
)

// identity is what the suite's authorization servers are told. Nothing listens at the
// way back, and nobody fetches the document.
var identity = oauth.Identity{
	Name:     "Heddle",
	Document: "https://conformance-test.local/client-metadata.json",
	Redirect: "http://localhost:3000/callback",
}

// authorizer has a user consent whenever the server refuses what it was given.
type authorizer struct {
	server  string
	network *netguard.Client
	given   setting

	mu sync.Mutex
	// clients are who the authorization servers know this side as, by issuer.
	clients map[string]oauth.Client
	// scopes are what was asked for last.
	scopes []string
	tokens oauth.Tokens
}

func credentials(server *url.URL, given setting) (mcp.Credentials, error) {
	// The suite has its authorization servers at hosts of their own.
	network, err := oauth.Network([]string{server.Hostname()})
	if err != nil {
		return nil, err
	}
	a := &authorizer{server: server.String(), network: network, given: given, clients: map[string]oauth.Client{}}
	return a.credential, nil
}

func (a *authorizer) credential(ctx context.Context, need mcp.Need) (mcp.Credential, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if need.Refused != nil && need.Refused.Generation == a.current().Generation {
		if err := a.consent(ctx, oauth.ReadChallenge(need.Refused.Challenge)); err != nil {
			return mcp.Credential{}, err
		}
	}
	return a.current(), nil
}

// current is the credential of the access token that there is, if there is one.
func (a *authorizer) current() mcp.Credential {
	if a.tokens.Access == "" {
		return mcp.Credential{}
	}
	sum := sha256.Sum256([]byte(a.tokens.Access))
	return mcp.Credential{
		Headers: map[string]string{"Authorization": "Bearer " + a.tokens.Access}, Generation: hex.EncodeToString(sum[:8]),
	}
}

// consent has the user agree to what the server wants, which is found out anew: it may
// have another authorization server by now.
func (a *authorizer) consent(ctx context.Context, challenge oauth.Challenge) error {
	service, err := oauth.Discover(ctx, a.network, a.server, &challenge)
	if err != nil {
		return err
	}
	client, err := a.client(ctx, service.Server)
	if err != nil {
		return err
	}
	scopes := service.Scopes
	if challenge.Error == oauth.Insufficient { // what was allowed stays allowed
		for _, scope := range a.scopes {
			if !slices.Contains(scopes, scope) {
				scopes = append(scopes, scope)
			}
		}
	}
	a.scopes = scopes
	attempt := oauth.Begin(service, client, identity.Redirect, scopes)
	answer, err := agree(ctx, attempt.URL)
	if err != nil {
		return err
	}
	code, err := attempt.Read(answer)
	if err != nil {
		return err
	}
	a.tokens, err = oauth.Exchange(ctx, a.network, attempt, code)
	return err
}

// client is who an authorization server knows this side as.
func (a *authorizer) client(ctx context.Context, server oauth.Server) (oauth.Client, error) {
	if a.given.ClientID != "" && a.given.ClientSecret != "" {
		return oauth.KnownClient(server, a.given.ClientID, a.given.ClientSecret), nil
	}
	if known, ok := a.clients[server.Issuer]; ok {
		return known, nil
	}
	made, err := oauth.Register(ctx, a.network, server, identity)
	if err == nil {
		a.clients[server.Issuer] = made
	}
	return made, err
}

// agree is the user, who agrees at once: the suite's server answers the address of
// consent with the way back.
func agree(ctx context.Context, page string) (url.Values, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, page, http.NoBody)
	if err != nil {
		return nil, err
	}
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := browser.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	back, err := response.Location()
	if err != nil {
		return nil, fmt.Errorf("the way back from consent: %w", err)
	}
	return back.Query(), nil
}
