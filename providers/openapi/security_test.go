package openapi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
)

// secretValue is a credential with characters that look different when escaped.
const secretValue = `tok/en+"42"&more`

// safe is a credential manager that knows one secret.
type safe struct {
	secret Secret
	// kinds are those that there is a secret for; none means all.
	kinds []string
	needs []Need
	mu    sync.Mutex
}

func (s *safe) Use(ctx context.Context, need Need, use func(context.Context, Secret) error) error {
	s.mu.Lock()
	s.needs = append(s.needs, need)
	s.mu.Unlock()
	if len(s.kinds) > 0 && !slices.Contains(s.kinds, need.Kind) {
		return fmt.Errorf("%s: %w", need.Scheme, ErrNoCredential)
	}
	return use(ctx, s.secret)
}

const securedSpec = `
openapi: 3.0.3
info: {title: Secured, version: '1'}
security: [{basic: []}, {token: []}]
paths:
  /basic: {get: {operationId: basic, security: [{basic: []}], responses: {'200': {description: ok}}}}
  /bearer: {get: {operationId: bearer, security: [{token: []}], responses: {'200': {description: ok}}}}
  /header: {get: {operationId: header, security: [{header: []}], responses: {'200': {description: ok}}}}
  /query: {get: {operationId: query, parameters: [{name: a, in: query, schema: {type: string}}], security: [{query: []}], responses: {'200': {description: ok}}}}
  /cookie: {get: {operationId: cookie, parameters: [{name: a, in: cookie, schema: {type: string}}], security: [{cookie: []}], responses: {'200': {description: ok}}}}
  /both: {get: {operationId: both, security: [{header: [], query: []}], responses: {'200': {description: ok}}}}
  /either: {get: {operationId: either, responses: {'200': {description: ok}}}}
  /free: {get: {operationId: free, security: [], responses: {'200': {description: ok}}}}
  /optional: {get: {operationId: optional, security: [{}, {token: []}], responses: {'200': {description: ok}}}}
  /openid: {get: {operationId: openid, security: [{openid: [read]}], responses: {'200': {description: ok}}}}
  /unknown: {get: {operationId: unknown, security: [{nothing: []}], responses: {'200': {description: ok}}}}
components:
  securitySchemes:
    basic: {type: http, scheme: basic}
    token: {type: http, scheme: Bearer}
    header: {type: apiKey, in: header, name: X-Key}
    query: {type: apiKey, in: query, name: key}
    cookie: {type: apiKey, in: cookie, name: session}
    openid: {type: openIdConnect, openIdConnectUrl: 'https://id.example.com'}
`

func TestSecuritySchemes(t *testing.T) {
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("ann:"+secretValue))
	for name, want := range map[string]func(r *http.Request) bool{
		"basic":    func(r *http.Request) bool { return r.Header.Get("Authorization") == basic },
		"bearer":   func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer "+secretValue },
		"openid":   func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer "+secretValue },
		"header":   func(r *http.Request) bool { return r.Header.Get("X-Key") == secretValue },
		"query":    func(r *http.Request) bool { return r.URL.Query().Get("key") == secretValue },
		"cookie":   func(r *http.Request) bool { return strings.HasPrefix(r.Header.Get("Cookie"), "session=tok%2Fen") },
		"both":     func(r *http.Request) bool { return r.Header.Get("X-Key") == secretValue && r.URL.Query().Has("key") },
		"either":   func(r *http.Request) bool { return r.Header.Get("Authorization") == basic },
		"free":     func(r *http.Request) bool { return r.Header.Get("Authorization") == "" },
		"optional": func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer "+secretValue },
	} {
		server, requests := service(t, nil)
		store := &safe{secret: Secret{Token: secretValue, Username: "ann", Password: secretValue}}
		s := newSource(t, Options{Spec: yamlSpec(securedSpec), Credentials: store}, server.URL)
		_, out := dispatch(t, newBroker(t, s), "svc."+name, "{}")
		if out.Error != nil || len(*requests) != 1 || !want((*requests)[0].Request) {
			t.Errorf("%s: outcome is %+v after the requests %+v", name, out, *requests)
		}
		for _, need := range store.needs {
			if need.Origin != server.URL || need.Scope.Tenant != "acme" {
				t.Errorf("%s: the need is %+v", name, need)
			}
		}
	}
}

func TestWithoutCredentials(t *testing.T) {
	server, requests := service(t, nil)
	for name, o := range map[string]Options{
		"none at all": {},
		"none of it":  {Credentials: &safe{kinds: []string{"other"}}},
	} {
		o.Spec = yamlSpec(securedSpec)
		b := newBroker(t, newSource(t, o, server.URL))
		for _, tool := range []string{"svc.basic", "svc.both", "svc.either", "svc.unknown"} {
			_, out := dispatch(t, b, tool, "{}")
			if out.Error == nil || out.Error.Code != CodeNoCredential || len(*requests) != 0 {
				t.Errorf("%s, %s: outcome is %+v after %d requests", name, tool, out, len(*requests))
			}
		}
		if _, out := dispatch(t, b, "svc.optional", "{}"); out.Error != nil {
			t.Errorf("%s: optional: %v", name, out.Error)
		}
		*requests = nil
	}
}

