package secrets_test

import (
	"bytes"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/heddle-dev/heddle/secrets"
)

// ring makes keys of ids, the newest first.
func ring(ids ...string) string {
	var keys []string
	for _, id := range ids {
		key := bytes.Repeat([]byte(id[len(id)-1:]), 32)
		keys = append(keys, id+":"+base64.StdEncoding.EncodeToString(key))
	}
	return strings.Join(keys, ",")
}

func keyring(t *testing.T, text string) *secrets.Keyring {
	t.Helper()
	keys, err := secrets.ParseKeyring(text)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func openSQLite(t *testing.T, path, keys string) *secrets.SQL {
	t.Helper()
	return closing(t)(secrets.OpenSQLite(path, keyring(t, keys)))
}

func openPostgres(t *testing.T, address, keys string) *secrets.SQL {
	t.Helper()
	return closing(t)(secrets.OpenPostgres(address, keyring(t, keys)))
}

func closing(t *testing.T) func(*secrets.SQL, error) *secrets.SQL {
	return func(store *secrets.SQL, err error) *secrets.SQL {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		return store
	}
}

func item(value string) secrets.Item { return secrets.Item{Value: []byte(value)} }

// databases are the kinds of database, by what opens one again and again.
var databases = map[string]func(*testing.T) func(keys string) *secrets.SQL{
	"sqlite": func(t *testing.T) func(string) *secrets.SQL {
		path := filepath.Join(t.TempDir(), "secrets ?#%.db")
		return func(keys string) *secrets.SQL { return openSQLite(t, path, keys) }
	},
	"postgres": func(t *testing.T) func(string) *secrets.SQL {
		address := newDatabase(t)
		return func(keys string) *secrets.SQL { return openPostgres(t, address, keys) }
	},
}

func TestADatabaseIsRotated(t *testing.T) {
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			open := database(t)
			old := open(ring("k1"))
			for i := range 3 {
				put(t, old, secrets.Key{Scope: secrets.App, Name: fmt.Sprintf("n%d", i)}, item("long-secret-value"))
			}
			both := open(ring("k2", "k1"))
			put(t, both, secrets.Key{Scope: secrets.App, Name: "n0"}, item("long-secret-value"))
			for _, want := range []int{2, 0} {
				if n, err := both.Rotate(t.Context()); err != nil || n != want {
					t.Errorf("Rotate = %d, %v; want %d", n, err, want)
				}
			}
			for i := range 3 {
				key := secrets.Key{Scope: secrets.App, Name: fmt.Sprintf("n%d", i)}
				if got, err := open(ring("k2")).Get(t.Context(), key); err != nil || string(got.Value) != "long-secret-value" {
					t.Errorf("%v = %q, %v", key, got.Value, err)
				}
				if _, err := old.Get(t.Context(), key); err == nil || !strings.Contains(err.Error(), "with the key k2, which is not given") {
					t.Errorf("%v with the old key: %v", key, err)
				}
			}
			entries, err := both.List(t.Context())
			if err != nil || entries[1].KeyID != "k2" {
				t.Errorf("List = %+v, %v", entries, err)
			}
		})
	}
}

func TestRotatingWhileSecretsChange(t *testing.T) {
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			open := database(t)
			old, both := open(ring("k1")), open(ring("k2", "k1"))
			put(t, old, aKey, item("value-0"))
			var all sync.WaitGroup
			all.Go(func() {
				for i := range 30 {
					if err := old.Put(t.Context(), aKey, item(fmt.Sprintf("value-%d", i))); err != nil {
						t.Error(err)
					}
				}
			})
			all.Go(func() {
				for range 30 {
					if _, err := both.Rotate(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
			all.Wait()
			if got, err := both.Get(t.Context(), aKey); err != nil || string(got.Value) != "value-29" {
				t.Errorf("Get = %q, %v; want the last change", got.Value, err)
			}
		})
	}
}

func TestAValueOpensNowhereElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	store := openSQLite(t, path, ring("k1"))
	put(t, store, secrets.Key{Scope: secrets.Tenant, Tenant: "acme", Name: "a"}, item("long-secret-value"))
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.ExecContext(t.Context(), `INSERT INTO heddle_secrets SELECT scope, 'other', owner, name, key_id, wrapped_key, value, version, expires, updated FROM heddle_secrets`); err != nil {
		t.Fatal(err)
	}
	moved := secrets.Key{Scope: secrets.Tenant, Tenant: "other", Name: "a"}
	if got, err := store.Get(t.Context(), moved); err == nil || !strings.Contains(err.Error(), "does not open") {
		t.Errorf("a copied row gives %q, %v", got.Value, err)
	}
	if _, err := openSQLite(t, path, "k1:"+base64.StdEncoding.EncodeToString(make([]byte, 32))).Get(t.Context(), secrets.Key{Scope: secrets.Tenant, Tenant: "acme", Name: "a"}); err == nil || !strings.Contains(err.Error(), "the key of that id is another") {
		t.Errorf("another key of the same id: %v", err)
	}
	for _, file := range []string{path, path + "-wal"} {
		if content, err := os.ReadFile(file); err == nil && bytes.Contains(content, []byte("long-secret")) {
			t.Errorf("the value is in %s", file)
		}
	}
}

func TestADatabaseThatIsAway(t *testing.T) {
	store := openPostgres(t, "postgres://ann:hunter2hunter2@127.0.0.1:1/db", ring("k1"))
	err := errOf(store.Get(t.Context(), aKey))
	if err == nil || errors.Is(err, secrets.ErrNotFound) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("Get: %v", err)
	}
	if _, err := secrets.OpenPostgres("postgres://ann:hunter2hunter2@[", keyring(t, ring("k1"))); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("OpenPostgres: %v", err)
	}
	missing := openSQLite(t, filepath.Join(writeFile(t, "file", "", 0o600), "s.db"), ring("k1"))
	if err := errOf(missing.Get(t.Context(), aKey)); err == nil || errors.Is(err, secrets.ErrNotFound) {
		t.Errorf("Get in a folder that cannot be: %v", err)
	}
}

func TestADatabaseFileIsItsOwnersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "s.db")
	put(t, openSQLite(t, path, ring("k1")), aKey, item("long-secret-value"))
	for _, name := range []string{path, path + "-wal"} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v; want 0600", name, info.Mode(), err)
		}
	}
}

func TestKeyringsThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"": "there is no key", " , ": "there is no key", "hunter2hunter2": "want id:key", "k1:hunter2": "want 32 bytes in base64",
		"k 1:x": "want id:key", ":x": "the name is empty", ring("k1", "k1"): "k1: is there twice", "k1:": "want 32 bytes",
	} {
		if _, err := secrets.ParseKeyring(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("ParseKeyring(%q): %v, want %q", text, err, want)
		}
	}
	if _, err := secrets.ParseKeyring(ring("k2") + "\n" + ring("k1") + "\n"); err != nil {
		t.Error(err)
	}
}
