package openapi

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/netguard"
)

const (
	// tokenSlack is how long before its end a token is fetched anew.
	tokenSlack = 30 * time.Second
	// tokenLife is that of a token whose server does not say.
	tokenLife = 5 * time.Minute
	// maxTokens bounds the tokens that are kept.
	maxTokens = 1000
)

// tokens keeps access tokens, each fetched once for all calls that wait for it.
type tokens struct {
	mu      sync.Mutex
	entries map[[sha256.Size]byte]*tokenEntry
}

// token is an access token and where it is kept.
type token struct {
	value string
	key   [sha256.Size]byte
}

type tokenEntry struct {
	// turn is held by whoever fetches.
	turn    chan struct{}
	value   string
	expires time.Time
}

// get returns a token for the client that a secret names.
func (t *tokens) get(ctx context.Context, s *Source, one scheme, scope catalog.Scope, secret Secret) (token, error) {
	endpoint, err := s.tokenEndpoint(one)
	if err != nil {
		return token{}, err
	}
	// The secret itself is part of the key: another tenant's client never shares.
	parts, err := json.Marshal([]any{scope.Tenant, one.name, endpoint, one.scopes, secret.ClientID, secret.ClientSecret})
	if err != nil {
		return token{}, err
	}
	key := sha256.Sum256(parts)
	entry := t.entry(key)
	select {
	case entry.turn <- struct{}{}:
	case <-ctx.Done():
		return token{}, ctx.Err()
	}
	defer func() { <-entry.turn }()
	if entry.value != "" && time.Until(entry.expires) > tokenSlack {
		return token{entry.value, key}, nil
	}
	value, life, err := s.fetchToken(ctx, endpoint, one.scopes, secret)
	if err != nil {
		return token{}, err
	}
	entry.value, entry.expires = value, time.Now().Add(life)
	return token{value, key}, nil
}

func (t *tokens) entry(key [sha256.Size]byte) *tokenEntry {
	t.mu.Lock()
	defer t.mu.Unlock()
	entry := t.entries[key]
	if entry == nil {
		if t.entries == nil || len(t.entries) >= maxTokens {
			t.entries = map[[sha256.Size]byte]*tokenEntry{}
		}
		entry = &tokenEntry{turn: make(chan struct{}, 1)}
		t.entries[key] = entry
	}
	return entry
}

// drop forgets a token that the service refused, unless there is a newer one.
func (t *tokens) drop(old token) {
	entry := t.entry(old.key)
	entry.turn <- struct{}{}
	defer func() { <-entry.turn }()
	if entry.value == old.value {
		entry.value = ""
	}
}

// tokenEndpoint is where the scheme's tokens come from. A specification cannot
// have a client's secret sent anywhere but to the service.
func (s *Source) tokenEndpoint(one scheme) (string, error) {
	refuse := func(why string) (string, error) {
		return "", &catalog.Error{Code: CodeNoCredential, Message: fmt.Sprintf("the scheme %s %s", one.name, why), Effect: catalog.EffectNone}
	}
	if one.Flows == nil || one.Flows.ClientCredentials == nil || one.Flows.ClientCredentials.TokenURL == "" {
		return refuse("has no flow of client credentials; a person must connect the service")
	}
	u, err := url.Parse(one.Flows.ClientCredentials.TokenURL)
	if err != nil {
		return refuse("has a token URL that cannot be read")
	}
	if !u.IsAbs() {
		u = s.home.ResolveReference(u)
	}
	if !s.trusted(netguard.Origin(u)) {
		return refuse("has its tokens from " + netguard.Origin(u) + ", and the operator does not allow that origin")
	}
	return u.String(), nil
}

// fetchToken asks for one: first as the standard prefers, then with the secret in
// the form, which some servers want.
func (s *Source) fetchToken(ctx context.Context, endpoint string, scopes []string, secret Secret) (string, time.Duration, error) {
	form := url.Values{"grant_type": {"client_credentials"}}
	if len(scopes) > 0 {
		form.Set("scope", strings.Join(scopes, " "))
	}
	for _, inForm := range []bool{false, true} {
		if inForm {
			form.Set("client_id", secret.ClientID)
			form.Set("client_secret", secret.ClientSecret)
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
		if err != nil {
			return "", 0, err
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Accept", "application/json")
		if !inForm {
			req.SetBasicAuth(url.QueryEscape(secret.ClientID), url.QueryEscape(secret.ClientSecret))
		}
		status, answer, err := s.askToken(req)
		switch {
		case err != nil:
			return "", 0, &catalog.Error{Code: CodeNoCredential, Message: "an access token could not be fetched: " + err.Error(), Retryable: true, Effect: catalog.EffectNone}
		case status == http.StatusOK && answer.AccessToken != "":
			life := time.Duration(answer.ExpiresIn) * time.Second
			if life <= 0 {
				life = tokenLife
			}
			return answer.AccessToken, life, nil
		case status != http.StatusUnauthorized && status != http.StatusBadRequest || inForm:
			return "", 0, &catalog.Error{
				Code: CodeNoCredential, Effect: catalog.EffectNone, Retryable: status >= 500,
				Message: fmt.Sprintf("an access token could not be fetched: the server answers %d %.64s", status, identifier(answer.Error)),
			}
		}
	}
	panic("unreachable")
}

type tokenAnswer struct {
	AccessToken string `json:"access_token"`
	ExpiresIn   int64  `json:"expires_in"`
	Error       string `json:"error"`
}

func (s *Source) askToken(req *http.Request) (int, tokenAnswer, error) {
	var answer tokenAnswer
	response, err := s.client.Do(req)
	if err != nil {
		return 0, answer, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return 0, answer, err
	}
	_ = json.Unmarshal(text, &answer) // an answer that is none has no token
	return response.StatusCode, answer, nil
}