func TestSecondAlternative(t *testing.T) {
	server, requests := service(t, nil)
	s := newSource(t, Options{Spec: yamlSpec(securedSpec), Credentials: &safe{secret: Secret{Token: secretValue}, kinds: []string{"bearer"}}}, server.URL)
	if _, out := dispatch(t, newBroker(t, s), "svc.either", "{}"); out.Error != nil || (*requests)[0].Header.Get("Authorization") != "Bearer "+secretValue {
		t.Errorf("outcome is %+v after %v", out, *requests)
	}
}

func TestSchemeOfTheApplication(t *testing.T) {
	server, requests := service(t, nil)
	s := newSource(t, Options{Spec: yamlSpec(issuesSpec), Scheme: &Scheme{Type: "header", Name: "X-Token"}, Credentials: &safe{secret: Secret{Token: secretValue}}}, server.URL)
	if _, out := dispatch(t, newBroker(t, s), "svc.list", "{}"); out.Error != nil || (*requests)[0].Header.Get("X-Token") != secretValue {
		t.Errorf("outcome is %+v after %v", out, *requests)
	}
}

// TestSecretsStayWithTheService echoes the credentials in every form in the
// answers, as careless services do.
func TestSecretsStayWithTheService(t *testing.T) {
	escaped := string(must(encode(secretValue)))
	encoded := base64.StdEncoding.EncodeToString([]byte(secretValue))
	for _, status := range []int{200, 403} {
		answer := fmt.Sprintf(`{"message":%s,"b64":"%s","url":"%s","secretary":"tok"}`, escaped, encoded, escape(secretValue, ""))
		server, _ := service(t, &upstream{Status: status, JSON: json.RawMessage(answer), Headers: map[string]string{"Content-Type": "application/problem+json"}})
		s := newSource(t, Options{Spec: yamlSpec(securedSpec), Credentials: &safe{secret: Secret{Token: secretValue}}}, server.URL)
		_, out := dispatch(t, newBroker(t, s), "svc.bearer", "{}")
		text := string(must(encode(out)))
		for _, form := range []string{`tok/en`, encoded, "tok%2Fen", `tok/en+\"42`} {
			if strings.Contains(text, form) {
				t.Errorf("%d: the outcome holds %s: %s", status, form, text)
			}
		}
		if !strings.Contains(text, `secretary`) || (status == 403) != (out.Error != nil) {
			t.Errorf("%d: the outcome is %s", status, text)
		}
	}
	secret := Secret{Token: secretValue, Password: secretValue}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("secret", "value", secret)
	text, err := json.Marshal(secret)
	if printed := fmt.Sprintf("%v %+v %#v %s %s %v", secret, secret, secret, log.String(), text, err); strings.Contains(printed, "tok") {
		t.Errorf("a secret prints as %s", printed)
	}
}

func TestCredentialsGoToTheConfiguredHostAlone(t *testing.T) {
	var seen []string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name := range r.Header {
			seen = append(seen, name)
		}
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(other.Close)
	server, _ := service(t, &upstream{Status: 302, Headers: map[string]string{"Location": other.URL}})
	spec := fmt.Sprintf(`
openapi: 3.0.3
info: {title: Case, version: '1'}
paths:
  /a: {get: {operationId: a, responses: {'200': {description: ok, content: {application/json: {schema: {$ref: 'http://other.case.example/s.yaml#/S'}}}}}}}
  /b: {get: {operationId: b, servers: [{url: '%s'}], responses: {'200': {description: ok}}}}
  /meta: {get: {operationId: meta, security: [], servers: [{url: 'http://169.254.169.254'}], responses: {'200': {description: ok}}}}
  /metas: {get: {operationId: metas, security: [], servers: [{url: 'https://169.254.169.254'}], responses: {'200': {description: ok}}}}
security: [{key: []}]
components: {securitySchemes: {key: {type: apiKey, in: header, name: X-Key}}}
`, other.URL)
	o := Options{Spec: yamlSpec(spec), Credentials: &safe{secret: Secret{Token: secretValue}}}
	b := newBroker(t, newSource(t, o, server.URL))
	if _, out := dispatch(t, b, "svc.a", "{}"); out.Error != nil {
		t.Errorf("redirect: %v", out.Error)
	}
	if slices.Contains(seen, "X-Key") || len(seen) == 0 {
		t.Errorf("the other host saw the headers %v", seen)
	}
	if _, out := dispatch(t, b, "svc.b", "{}"); out.Error == nil || out.Error.Code != CodeNoCredential || !strings.Contains(out.Error.Message, other.URL) {
		t.Errorf("another server of the specification: %+v", out)
	}
	for _, tool := range []string{"svc.meta", "svc.metas"} {
		if _, out := dispatch(t, b, tool, "{}"); out.Error == nil || out.Error.Code != CodeRefused || out.Error.Effect != catalog.EffectNone {
			t.Errorf("%s: %+v", tool, out)
		}
	}
	o.Origins = []string{other.URL}
	b = newBroker(t, newSource(t, o, server.URL))
	if _, out := dispatch(t, b, "svc.b", "{}"); out.Error != nil || !slices.Contains(seen, "X-Key") {
		t.Errorf("an origin that the application allows: %+v, headers %v", out, seen)
	}
}

