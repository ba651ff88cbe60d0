package secrets_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/secrets"
)

// TestOpen opens each kind of store, by a key in the environment or in a file.
func TestOpen(t *testing.T) {
	identities := identityFile(t, 1)
	text, err := os.ReadFile(identities)
	if err != nil {
		t.Fatal(err)
	}
	keys := writeFile(t, "keys", "# made on a Monday\n"+ring("k1")+"\n", 0o600)
	t.Setenv("TEST_IDENTITIES", string(text))
	t.Setenv("TEST_KEYS", ring("k1"))
	dir := t.TempDir()
	for _, l := range []secrets.Location{
		{Kind: secrets.KindFile, Place: filepath.Join(dir, "plain"), Plain: true},
		{Kind: secrets.KindFile, Place: filepath.Join(dir, "a.age"), KeyEnv: "TEST_IDENTITIES"},
		{Kind: secrets.KindFile, Place: filepath.Join(dir, "a.age"), KeyFile: identities},
		{Kind: secrets.KindSQLite, Place: filepath.Join(dir, "s.db"), KeyEnv: "TEST_KEYS"},
		{Kind: secrets.KindSQLite, Place: filepath.Join(dir, "s.db"), KeyFile: keys},
	} {
		redactor := &secrets.Redactor{}
		store, err := secrets.Open(l, redactor)
		if err != nil {
			t.Errorf("%+v: %v", l, err)
			continue
		}
		t.Cleanup(func() { _ = store.Close() })
		put(t, store, aKey, item("long-secret-value"))
		if got, err := store.Get(t.Context(), aKey); err != nil || string(got.Value) != "long-secret-value" {
			t.Errorf("%+v: Get = %q, %v", l, got.Value, err)
		}
		_, key, _ := strings.Cut(ring("k1"), ":")
		if l.Kind == secrets.KindSQLite && strings.Contains(redactor.All("the key is "+key), key) {
			t.Errorf("%+v: the redactor does not know the key", l)
		}
		if all := "it was made on a Monday"; redactor.All(all) != all {
			t.Errorf("%+v: the redactor took a comment for a key", l)
		}
	}
}

func TestLocationsThatCannotBe(t *testing.T) {
	t.Setenv("TEST_BAD", "hunter2hunter2")
	dir := t.TempDir()
	for want, l := range map[string]secrets.Location{
		`kind "": want env`:                      {},
		"has no key":                             {Kind: secrets.KindEnv, KeyEnv: "A"},
		"want one of key_env and key_file, or":   {Kind: secrets.KindFile, Place: "a"},
		"a plain file has no key":                {Kind: secrets.KindFile, Place: "a", Plain: true, KeyEnv: "A"},
		"what lies in a database is enciphered":  {Kind: secrets.KindSQLite, Place: "a", Plain: true},
		"want one of key_env and key_file; what": {Kind: secrets.KindSQLite, Place: "a", KeyEnv: "A", KeyFile: "b"},
		"the place of the store (file) is empty": {Kind: secrets.KindFile, Plain: true},
		"TEST_NONE is not set":                   {Kind: secrets.KindSQLite, Place: "a", KeyEnv: "TEST_NONE"},
		"want id:key":                            {Kind: secrets.KindPostgres, Place: "a", KeyEnv: "TEST_BAD"},
		"want age identities":                    {Kind: secrets.KindFile, Place: "a", KeyEnv: "TEST_BAD"},
		"no such file":                           {Kind: secrets.KindFile, Place: "a", KeyFile: filepath.Join(dir, "none")},
		"chmod 600":                              {Kind: secrets.KindFile, Place: "a", KeyFile: writeFile(t, "k", "x", 0o644)},
	} {
		if _, err := secrets.Open(l, &secrets.Redactor{}); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%+v: %v, want %q", l, err, want)
		}
	}
}

func TestAVaultStoresWhereItCan(t *testing.T) {
	env := secrets.NewEnv("", func() []string { return []string{"HEDDLE_SECRET_A=from-the-environment"} })
	first, second := fileStore(t), fileStore(t)
	inSecond := secrets.Key{Scope: secrets.App, Name: "b"}
	put(t, second, inSecond, item("value-of-second"))
	v := secrets.NewVault(&secrets.Redactor{}, nil, env, first, second)
	anew := secrets.Key{Scope: secrets.Tenant, Tenant: "acme", Name: "c"}
	for key, want := range map[secrets.Key]secrets.Store{inSecond: second, anew: first} {
		if err := v.Put(t.Context(), key, item("changed-value")); err != nil {
			t.Error(err)
		}
		if got, err := want.Get(t.Context(), key); err != nil || string(got.Value) != "changed-value" {
			t.Errorf("%v = %q, %v", key, got.Value, err)
		}
	}
	if err := v.Put(t.Context(), aKey, item("another-value")); err == nil || !strings.Contains(err.Error(), "HEDDLE_SECRET_A") {
		t.Errorf("Put of what the environment holds: %v", err)
	}
	entries, err := v.List(t.Context())
	if err != nil || len(entries) != 3 {
		t.Errorf("List = %v, %v", entries, err)
	}
	for range 2 {
		err = v.Delete(t.Context(), anew)
	}
	if err == nil || !strings.Contains(err.Error(), "no such secret") {
		t.Errorf("Delete of a deleted one: %v", err)
	}
	if err := secrets.NewVault(&secrets.Redactor{}, nil, env).Put(t.Context(), anew, item("a-value")); err == nil || !strings.Contains(err.Error(), "no store that can be changed") {
		t.Errorf("Put without such a store: %v", err)
	}
}
