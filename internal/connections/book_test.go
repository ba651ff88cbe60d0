package connections_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/connections"
	"github.com/heddle-dev/heddle/internal/oauth"
	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/secrets"
	"github.com/heddle-dev/heddle/test/authserver"
)

const redirect = "http://127.0.0.1:1/connections/callback"

var crm = connections.ID{Tenant: "acme", Name: "crm"}

// worker is a process with connections in a store that all share: each has a
// connection of its own to the database.
type worker struct {
	*connections.Book
	*secrets.Vault
}

func newWorker(t *testing.T, at secrets.Location, host string) worker {
	t.Helper()
	redactor := &secrets.Redactor{}
	store, err := secrets.Open(at, redactor)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return workerWith(t, store, redactor, host)
}

func workerWith(t *testing.T, store secrets.Store, redactor *secrets.Redactor, host string) worker {
	t.Helper()
	network, err := oauth.Network([]string{host})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(network.Close)
	book := connections.New(connections.Options{Store: store, Network: network, Redactor: redactor, Redirect: redirect})
	return worker{book, secrets.NewVault(redactor, book.Renew, store)}
}

// inSQLite is a new store for connections that several processes can open.
func inSQLite(t *testing.T) secrets.Location {
	t.Helper()
	return secrets.Location{Kind: secrets.KindSQLite, Place: filepath.Join(t.TempDir(), "s.db"), KeyFile: keyFile(t)}
}

// keyFile holds the key of a database.
func keyFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("test:"+base64.StdEncoding.EncodeToString(make([]byte, 32))), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// eachStore runs a test with each kind of store that workers can share.
func eachStore(t *testing.T, test func(t *testing.T, at secrets.Location)) {
	t.Run("sqlite", func(t *testing.T) { test(t, inSQLite(t)) })
	t.Run("file", func(t *testing.T) {
		test(t, secrets.Location{Kind: secrets.KindFile, Place: filepath.Join(t.TempDir(), "s.json"), Plain: true})
	})
	t.Run("postgres", func(t *testing.T) {
		address := testkit.Postgres(t)
		if address == "" {
			t.Skip("install PostgreSQL (initdb and postgres), to renew on a real server")
		}
		test(t, secrets.Location{Kind: secrets.KindPostgres, Place: address, KeyFile: keyFile(t)})
	})
}