const oauthSpec = `
openapi: 3.0.3
info: {title: OAuth, version: '1'}
security: [{oauth: [read]}]
paths:
  /a: {get: {operationId: a, responses: {'200': {description: ok}}}}
components:
  securitySchemes:
    oauth: {type: oauth2, flows: {clientCredentials: {tokenUrl: TOKENURL, scopes: {}}}}
`

func TestClientCredentials(t *testing.T) {
	var fetched, served atomic.Int64
	var current atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/token" {
			_ = r.ParseForm()
			if id, password, _ := r.BasicAuth(); id != "client" || password != "client-secret" || r.PostForm.Get("scope") != "read" || r.PostForm.Get("grant_type") != "client_credentials" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			token := fmt.Sprintf("access-token-%d", fetched.Add(1))
			current.Store("Bearer " + token)
			_, _ = fmt.Fprintf(w, `{"access_token":%q,"expires_in":3600}`, token)
			return
		}
		if r.Header.Get("Authorization") != current.Load() {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		served.Add(1)
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(server.Close)
	o := Options{Spec: yamlSpec(strings.Replace(oauthSpec, "TOKENURL", server.URL+"/token", 1)), Credentials: &safe{secret: Secret{ClientID: "client", ClientSecret: "client-secret"}}}
	b := newBroker(t, newSource(t, o, server.URL))
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, out := dispatch(t, b, "svc.a", "{}"); out.Error != nil {
				t.Error(out.Error)
			}
		})
	}
	wg.Wait()
	if fetched.Load() != 1 || served.Load() != 20 {
		t.Errorf("%d tokens were fetched for %d calls", fetched.Load(), served.Load())
	}
	current.Store("revoked")
	if _, out := dispatch(t, b, "svc.a", "{}"); out.Error != nil || fetched.Load() != 2 {
		t.Errorf("a revoked token: %+v, %d fetched", out, fetched.Load())
	}

	o.Spec = yamlSpec(strings.Replace(oauthSpec, "TOKENURL", "https://thief.example.com/token", 1))
	_, out := dispatch(t, newBroker(t, newSource(t, o, server.URL)), "svc.a", "{}")
	if out.Error == nil || out.Error.Code != CodeNoCredential || !strings.Contains(out.Error.Message, "thief.example.com") {
		t.Errorf("tokens from another host: %+v", out)
	}
	o.Spec = yamlSpec(strings.Replace(oauthSpec, "TOKENURL", server.URL+"/token", 1))
	o.Credentials = &safe{secret: Secret{ClientID: "client", ClientSecret: "wrong-secret"}}
	_, out = dispatch(t, newBroker(t, newSource(t, o, server.URL)), "svc.a", "{}")
	if out.Error == nil || out.Error.Code != CodeNoCredential || strings.Contains(fmt.Sprint(out), "wrong-secret") {
		t.Errorf("a wrong client: %+v", out)
	}
}

var errLost = errors.New("lost")

func TestCredentialsFunc(t *testing.T) {
	server, requests := service(t, nil)
	s := newSource(t, Options{Spec: yamlSpec(securedSpec), Credentials: CredentialsFunc(func(_ context.Context, need Need) (Secret, error) {
		switch need.Kind {
		case "bearer":
			return Secret{Token: secretValue}, nil
		case "basic":
			return Secret{}, errLost
		}
		return Secret{}, fmt.Errorf("%s: %w", need.Scheme, ErrNoCredential)
	})}, server.URL)
	b := newBroker(t, s)
	if _, out := dispatch(t, b, "svc.bearer", "{}"); out.Error != nil || len(*requests) != 1 {
		t.Errorf("bearer: %+v", out)
	}
	if _, out := dispatch(t, b, "svc.header", "{}"); out.Error == nil || out.Error.Code != CodeNoCredential {
		t.Errorf("header: %+v", out)
	}
	_, out := dispatch(t, b, "svc.basic", "{}")
	if out.Error == nil || !strings.Contains(out.Error.Message, "lost") || out.Error.Effect != catalog.EffectNone || len(*requests) != 1 {
		t.Errorf("a lookup that fails: %+v", out)
	}
}
