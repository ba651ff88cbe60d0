package openapi

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/secrets"
)

// vaultOf keeps secrets of the application by name, as the environment has them.
func vaultOf(pairs ...string) *secrets.Vault {
	return secrets.NewVault(&secrets.Redactor{}, nil, secrets.NewEnv("", func() []string { return pairs }))
}

func TestLogins(t *testing.T) {
	logins := map[string]Login{
		"basic":  {Username: "ann", Password: "app:svc.password"},
		"header": {Token: "svc.key"},
		"*":      {Token: "svc.token"},
	}
	vault := vaultOf("HEDDLE_SECRET_SVC_PASSWORD=password-1", "HEDDLE_SECRET_SVC_TOKEN=token-00001", "HEDDLE_SECRET_SVC_KEY=key-000001")
	for name, want := range map[string]func(*http.Request) bool{
		"basic":  func(r *http.Request) bool { _, password, _ := r.BasicAuth(); return password == "password-1" },
		"bearer": func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer token-00001" },
		"header": func(r *http.Request) bool { return r.Header.Get("X-Key") == "key-000001" },
		"both": func(r *http.Request) bool {
			return r.Header.Get("X-Key") == "key-000001" && r.URL.Query().Get("key") == "token-00001"
		},
		"either": func(r *http.Request) bool { return r.Header.Get("Authorization") != "" },
		"free":   func(r *http.Request) bool { return r.Header.Get("Authorization") == "" },
	} {
		server, requests := service(t, nil)
		b := newBroker(t, newSource(t, Options{Spec: yamlSpec(securedSpec), Logins: logins}, server.URL))
		b.Protect(vault)
		if _, out := dispatch(t, b, "svc."+name, "{}"); out.Error != nil || len(*requests) != 1 || !want((*requests)[0].Request) {
			t.Errorf("%s: outcome is %+v after %+v", name, out, *requests)
		}
	}
}

// TestLoginWithoutItsSecret says which secret is missing, and tries what else the
// specification allows first.
func TestLoginWithoutItsSecret(t *testing.T) {
	server, requests := service(t, nil)
	b := newBroker(t, newSource(t, Options{Spec: yamlSpec(securedSpec), Logins: map[string]Login{"basic": {Username: "ann", Password: "svc.password"}, "token": {Token: "svc.token"}}}, server.URL))
	b.Protect(vaultOf("HEDDLE_SECRET_SVC_TOKEN=token-00001"))
	_, out := dispatch(t, b, "svc.basic", "{}")
	if out.Error == nil || out.Error.Code != CodeNoCredential || !strings.Contains(out.Error.Message, "svc.password") || out.Error.Hint == "" || len(*requests) != 0 {
		t.Errorf("outcome is %+v after %d requests", out.Error, len(*requests))
	}
	if _, out := dispatch(t, b, "svc.either", "{}"); out.Error != nil || (*requests)[0].Header.Get("Authorization") != "Bearer token-00001" {
		t.Errorf("the second alternative: %+v", out)
	}
	if _, out := dispatch(t, b, "svc.header", "{}"); out.Error == nil || out.Error.Code != CodeNoCredential {
		t.Errorf("a scheme without a login: %+v", out)
	}
}

