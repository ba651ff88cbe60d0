package secrets_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/secrets"
)

func fileStore(t *testing.T) secrets.Store {
	t.Helper()
	return openFile(t, filepath.Join(t.TempDir(), "deep", "secrets.json"), "")
}

func openFile(t *testing.T, path, identities string) *secrets.File {
	t.Helper()
	store, err := opened(t, path, identities)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// opened opens a file with the identities of another, or as a plain one.
func opened(t *testing.T, path, identities string) (*secrets.File, error) {
	t.Helper()
	if identities == "" {
		return secrets.OpenFile(path, nil)
	}
	text, err := os.ReadFile(identities)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := secrets.ParseIdentities(text)
	if err != nil {
		t.Fatal(err)
	}
	return secrets.OpenFile(path, parsed)
}

// identityFile writes new age identities.
func identityFile(t *testing.T, n int) string {
	t.Helper()
	var lines []string
	for range n {
		identity, err := age.GenerateX25519Identity()
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, identity.String())
	}
	return writeFile(t, "keys.txt", "# keys\n"+strings.Join(lines, "\n")+"\n", 0o600)
}

func writeFile(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// stores are the kinds of store that can be written.
var stores = map[string]func(*testing.T) secrets.Store{
	"plain file": fileStore,
	"age file": func(t *testing.T) secrets.Store {
		return openFile(t, filepath.Join(t.TempDir(), "secrets.age"), identityFile(t, 1))
	},
	"sqlite":   func(t *testing.T) secrets.Store { return databases["sqlite"](t)(ring("k1")) },
	"postgres": func(t *testing.T) secrets.Store { return databases["postgres"](t)(ring("k1")) },
}

// TestStores is what each kind of store must do.
func TestStores(t *testing.T) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			for what, test := range map[string]func(*testing.T, secrets.Store){
				"keeps": keeps, "lists": lists, "swaps": swaps, "refuses": refuses, "at once": atOnce,
			} {
				t.Run(what, func(t *testing.T) {
					store := open(t)
					t.Cleanup(func() { _ = store.Close() })
					test(t, store)
				})
			}
		})
	}
}

func keeps(t *testing.T, store secrets.Store) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	expires := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	items := map[secrets.Key]secrets.Item{
		{Scope: secrets.App, Name: "a"}:                                        {Value: []byte("app")},
		{Scope: secrets.Tenant, Tenant: "acme", Name: "a"}:                     {Value: []byte("tenant"), Expires: expires},
		{Scope: secrets.Tenant, Tenant: "Ünïcode 世界 '\"\\", Name: "a"}:         {Value: []byte("unicode é 世界 🧵")},
		{Scope: secrets.User, Tenant: "acme", Owner: "ann:x", Name: "a"}:       {Value: every},
		{Scope: secrets.User, Tenant: "acme:ann", Owner: "x", Name: "a"}:       {Value: []byte("another user")},
		{Scope: secrets.Connection, Tenant: "acme", Owner: "ann", Name: "a/b"}: {Value: bytes.Repeat([]byte("x"), secrets.MaxValue)},
	}
	for key, item := range items {
		given := bytes.Clone(item.Value)
		put(t, store, key, secrets.Item{Value: given, Expires: item.Expires})
		if !bytes.Equal(given, item.Value) {
			t.Errorf("%v: Put has changed the caller's value", key)
		}
	}
	for key, item := range items {
		item.Version = 1
		got, err := store.Get(t.Context(), key)
		if err != nil {
			t.Errorf("%v: %v", key, err)
			continue
		}
		if diff := cmp.Diff(item, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", key, diff)
		}
		clear(got.Value) // the caller's: the store's stays
		if again, err := store.Get(t.Context(), key); err != nil || !bytes.Equal(again.Value, item.Value) {
			t.Errorf("%v: overwriting what Get returned has changed the store: %v", key, err)
		}
	}
	key := secrets.Key{Scope: secrets.App, Name: "a"}
	put(t, store, key, secrets.Item{Value: []byte("newer")})
	if got, err := store.Get(t.Context(), key); err != nil || string(got.Value) != "newer" || got.Version != 2 {
		t.Errorf("Get = %q version %d, %v", got.Value, got.Version, err)
	}
	if err := store.Delete(t.Context(), key); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{"Delete": store.Delete(t.Context(), key), "Get": errOf(store.Get(t.Context(), key))} {
		if !errors.Is(err, secrets.ErrNotFound) {
			t.Errorf("%s of a deleted secret: %v", what, err)
		}
	}
}

func errOf(_ secrets.Item, err error) error { return err }