// connect makes a connection by consent.
func (w worker) connect(t *testing.T, id connections.ID, server *authserver.Server) connections.Connection {
	t.Helper()
	consent, err := w.Begin(t.Context(), connections.Request{ID: id, URL: server.Resource})
	if err != nil {
		t.Fatal(err)
	}
	back, err := authserver.Agree(t.Context(), consent.URL)
	if err != nil {
		t.Fatal(err)
	}
	c, err := w.Finish(t.Context(), back.Query())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// ask asks the service with the token of the connection crm, as a tool does.
func (w worker) ask(ctx context.Context, server *authserver.Server, scope catalog.Scope) error {
	return w.Use(ctx, scope, "connection:crm:token", func(value []byte) error {
		status, err := server.Ask(ctx, string(value))
		switch {
		case err != nil:
			return err
		case status == 401:
			return fmt.Errorf("HTTP 401: %w", secrets.ErrStale)
		case status != 200:
			return fmt.Errorf("HTTP %d", status)
		}
		return nil
	})
}

var ofAcme = catalog.Scope{Tenant: "acme", User: "ada"}

func TestConsentUseRenewRemove(t *testing.T) {
	for name, secretive := range map[string]bool{"without a client secret": false, "with one": true} {
		t.Run(name, func(t *testing.T) {
			server := authserver.New(t)
			server.Secretive = secretive
			w := newWorker(t, inSQLite(t), server.Host)
			c := w.connect(t, crm, server)
			if c.Kind != connections.Consented || c.Issuer != server.URL || c.Status != connections.Active || !c.Renewable || !slices.Equal(c.Scopes, []string{"read"}) {
				t.Errorf("connection is %+v", c)
			}
			if err := w.ask(t.Context(), server, ofAcme); err != nil {
				t.Fatal(err)
			}
			server.ExpireAccess()
			for range 2 {
				if err := w.ask(t.Context(), server, ofAcme); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.ask(t.Context(), server, catalog.Scope{Tenant: "other"}); !errors.Is(err, catalog.ErrNoSecret) {
				t.Errorf("another tenant: %v", err)
			}
			if got := fmt.Sprint(server.Log()); got != "[register consent code refresh]" {
				t.Errorf("the server was asked for %s", got)
			}
			if all, err := w.Book.List(t.Context(), "acme"); err != nil || len(all) != 1 || all[0].ID != crm {
				t.Errorf("list is %+v, %v", all, err)
			}
			if all, err := w.Book.List(t.Context(), "other"); err != nil || len(all) != 0 {
				t.Errorf("list of another tenant is %+v, %v", all, err)
			}
			revoked, note, err := w.Remove(t.Context(), crm)
			if err != nil || !revoked || server.Count("revoke") != 1 {
				t.Errorf("removed: %t %q %v", revoked, note, err)
			}
			if err := w.ask(t.Context(), server, ofAcme); !errors.Is(err, catalog.ErrNoSecret) {
				t.Errorf("after it is removed: %v", err)
			}
			if _, err := w.Book.Get(t.Context(), crm); !errors.Is(err, connections.ErrNotFound) {
				t.Errorf("after it is removed: %v", err)
			}
		})
	}
}

func TestMain(m *testing.M) { testkit.Main(m, nil) }

// TestOneRefresh has many calls on several workers find the token refused at once.
func TestOneRefresh(t *testing.T) {
	eachStore(t, func(t *testing.T, at secrets.Location) {
		server := authserver.New(t)
		workers := []worker{newWorker(t, at, server.Host), newWorker(t, at, server.Host), newWorker(t, at, server.Host)}
		workers[0].connect(t, crm, server)
		for round := 1; round <= 3; round++ {
			server.ExpireAccess()
			var all sync.WaitGroup
			for i := range 24 {
				all.Go(func() {
					if err := workers[i%len(workers)].ask(t.Context(), server, ofAcme); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if n := server.Count("refresh"); n != round {
				t.Fatalf("%d refreshes in round %d: %v", n, round, server.Log())
			}
		}
	})
}

// TestExpiredByItself renews before a request is made with what has ended.
func TestExpiredByItself(t *testing.T) {
	server := authserver.New(t)
	server.Life = time.Second
	w := newWorker(t, inSQLite(t), server.Host)
	w.connect(t, crm, server)
	server.Life = time.Hour
	time.Sleep(1100 * time.Millisecond)
	if err := w.ask(t.Context(), server, ofAcme); err != nil || server.Count("refresh") != 1 {
		t.Errorf("%v after %v", err, server.Log())
	}
}

func TestRevokedIsSaidOnce(t *testing.T) {
	server := authserver.New(t)
	w := newWorker(t, inSQLite(t), server.Host)
	w.connect(t, crm, server)
	server.EndGrants()
	for range 3 {
		err := w.ask(t.Context(), server, ofAcme)
		var typed *catalog.Error
		if !errors.As(err, &typed) || typed.Code != catalog.CodeConnectionRevoked || !strings.Contains(typed.Hint, "starter connections add "+server.Resource+" --name crm") {
			t.Fatalf("error is %v", err)
		}
		if r, ok := typed.Reconnection(); !ok || r.Name != "crm" || r.URL != server.Resource {
			t.Errorf("reconnection is %+v, %t", r, ok)
		}
	}
	if n := server.Count("refresh: unknown"); n != 1 {
		t.Errorf("a refresh token that is void was sent %d times", n)
	}
	if c, err := w.Book.Get(t.Context(), crm); err != nil || c.Status != connections.Revoked || c.Renewable {
		t.Errorf("connection is %+v, %v", c, err)
	}
	// A person consents anew, from what the connection knows.
	consent, err := w.Mend(t.Context(), crm, catalog.Reconnection{Name: "crm", Scopes: []string{"write"}})
	if err != nil {
		t.Fatal(err)
	}
	back, err := authserver.Agree(t.Context(), consent.URL)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := w.Finish(t.Context(), back.Query()); err != nil || !slices.Equal(c.Scopes, []string{"read", "write"}) {
		t.Fatalf("%+v, %v", c, err)
	}
	if err := w.ask(t.Context(), server, ofAcme); err != nil {
		t.Error(err)
	}
}

// TestOwnComesFirst: a user's own connection is used in place of the tenant's, and by
// nobody else.
func TestOwnComesFirst(t *testing.T) {
	server := authserver.New(t)
	w := newWorker(t, inSQLite(t), server.Host)
	own := crm
	own.User = "ada"
	for id, token := range map[connections.ID]string{crm: "key-of-the-tenant", own: "key-of-ada"} {
		if c, err := w.Give(t.Context(), id, "https://crm.example.com", []byte(token)); err != nil || c.Kind != connections.Given {
			t.Fatalf("%+v, %v", c, err)
		}
	}
	for user, want := range map[string]string{"ada": "key-of-ada", "bob": "key-of-the-tenant", "": "key-of-the-tenant"} {
		err := w.Use(t.Context(), catalog.Scope{Tenant: "acme", User: user}, "connection:crm:token", func(value []byte) error {
			if string(value) != want {
				t.Errorf("%q has %s", user, value)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if all, err := w.Book.List(t.Context(), "acme"); err != nil || len(all) != 2 || all[1].User != "ada" {
		t.Errorf("list is %+v, %v", all, err)
	}
}

// TestAnswerIsTakenOnce, and only the answer to what was asked.
func TestAnswerIsTakenOnce(t *testing.T) {
	server := authserver.New(t)
	w := newWorker(t, inSQLite(t), server.Host)
	begin := func() url.Values {
		t.Helper()
		consent, err := w.Begin(t.Context(), connections.Request{ID: crm, URL: server.Resource})
		if err != nil {
			t.Fatal(err)
		}
		back, err := authserver.Agree(t.Context(), consent.URL)
		if err != nil {
			t.Fatal(err)
		}
		return back.Query()
	}
	query := begin()
	made := url.Values{"state": {"made-up"}, "code": {"code-of-an-attacker"}, "iss": {server.URL}}
	if _, err := w.Finish(t.Context(), made); !errors.Is(err, connections.ErrNoAttempt) {
		t.Errorf("an answer with a state that was made up: %v", err)
	}
	injected := begin()
	injected.Set("code", query.Get("code"))
	if _, err := w.Finish(t.Context(), injected); !errors.Is(err, oauth.ErrGrantEnded) || strings.Contains(err.Error(), query.Get("code")) {
		t.Errorf("the code of another attempt: %v", err)
	}
	if server.Count("code: of another") != 1 {
		t.Errorf("the server was asked for %v", server.Log())
	}
	if _, err := w.Book.Get(t.Context(), crm); !errors.Is(err, connections.ErrNotFound) {
		t.Errorf("there is a connection: %v", err)
	}
	if _, err := w.Finish(t.Context(), query); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(t.Context(), query); !errors.Is(err, connections.ErrNoAttempt) {
		t.Errorf("the same answer again: %v", err)
	}
	wrong := begin()
	wrong.Set("iss", "https://evil.example.com")
	if _, err := w.Finish(t.Context(), wrong); !errors.Is(err, oauth.ErrAnswer) {
		t.Errorf("an answer of another server: %v", err)
	}
	wrong.Set("iss", server.URL)
	if _, err := w.Finish(t.Context(), wrong); !errors.Is(err, connections.ErrNoAttempt) {
		t.Errorf("a second try for one attempt: %v", err)
	}
}