func TestLoginsThatCannotBe(t *testing.T) {
	for name, l := range map[string]Login{
		"nothing":            {},
		"two ways":           {Token: "a", ClientID: "b", ClientSecret: "c"},
		"half of one":        {Username: "ann"},
		"one and a half":     {Token: "a", Username: "ann"},
		"a secret by itself": {Token: "hunter2!"},
	} {
		_, err := New(Options{Namespace: "svc", Spec: yamlSpec(securedSpec), Logins: map[string]Login{"token": l}})
		if err == nil || !strings.Contains(err.Error(), "logins: token") {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := New(Options{Namespace: "svc", Spec: yamlSpec(securedSpec), Logins: map[string]Login{}, Credentials: &safe{}})
	if err == nil {
		t.Error("logins and credentials are both taken")
	}
}

// memory is a store of one secret that can be changed.
type memory struct {
	secrets.Store
	item secrets.Item
}

func (m *memory) Name() string { return "memory" }

func (m *memory) Get(_ context.Context, key secrets.Key) (secrets.Item, error) {
	if key.Scope != secrets.Connection || key.Owner != "crm" || key.Name != "token" {
		return secrets.Item{}, secrets.ErrNotFound
	}
	item := m.item
	item.Value = slices.Clone(item.Value)
	return item, nil
}

func (m *memory) Put(_ context.Context, _ secrets.Key, item secrets.Item) error {
	m.item = secrets.Item{Value: slices.Clone(item.Value), Expires: item.Expires, Version: item.Version + 1}
	return nil
}

// TestTokenOfAConnection is renewed by whoever keeps it when the service refuses
// it, and the call is made once more with the new one.
func TestTokenOfAConnection(t *testing.T) {
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
		w.Header().Set("Content-Type", "application/json")
		if seen[len(seen)-1] != "Bearer fresh-token" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		fmt.Fprint(w, `{}`)
	}))
	t.Cleanup(server.Close)
	store := &memory{item: secrets.Item{Value: []byte("stale-token"), Version: 1}}
	renewed := 0
	vault := secrets.NewVault(&secrets.Redactor{}, func(_ context.Context, _ secrets.Key, old []byte) ([]byte, time.Time, error) {
		renewed++
		if string(old) != "stale-token" {
			return nil, time.Time{}, errLost
		}
		return []byte("fresh-token"), time.Time{}, nil
	}, store)
	b := newBroker(t, newSource(t, Options{Spec: yamlSpec(securedSpec), Logins: map[string]Login{"token": {Token: "connection:crm:token"}}}, server.URL))
	b.Protect(vault)
	for range 2 {
		if _, out := dispatch(t, b, "svc.bearer", "{}"); out.Error != nil {
			t.Fatalf("outcome is %+v", out.Error)
		}
	}
	if renewed != 1 || len(seen) != 3 {
		t.Errorf("renewed %d times, the service saw %v", renewed, seen)
	}
}

// TestProtect raises the protection by tool id, and by operation whatever it is
// called.
func TestProtect(t *testing.T) {
	spec := `
openapi: 3.0.3
info: {title: P, version: '1'}
paths:
  /admin/users: {get: {operationId: harmless, responses: {'200': {description: ok}}}}
  /open: {get: {operationId: open, responses: {'200': {description: ok}}}, head: {operationId: peek, responses: {'200': {description: ok}}}, delete: {operationId: drop, responses: {'200': {description: ok}}}}
`
	for what, want := range map[string][]string{
		"svc.harmless":    {"svc.harmless"},
		"GET /admin/*":    {"svc.harmless"},
		"* /open":         {"svc.open", "svc.peek", "svc.drop"},
		"HEAD /*":         {"svc.peek"},
		"POST /admin/*":   nil,
		"GET /admin":      nil,
		"svc.nothing_lik": nil,
	} {
		tools, err := newSource(t, Options{Spec: yamlSpec(spec), Protect: []string{what}}, "").Tools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range tools {
			protected := tool.Approval == catalog.ApprovalAlways && tool.Operation == catalog.Write
			if protected != slices.Contains(want, tool.ID) {
				t.Errorf("%s: %s is %s, approval %q", what, tool.ID, tool.Operation, tool.Approval)
			}
			if tool.Destructive != (tool.ID == "svc.drop") {
				t.Errorf("%s is destructive: %t", tool.ID, tool.Destructive)
			}
		}
	}
	for _, what := range []string{"get /x", "GET x", "GET /a*b", "svc.*.*.", ""} {
		if _, err := New(Options{Namespace: "svc", Spec: yamlSpec(spec), Protect: []string{what}}); err == nil {
			t.Errorf("%q is taken", what)
		}
	}
}
