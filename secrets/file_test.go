package secrets_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/secrets"
)

var aKey = secrets.Key{Scope: secrets.App, Name: "a"}

func TestAFileIsItsOwnersAlone(t *testing.T) {
	store := fileStore(t)
	put(t, store, aKey, secrets.Item{Value: []byte("long-secret-value")})
	path := strings.TrimPrefix(store.Name(), "file ")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v; want 0600", info.Mode(), err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, openErr := secrets.OpenFile(path, nil)
		_, getErr := store.Get(t.Context(), aKey)
		putErr := store.Put(t.Context(), aKey, secrets.Item{Value: []byte("other")})
		for _, err := range []error{openErr, getErr, putErr} {
			if err == nil || !strings.Contains(err.Error(), "chmod 600 "+path) {
				t.Errorf("mode %04o: %v, want a refusal and what to do", mode, err)
			}
		}
	}
}

func TestFilesThatCannotBe(t *testing.T) {
	keys := identityFile(t, 1)
	for name, test := range map[string]struct{ path, identities, want string }{
		"not json":      {writeFile(t, "s", "a: hunter2hunter2", 0o600), "", "is not a file of secrets"},
		"newer":         {writeFile(t, "s", `{"format":2}`, 0o600), "", "has format 2, want 1"},
		"a folder":      {t.TempDir(), "", "not a regular file"},
		"plain for age": {writeFile(t, "s", `{"format":1,"secrets":[]}`, 0o600), keys, "not enciphered with age"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := opened(t, test.path, test.identities)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("OpenFile: %v, want %q", err, test.want)
			}
		})
	}
}

func TestAnAgeFileIsRotated(t *testing.T) {
	path, two := filepath.Join(t.TempDir(), "secrets.age"), identityFile(t, 2)
	text, err := os.ReadFile(two)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n") // a comment and two keys
	older, newer := writeFile(t, "old", lines[2], 0o600), writeFile(t, "new", lines[1], 0o600)

	put(t, openFile(t, path, older), aKey, secrets.Item{Value: []byte("long-secret-value")})
	if content, err := os.ReadFile(path); err != nil || bytes.Contains(content, []byte("secret")) {
		t.Errorf("the file is not enciphered: %q, %v", content, err)
	}
	if _, err := opened(t, path, newer); err == nil || !strings.Contains(err.Error(), "none of the identities deciphers it") {
		t.Errorf("OpenFile with another identity: %v", err)
	}
	both := openFile(t, path, two)
	for _, want := range []int{1, 0} {
		if n, err := both.Rotate(t.Context()); err != nil || n != want {
			t.Errorf("Rotate = %d, %v; want %d", n, err, want)
		}
	}
	if got, err := openFile(t, path, newer).Get(t.Context(), aKey); err != nil || string(got.Value) != "long-secret-value" {
		t.Errorf("Get = %q, %v", got.Value, err)
	}
	if _, err := opened(t, path, older); err == nil {
		t.Error("the old identity still deciphers the file")
	}
}

func TestAFileIsReplacedAtOnce(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "real.json")
	link := filepath.Join(dir, "link.json")
	put(t, openFile(t, real, ""), aKey, secrets.Item{Value: []byte("one")})
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	before, err := os.Open(real)
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	put(t, openFile(t, link, ""), aKey, secrets.Item{Value: []byte("two")})
	after, err := os.Stat(real)
	if err != nil {
		t.Fatal(err)
	}
	if old, err := before.Stat(); err != nil || os.SameFile(old, after) {
		t.Errorf("the file was written in place: %v", err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	// What a process left that was killed is in nobody's way, and goes.
	if err := os.WriteFile(real+".new", []byte("half a secr"), 0o600); err != nil {
		t.Fatal(err)
	}
	put(t, openFile(t, link, ""), aKey, secrets.Item{Value: []byte("three")})
	if left, err := filepath.Glob(filepath.Join(dir, "*.new")); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

func TestTheEnvironmentHoldsTheApplicationsSecrets(t *testing.T) {
	store := secrets.NewEnv("", func() []string {
		return []string{"HOME=/", "HEDDLE_SECRET_GITHUB_TOKEN=from=env", "HEDDLE_SECRET_EMPTY=", "HEDDLE_SECRET_=x", "HEDDLE_SECRET_A=long-enough"}
	})
	got, err := store.Get(t.Context(), secrets.Key{Scope: secrets.App, Name: "github.token"})
	if err != nil || string(got.Value) != "from=env" {
		t.Errorf("Get = %q, %v", got.Value, err)
	}
	for _, key := range []secrets.Key{
		{Scope: secrets.App, Name: "empty"}, {Scope: secrets.App, Name: "none"}, {Scope: secrets.Tenant, Tenant: "t", Name: "github.token"},
	} {
		if _, err := store.Get(t.Context(), key); err == nil {
			t.Errorf("%v was found", key)
		}
	}
	if err := store.Put(t.Context(), secrets.Key{Scope: secrets.App, Name: "x.y"}, secrets.Item{Value: []byte("v")}); err == nil || !strings.Contains(err.Error(), "HEDDLE_SECRET_X_Y") {
		t.Errorf("Put: %v", err)
	}
	entries, err := store.List(t.Context())
	if err != nil || len(entries) != 2 || entries[0].Key.Name != "a" || entries[1].Key.Name != "github_token" {
		t.Errorf("List = %v, %v", entries, err)
	}
}
