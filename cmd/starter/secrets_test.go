package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/secrets"
)

// masterKey makes a key of an id.
func masterKey(id string) string {
	return id + ":" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte(id[:1]), 32))
}

const secretValue = "a-value-that-nobody-is-shown"

// secretsFolder is a folder with a configuration of stores.
func secretsFolder(t *testing.T, stores string) (config, database string) {
	t.Helper()
	dir := policyFolder(t, map[string]string{"heddle.yaml": "secrets:\n" + stores})
	return filepath.Join(dir, "heddle.yaml"), filepath.Join(dir, "s.db")
}

func TestSecretsAreStoredListedAndDeleted(t *testing.T) {
	t.Setenv("TEST_MASTER_KEY", masterKey("k1"))
	t.Setenv("APP_FIXED", secretValue)
	config, _ := secretsFolder(t, "  - env: APP_\n  - {sqlite: s.db, key_env: TEST_MASTER_KEY}\n")
	var printed strings.Builder
	run := func(stdin string, args ...string) result {
		got := shell{stdin: strings.NewReader(stdin)}.run(t.Context(), append(append([]string{"secrets"}, args...), "--config", config)...)
		printed.WriteString(got.stdout + got.stderr)
		return got
	}
	for _, args := range []string{
		"github.token", "github.token --tenant acme", "github.token --tenant acme --user ann", "connection:crm:token --tenant acme",
	} {
		got := run(secretValue+"\n", append([]string{"set"}, strings.Fields(args)...)...)
		if got.code != exitOK || got.stderr != "" || !strings.Contains(got.stdout, "stored ") || !strings.Contains(got.stdout, "(sqlite ") {
			t.Errorf("set %s: %+v", args, got)
		}
	}
	contains(t, run("", "list").stdout, "SCOPE", "tenant      acme    -      github.token", "connection  acme    crm    token", "app         -       -      fixed", "k1")
	listed := jsonLines[[]secrets.Entry](t, run("", "list", "--json", "--tenant", "acme", "--user", "ann").stdout)[0]
	if len(listed) != 1 || listed[0].Scope != secrets.User || listed[0].KeyID != "k1" || listed[0].Owner != "ann" {
		t.Errorf("listed %+v", listed)
	}
	entry := jsonLines[secrets.Entry](t, run("an\nother\n", "set", "tenant:pem", "--tenant", "acme", "--json").stdout)[0]
	if entry.Name != "pem" || entry.Tenant != "acme" {
		t.Errorf("set --json printed %+v", entry)
	}
	if got := run("", "delete", "github.token", "--tenant", "acme"); got.code != exitOK || got.stdout != "deleted tenant acme: github.token\n" {
		t.Errorf("delete: %+v", got)
	}
	if got := run("", "delete", "github.token", "--tenant", "acme"); got.code != exitFailed || !strings.Contains(got.stderr, "there is no such secret") {
		t.Errorf("delete again: %+v", got)
	}
	if got := run("short\n", "set", "pin"); got.code != exitOK || !strings.Contains(got.stderr, "under 8 bytes") {
		t.Errorf("set of a short value: %+v", got)
	}
	if strings.Contains(printed.String(), secretValue) {
		t.Errorf("a value was printed:\n%s", printed.String())
	}

	store := openStore(t, config)
	for key, want := range map[secrets.Key]string{
		{Scope: secrets.App, Name: "github.token"}:                               secretValue,
		{Scope: secrets.Connection, Tenant: "acme", Owner: "crm", Name: "token"}: secretValue,
		{Scope: secrets.Tenant, Tenant: "acme", Name: "pem"}:                     "an\nother\n",
	} {
		if got, err := store.Get(t.Context(), key); err != nil || string(got.Value) != want {
			t.Errorf("%v is %q, %v; want %q", key, got.Value, err, want)
		}
	}
}

// openStore opens the second store of a configuration.
func openStore(t *testing.T, path string) secrets.Store {
	t.Helper()
	stores, closeAll, err := (&secretArgs{config: path}).stores()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closeAll)
	return stores[len(stores)-1]
}

