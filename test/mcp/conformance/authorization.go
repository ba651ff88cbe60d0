package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/heddle-dev/heddle/providers/mcp"
)

// callback is where the suite's authorization server sends the user; nothing
// listens there.
const callback = "http://localhost:3000/callback"

// authorizer has a user consent whenever the server refuses what it was given.
type authorizer struct {
	server  *url.URL
	handler *auth.AuthorizationCodeHandler
	mu      sync.Mutex
}

func credentials(server *url.URL, given setting) (mcp.Credentials, error) {
	config := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL:              callback,
		AuthorizationCodeFetcher: consent,
		ClientIDMetadataDocumentConfig: &auth.ClientIDMetadataDocumentConfig{
			URL: "https://conformance-test.local/client-metadata.json",
		},
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{RedirectURIs: []string{callback}},
		},
	}
	if given.ClientID != "" && given.ClientSecret != "" {
		config.PreregisteredClient = &oauthex.ClientCredentials{
			ClientID:         given.ClientID,
			ClientSecretAuth: &oauthex.ClientSecretAuth{ClientSecret: given.ClientSecret},
		}
	}
	handler, err := auth.NewAuthorizationCodeHandler(config)
	if err != nil {
		return nil, err
	}
	a := &authorizer{server: server, handler: handler}
	return a.credential, nil
}

func (a *authorizer) credential(ctx context.Context, need mcp.Need) (mcp.Credential, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, err := a.token(ctx)
	if err != nil || need.Refused == nil || now.Generation != need.Refused.Generation {
		return now, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.server.String(), http.NoBody)
	if err != nil {
		return mcp.Credential{}, err
	}
	if value := now.Headers["Authorization"]; value != "" {
		request.Header.Set("Authorization", value)
	}
	refusal := &http.Response{
		StatusCode: need.Refused.Status, Header: http.Header{"Www-Authenticate": need.Refused.Challenge},
		Body: http.NoBody, Request: request,
	}
	if err := a.handler.Authorize(ctx, request, refusal); err != nil {
		return mcp.Credential{}, err
	}
	return a.token(ctx)
}

// token is the credential of the access token that there is, if there is one.
func (a *authorizer) token(ctx context.Context) (mcp.Credential, error) {
	tokens, err := a.handler.TokenSource(ctx)
	if err != nil || tokens == nil {
		return mcp.Credential{}, err
	}
	token, err := tokens.Token()
	if err != nil {
		return mcp.Credential{}, err
	}
	sum := sha256.Sum256([]byte(token.AccessToken))
	return mcp.Credential{
		Headers:    map[string]string{"Authorization": token.Type() + " " + token.AccessToken},
		Generation: hex.EncodeToString(sum[:8]),
	}, nil
}

// consent is the user, who agrees at once: the suite's server answers the address
// of consent with the way back.
func consent(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, args.URL, http.NoBody)
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
	query := back.Query()
	return &auth.AuthorizationResult{Code: query.Get("code"), State: query.Get("state"), Iss: query.Get("iss")}, nil
}
