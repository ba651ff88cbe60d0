package heddle

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/secrets"
)

// crm is a service that accepts one token, and remembers those that it saw.
type crm struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string
}

func newCRM(t *testing.T, accepts string) *crm {
	t.Helper()
	c := &crm{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		c.mu.Lock()
		c.seen = append(c.seen, token)
		c.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		if token != accepts {
			w.WriteHeader(http.StatusUnauthorized)
		}
		fmt.Fprintf(w, `{"you_sent":%q}`, token)
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *crm) tokens() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.seen)
}

// config is the configuration of a worker that uses the service.
func (c *crm) config(store string) string {
	return fmt.Sprintf(`
secrets: [%s]
openapi:
  crm:
    spec: %s/openapi.json
    server: %s
    allow: [%q]
    scheme: {type: bearer}
    auth: {"*": {token: "connection:crm:token"}}
agents: {a: {model: m, instructions: x, tools: ["crm.*"], web: false}}
`, store, c.URL, c.URL, c.Listener.Addr().String())
}

const crmSpec = `{"openapi":"3.1.0","info":{"title":"CRM","version":"1"},"paths":{"/me":{"get":{"operationId":"me","responses":{"200":{"description":"ok"}}}}}}`

// serveSpec makes the service serve its specification too.
func (c *crm) serveSpec() *crm {
	next := c.Config.Handler
	c.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/openapi.json" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(crmSpec))
			return
		}
		next.ServeHTTP(w, r)
	})
	return c
}

var crmToken = secrets.Key{Scope: secrets.Connection, Tenant: "acme", Owner: "crm", Name: "token"}

// TestATokenOfAConnectionOutlivesAWorker stores a token with one worker, uses and
// renews it with a second, and finds it renewed with a third.
func TestATokenOfAConnectionOutlivesAWorker(t *testing.T) {
	t.Setenv("TEST_SECRETS_KEY", "k1:"+base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("k"), 32)))
	for kind, store := range map[string]string{
		"sqlite": `{sqlite: %q, key_env: TEST_SECRETS_KEY}`,
		"file":   `{file: %q, plain: true}`,
	} {
		t.Run(kind, func(t *testing.T) {
			service := newCRM(t, "fresh-token-of-the-crm").serveSpec()
			text := service.config(fmt.Sprintf(store, filepath.Join(t.TempDir(), "kept", "secrets")))

			first := newApp(t, text)
			if err := first.vault.Put(t.Context(), crmToken, secrets.Item{Value: []byte("stale-token-of-the-crm")}); err != nil {
				t.Fatal(err)
			}
			var renewed []secrets.Key
			other := func(context.Context, secrets.Key, []byte) ([]byte, time.Time, error) {
				return nil, time.Time{}, secrets.ErrNotFound
			}
			second := newApp(t, text, RenewSecrets(other), RenewSecrets(func(_ context.Context, key secrets.Key, old []byte) ([]byte, time.Time, error) {
				renewed = append(renewed, key)
				if string(old) != "stale-token-of-the-crm" {
					return nil, time.Time{}, fmt.Errorf("asked to renew another value")
				}
				return []byte("fresh-token-of-the-crm"), time.Now().Add(time.Hour), nil
			}))
			for range 2 {
				if out := second.play(t, "a", "crm.me", `{}`); out.Error != nil || !strings.Contains(string(out.Result), secrets.Mask) {
					t.Errorf("outcome is %s, %v", out.Result, out.Error)
				}
			}
			if !slices.Equal(renewed, []secrets.Key{crmToken}) {
				t.Errorf("renewed %v, want the token once", renewed)
			}
			third := newApp(t, text)
			if out := third.play(t, "a", "crm.me", `{}`); out.Error != nil {
				t.Errorf("outcome is %v", out.Error)
			}
			want := []string{"stale-token-of-the-crm", "fresh-token-of-the-crm", "fresh-token-of-the-crm", "fresh-token-of-the-crm"}
			if got := service.tokens(); !slices.Equal(got, want) {
				t.Errorf("the service saw %q, want %q", got, want)
			}
		})
	}
}

func TestStoresOfTheProgramComeFirst(t *testing.T) {
	store := func(value string) secrets.Store {
		s, err := secrets.OpenFile(filepath.Join(t.TempDir(), "s"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Put(t.Context(), secrets.Key{Scope: secrets.App, Name: "a"}, secrets.Item{Value: []byte(value)}); err != nil {
			t.Fatal(err)
		}
		return s
	}
	t.Setenv("HEDDLE_SECRET_A", "from the environment")
	t.Setenv("HEDDLE_SECRET_B", "from the environment")
	app := newApp(t, "agents: {a: {model: m, instructions: x}}\n", SecretStores(store("from the program"), store("never reached")))
	for ref, want := range map[string]string{"a": "from the program", "b": "from the environment"} {
		var got string
		err := app.vault.Use(t.Context(), catalog.Scope{Tenant: "acme"}, ref, func(value []byte) error {
			got = string(value)
			return nil
		})
		if err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", ref, got, err, want)
		}
	}
}

func TestStoresThatCannotBeOpened(t *testing.T) {
	t.Setenv("TEST_SECRETS_KEY", "k1:hunter2hunter2")
	for store, want := range map[string]string{
		`{sqlite: s.db, key_env: TEST_NO_SUCH_KEY}`:               "the environment variable TEST_NO_SUCH_KEY is not set",
		`{sqlite: s.db, key_env: TEST_SECRETS_KEY}`:               "key k1: want 32 bytes in base64",
		`{file: s.age, key_env: TEST_SECRETS_KEY}`:                "want age identities",
		`{file: s.age, key_file: none}`:                           "no such file",
		`{postgres: "postgres://h/d", key_env: TEST_SECRETS_KEY}`: "key of postgres: key k1",
	} {
		path := filepath.Join(t.TempDir(), "heddle.yaml")
		if err := os.WriteFile(path, []byte("secrets:\n  - env: X_\n  - "+store+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := New(ConfigFile(path))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "heddle.yaml:3:6: secrets[1]: ") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q", store, err, want)
		}
	}
	if _, err := New(SecretStores(nil)); err == nil || !strings.Contains(err.Error(), "a store of secrets is nil") {
		t.Errorf("a nil store: %v", err)
	}
}