func TestSecretsThatCannotBeStored(t *testing.T) {
	t.Setenv("TEST_MASTER_KEY", masterKey("k1"))
	t.Setenv("APP_FIXED", secretValue)
	config, _ := secretsFolder(t, "  - env: APP_\n  - {sqlite: s.db, key_env: TEST_MASTER_KEY}\n")
	envOnly, _ := secretsFolder(t, "  - env: APP_\n")
	keyless, _ := secretsFolder(t, "  - {sqlite: s.db, key_env: TEST_NO_KEY}\n")
	for _, test := range []struct {
		args, config, stdin string
		code                int
		want                string
	}{
		{"set github.token " + secretValue, config, "", exitUsage, "unexpected argument behind the name; a value is typed"},
		{"delete github.token " + secretValue, config, "", exitUsage, "unexpected argument behind the name"},
		{"set", config, "x", exitUsage, "missing argument"},
		{"set na!me", config, "x", exitUsage, "is not allowed in a name"},
		{"set world:name", config, "x", exitUsage, `unknown scope "world"`},
		{"set tenant:name", config, "x", exitUsage, "--tenant: is empty"},
		{"set user:name --tenant acme", config, "x", exitUsage, "--user: is empty"},
		{"set name --user ann", config, "x", exitUsage, "--tenant: is empty"},
		{"set app:name --tenant acme", config, "x", exitUsage, "names"},
		{"set connection:crm:token", config, "x", exitUsage, "--tenant: is empty"},
		{"set connection:crm:token --tenant acme --user ann", config, "x", exitUsage, "not to a user"},
		{"set name", config, "", exitFailed, "the value is empty"},
		{"set name", config, "\n", exitFailed, "the value is empty"},
		{"set name", config, strings.Repeat("v", secrets.MaxValue+1), exitFailed, "at most 65536 are allowed"},
		{"set fixed", config, secretValue, exitFailed, "set the variable APP_FIXED instead"},
		{"set name", envOnly, secretValue, exitFailed, "set the variable APP_NAME instead"},
		{"set name --tenant acme", envOnly, secretValue, exitFailed, "there is no store that can be changed: secrets cannot be changed here"},
		{"set name", keyless, secretValue, exitFailed, "heddle.yaml:2:6: secrets[0]: secrets: key of"},
		{"list", filepath.Join(t.TempDir(), "none.yaml"), "", exitFailed, "none.yaml: file does not exist"},
	} {
		got := shell{stdin: strings.NewReader(test.stdin)}.run(t.Context(), append(append([]string{"secrets"}, strings.Fields(test.args)...), "--config", test.config)...)
		if got.code != test.code || got.stdout != "" || !strings.Contains(got.stderr, test.want) || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("secrets %s: %+v, want exit code %d and one line with %q", test.args, got, test.code, test.want)
		}
		if strings.Contains(got.stderr, secretValue) {
			t.Errorf("secrets %s: the value is printed: %s", test.args, got.stderr)
		}
	}
}

