package connections_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/connections"
	"github.com/heddle-dev/heddle/secrets"
	"github.com/heddle-dev/heddle/test/authserver"
)

// askerEnv and its companions have the test binary run as a worker that asks once, and
// is killed at some moment if dieEnv says when.
const (
	askerEnv = "HEDDLE_TEST_ASKER_STORE"
	askerURL = "HEDDLE_TEST_ASKER_SERVICE"
	askerAt  = "HEDDLE_TEST_ASKER_HOST"
	dieEnv   = "HEDDLE_TEST_ASKER_DIES"
)

// The moments at which an asker is killed.
const (
	beforeItAsks   = "before it asks"
	beforeItStores = "before it stores"
	afterItStored  = "after it stored"
)

// TestAsker is the process of the tests below.
func TestAsker(t *testing.T) {
	if os.Getenv(askerEnv) == "" {
		t.Skip("it is started by another test")
	}
	var at secrets.Location
	if err := json.Unmarshal([]byte(os.Getenv(askerEnv)), &at); err != nil {
		t.Fatal(err)
	}
	redactor := &secrets.Redactor{}
	store, err := secrets.Open(at, redactor)
	if err != nil {
		t.Fatal(err)
	}
	server := &authserver.Server{Resource: os.Getenv(askerURL)}
	w := workerWith(t, &mortal{Store: store, dies: os.Getenv(dieEnv)}, redactor, os.Getenv(askerAt))
	if err := w.ask(t.Context(), server, ofAcme); err != nil {
		t.Fatal(err)
	}
}

// mortal is the store of a process that is killed at some moment of a renewal: a grant is
// stored first with the lease, then with what was granted.
type mortal struct {
	secrets.Store
	dies   string
	stored int
}

func (m *mortal) Put(ctx context.Context, key secrets.Key, item secrets.Item) error {
	if !strings.HasSuffix(key.String(), "grant") {
		return m.Store.Put(ctx, key, item)
	}
	m.stored++
	if m.stored == 2 && m.dies == beforeItStores {
		die()
	}
	err := m.Store.Put(ctx, key, item)
	if m.stored == 1 && m.dies == beforeItAsks || m.stored == 2 && m.dies == afterItStored {
		die()
	}
	return err
}

func die() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {} // the signal is on its way
}

// asker starts a worker as a process of its own.
func asker(t *testing.T, at secrets.Location, server *authserver.Server, dies string) *exec.Cmd {
	t.Helper()
	where, err := json.Marshal(at)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAsker$")
	cmd.Env = append(os.Environ(), askerEnv+"="+string(where), askerURL+"="+server.Resource, askerAt+"="+server.Host, dieEnv+"="+dies)
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// TestOneRefreshOfProcesses has several processes find the token refused at once.
func TestOneRefreshOfProcesses(t *testing.T) {
	eachStore(t, func(t *testing.T, at secrets.Location) {
		server := authserver.New(t)
		newWorker(t, at, server.Host).connect(t, crm, server)
		server.ExpireAccess()
		var all []*exec.Cmd
		for range 4 {
			all = append(all, asker(t, at, server, ""))
		}
		for _, cmd := range all {
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		}
		if n := server.Count("refresh"); n != 1 || server.Count("refresh: reused") != 0 {
			t.Errorf("%d processes made %v", len(all), server.Log())
		}
	})
}

// TestWorkerIsKilledWhileItRenews: whatever of a renewal a worker that was killed has
// done, the next call is made with a token that holds, or a person is asked; a refresh
// token that the server has called void is never sent again.
func TestWorkerIsKilledWhileItRenews(t *testing.T) {
	for _, c := range []struct {
		dies string
		// forgiving is a server that takes a refresh token again whose answer was lost.
		forgiving bool
		revoked   bool
		log       string
	}{
		{dies: beforeItAsks, log: "[register consent code refresh]"},
		{dies: beforeItStores, revoked: true, log: "[register consent code refresh refresh: reused]"},
		{dies: beforeItStores, forgiving: true, log: "[register consent code refresh refresh]"},
		{dies: afterItStored, log: "[register consent code refresh]"},
	} {
		name := c.dies
		if c.forgiving {
			name += ", forgiven"
		}
		t.Run(name, func(t *testing.T) {
			at, server := inSQLite(t), authserver.New(t)
			server.Forgiving = c.forgiving
			next := newWorker(t, at, server.Host)
			next.connect(t, crm, server)
			server.ExpireAccess()
			var killed *exec.ExitError
			if err := asker(t, at, server, c.dies).Wait(); !errors.As(err, &killed) || killed.ExitCode() != -1 {
				t.Fatalf("the worker was not killed: %v", err)
			}
			if c.dies != afterItStored { // then the lease has ended with the renewal
				endLease(t, at)
			}
			for range 3 {
				err := next.ask(t.Context(), server, ofAcme)
				var typed *catalog.Error
				switch {
				case !c.revoked && err != nil:
					t.Fatal(err)
				case !c.revoked:
				case !errors.As(err, &typed) || typed.Code != catalog.CodeConnectionRevoked:
					t.Fatalf("the call comes to %v", err)
				default:
					if r, ok := typed.Reconnection(); !ok || r.Name != "crm" || !strings.Contains(typed.Hint, "starter connections add") {
						t.Errorf("the way out is %+v, %q", r, typed.Hint)
					}
				}
			}
			if got := strings.ReplaceAll(strings.Join(server.Log(), " "), "  ", " "); "["+got+"]" != c.log {
				t.Errorf("the server was asked for [%s], want %s", got, c.log)
			}
			if !c.revoked {
				return
			}
			consent, err := next.Mend(t.Context(), crm, catalog.Reconnection{Name: "crm"})
			if err != nil {
				t.Fatal(err)
			}
			back, err := authserver.Agree(t.Context(), consent.URL)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := next.Finish(t.Context(), back.Query()); err != nil {
				t.Fatal(err)
			}
			if err := next.ask(t.Context(), server, ofAcme); err != nil {
				t.Errorf("after consent: %v", err)
			}
		})
	}
}

// endLease lets the time pass after which the lease of a worker that died has run out.
func endLease(t *testing.T, at secrets.Location) {
	t.Helper()
	store, err := secrets.Open(at, &secrets.Redactor{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	key := secrets.ConnectionKey(crm.Tenant, crm.User, crm.Name, "grant")
	item, err := store.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	var grant map[string]any
	if err := json.Unmarshal(item.Value, &grant); err != nil {
		t.Fatal(err)
	}
	lease, ok := grant["lease"].(string)
	until, err := time.Parse(time.RFC3339Nano, lease)
	if !ok || err != nil || time.Until(until) > connections.LeaseTime {
		t.Fatalf("the lease is %q", lease)
	}
	grant["lease"] = until.Add(-connections.LeaseTime)
	if item.Value, err = json.Marshal(grant); err != nil {
		t.Fatal(err)
	}
	if err := store.Put(t.Context(), key, item); err != nil {
		t.Fatal(err)
	}
}