func lists(t *testing.T, store secrets.Store) {
	entries, err := store.List(t.Context())
	if err != nil || len(entries) != 0 {
		t.Errorf("List of an empty store = %v, %v", entries, err)
	}
	before := time.Now().Add(-time.Second)
	for _, key := range []secrets.Key{
		{Scope: secrets.Tenant, Tenant: "b", Name: "x"},
		{Scope: secrets.Tenant, Tenant: "a", Name: "y"},
		{Scope: secrets.Tenant, Tenant: "a", Name: "x"},
		{Scope: secrets.App, Name: "z"},
	} {
		put(t, store, key, secrets.Item{Value: []byte("value-never-shown")})
	}
	entries, err = store.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Key.String())
		if e.Store != store.Name() || e.Updated.Before(before) || !e.Expires.IsZero() {
			t.Errorf("entry %+v", e)
		}
	}
	want := []string{"app: z", "tenant a: x", "tenant a: y", "tenant b: x"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
	if text := fmt.Sprintf("%+v", entries); strings.Contains(text, "value-never-shown") {
		t.Errorf("a listing shows a value: %s", text)
	}
}

func swaps(t *testing.T, store secrets.Store) {
	key := secrets.Key{Scope: secrets.App, Name: "a"}
	value := []byte("value-never-shown")
	if err := store.Put(t.Context(), key, secrets.Item{Value: value, Version: 1}); !errors.Is(err, secrets.ErrChanged) {
		t.Errorf("Put of version 1 of nothing: %v", err)
	}
	put(t, store, key, secrets.Item{Value: value})
	put(t, store, key, secrets.Item{Value: value, Version: 1})
	if err := store.Put(t.Context(), key, secrets.Item{Value: value, Version: 1}); !errors.Is(err, secrets.ErrChanged) {
		t.Errorf("Put of version 1 over 2: %v", err)
	}
}

func refuses(t *testing.T, store secrets.Store) {
	value := []byte("value-never-shown")
	app := secrets.Key{Scope: secrets.App, Name: "a"}
	for _, test := range []struct {
		key   secrets.Key
		value []byte
		want  string
	}{
		{app, nil, "the value is empty"},
		{app, bytes.Repeat(value, 10_000), "at most 65536 are allowed"},
		{secrets.Key{Scope: secrets.App}, value, "the name is empty"},
		{secrets.Key{Scope: secrets.App, Name: strings.Repeat("a", 129)}, value, "at most 128"},
		{secrets.Key{Scope: secrets.App, Name: "naïve"}, value, "is not allowed in a name"},
		{secrets.Key{Scope: secrets.App, Name: "a", Tenant: "acme"}, value, "not of a single owner"},
		{secrets.Key{Scope: secrets.Tenant, Name: "a"}, value, "names no tenant"},
		{secrets.Key{Scope: secrets.User, Tenant: "acme", Name: "a"}, value, "names no user"},
		{secrets.Key{Scope: secrets.User, Tenant: "acme", Owner: "a\nb", Name: "a"}, value, "control character"},
		{secrets.Key{Scope: secrets.User, Tenant: "acme", Owner: "\xff", Name: "a"}, value, "not valid UTF-8"},
		{secrets.Key{Scope: secrets.Connection, Tenant: "acme", Owner: "a b", Name: "a"}, value, "connection: "},
		{secrets.Key{Scope: "world", Name: "a"}, value, `scope "world"`},
	} {
		err := store.Put(t.Context(), test.key, secrets.Item{Value: test.value})
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "never-shown") {
			t.Errorf("Put of %+v: %v, want %q and not the value", test.key, err, test.want)
		}
	}
	if entries, err := store.List(t.Context()); err != nil || len(entries) != 0 {
		t.Errorf("what was refused is there: %v, %v", entries, err)
	}
}

func atOnce(t *testing.T, store secrets.Store) {
	const writers, each = 4, 5
	shared := secrets.Key{Scope: secrets.App, Name: "shared"}
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for n := range each {
				own := secrets.Key{Scope: secrets.Tenant, Tenant: fmt.Sprintf("t%d", i), Name: fmt.Sprintf("n%d", n)}
				for _, key := range []secrets.Key{own, shared} {
					if err := store.Put(t.Context(), key, secrets.Item{Value: []byte("value")}); err != nil {
						t.Error(err)
					}
				}
				if got, err := store.Get(t.Context(), own); err != nil || string(got.Value) != "value" {
					t.Errorf("Get = %q, %v", got.Value, err)
				}
			}
		})
	}
	all.Wait()
	entries, err := store.List(t.Context())
	if err != nil || len(entries) != writers*each+1 {
		t.Errorf("%d entries, %v; want %d", len(entries), err, writers*each+1)
	}
	if got, err := store.Get(t.Context(), shared); err != nil || got.Version != writers*each {
		t.Errorf("version %d, %v; want %d: a change was lost", got.Version, err, writers*each)
	}
}