// keyIDs counts the rows of a database by the key that enciphers them.
func keyIDs(t *testing.T, db *sql.DB) map[string]int {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT key_id, count(*) FROM heddle_secrets GROUP BY key_id`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	counts := map[string]int{}
	for rows.Next() {
		var id string
		var n int
		if err := rows.Scan(&id, &n); err != nil {
			t.Fatal(err)
		}
		counts[id] = n
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return counts
}

// TestRotationSurvivesAKill kills starter secrets rotate, a process of its own, in the
// middle of a change after its first ones: each value can be read before, between and after, and the next
// run does the rest.
func TestRotationSurvivesAKill(t *testing.T) {
	const many, before = 50, 10
	t.Setenv("TEST_MASTER_KEY", masterKey("old"))
	config, database := secretsFolder(t, "  - {sqlite: s.db, key_env: TEST_MASTER_KEY}\n")
	store := openStore(t, config)
	key := func(i int) secrets.Key {
		return secrets.Key{Scope: secrets.Tenant, Tenant: "acme", Name: fmt.Sprintf("n%03d", i)}
	}
	value := func(i int) string { return fmt.Sprintf("%s-%03d", secretValue, i) }
	for i := range many {
		if err := store.Put(t.Context(), key(i), secrets.Item{Value: []byte(value(i))}); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", "file:"+database+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	allReadable := func(when string) {
		t.Helper()
		reader := openStore(t, config)
		for i := range many {
			if got, err := reader.Get(t.Context(), key(i)); err != nil || string(got.Value) != value(i) || got.Version != 1 {
				t.Fatalf("%s: %v is %q version %d, %v", when, key(i), got.Value, got.Version, err)
			}
		}
	}

	// The change after the first ones takes for ever, so that the kill comes in time.
	for _, statement := range []string{
		`CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n`,
		fmt.Sprintf(`CREATE TRIGGER stuck BEFORE UPDATE ON heddle_secrets
			WHEN (SELECT count(*) FROM heddle_secrets WHERE key_id = 'new') >= %d BEGIN SELECT count(*) FROM endless; END`, before),
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TEST_MASTER_KEY", masterKey("new")+","+masterKey("old"))
	rotate := exec.CommandContext(t.Context(), os.Args[0], "secrets", "rotate", "--config", config)
	rotate.Env = append(os.Environ(), "HEDDLE_TESTKIT_WORKER=1") // main, see TestMain
	if err := rotate.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for keyIDs(t, db)["new"] < before && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	_ = rotate.Process.Kill()
	_ = rotate.Wait()
	counts := keyIDs(t, db)
	if counts["new"] != before || counts["old"] != many-before {
		t.Fatalf("killed with %v, want it in the middle", counts)
	}
	if _, err := db.ExecContext(t.Context(), `DROP TRIGGER stuck`); err != nil {
		t.Fatal(err)
	}
	allReadable("after the kill")

	got := shell{}.run(t.Context(), "secrets", "rotate", "--config", config, "--json")
	results := jsonLines[[]rotated](t, got.stdout)[0]
	if got.code != exitOK || len(results) != 1 || results[0].Rotated != counts["old"] || results[0].Secrets != many {
		t.Errorf("the second run: %+v, want %d rotated of %d", got, counts["old"], many)
	}
	t.Setenv("TEST_MASTER_KEY", masterKey("new"))
	allReadable("without the old key")
	if got := (shell{}).run(t.Context(), "secrets", "rotate", "--config", config); got.stdout != fmt.Sprintf("sqlite %s: 0 of %d secrets enciphered anew\n", database, many) {
		t.Errorf("a third run: %+v", got)
	}
}

// TestRotationSaysWhatFailed has the database refuse a change in the middle.
func TestRotationSaysWhatFailed(t *testing.T) {
	t.Setenv("TEST_MASTER_KEY", masterKey("old"))
	config, database := secretsFolder(t, "  - {sqlite: s.db, key_env: TEST_MASTER_KEY}\n  - {file: plain, plain: true}\n")
	stores, closeAll, err := (&secretArgs{config: config}).stores()
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll()
	for _, name := range []string{"a", "b", "c"} {
		if err := stores[0].Put(t.Context(), secrets.Key{Scope: secrets.App, Name: name}, secrets.Item{Value: []byte(secretValue)}); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `CREATE TRIGGER broken BEFORE UPDATE ON heddle_secrets WHEN new.name = 'b' BEGIN SELECT RAISE(ABORT, 'disk is full'); END`); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TEST_MASTER_KEY", masterKey("new")+","+masterKey("old"))
	got := shell{}.run(t.Context(), "secrets", "rotate", "--config", config, "--json")
	results := jsonLines[[]rotated](t, got.stdout)[0]
	if got.code != exitFailed || len(results) != 2 || results[0].Rotated != 1 || !strings.Contains(results[0].Error, "disk is full") ||
		results[1].Error != "" || !strings.Contains(got.stderr, "rotate app: b") || strings.Contains(got.stdout+got.stderr, secretValue) {
		t.Errorf("a refused change: %+v", got)
	}
}
