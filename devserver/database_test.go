package main

import (
	"context"
	"database/sql"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence/serialization"
	serversql "go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/common/resolver"
)

const (
	keyword = enumspb.INDEXED_VALUE_TYPE_KEYWORD
	integer = enumspb.INDEXED_VALUE_TYPE_INT
)

// aliases returns the search attributes of a namespace: column to name.
func aliases(t *testing.T, cfg *config.SQL, namespace string) map[string]string {
	t.Helper()
	db, err := serversql.NewSQLDB(sqlplugin.DbKindMain, cfg, resolver.NewNoopResolver(), log.NewNoopLogger(), metrics.NoopMetricsHandler)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, detail, err := loadNamespace(context.Background(), db, serialization.NewSerializer(), namespace)
	if err != nil {
		t.Fatal(err)
	}
	if detail == nil {
		t.Fatalf("there is no namespace %q", namespace)
	}
	return detail.Config.CustomSearchAttributeAliases
}

func TestNamespacesAndSearchAttributesOnAFile(t *testing.T) {
	// A name with characters that mean something in a URI.
	file := filepath.Join(t.TempDir(), "a#b?c%20d.db")
	for i := range 2 { // the second time the schema is there already
		if err := prepareFile(file); err != nil {
			t.Fatalf("prepare, time %d: %v", i+1, err)
		}
	}
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
	cfg := newDatabaseConfig(file, nil)
	register := func(namespaces []string, attributes map[string]enumspb.IndexedValueType) {
		t.Helper()
		if err := registerNamespaces(cfg, namespaces, attributes); err != nil {
			t.Fatal(err)
		}
	}
	first := map[string]enumspb.IndexedValueType{"Agent": keyword}
	register([]string{"default"}, first)
	register([]string{"default"}, first)
	if got := aliases(t, cfg, "default"); !maps.Equal(got, map[string]string{"Keyword01": "Agent"}) {
		t.Errorf("search attributes %v", got)
	}

	// Later starts add a namespace and attributes; what exists stays in place.
	register([]string{"default", "staging"}, map[string]enumspb.IndexedValueType{"A": keyword, "Turns": integer})
	want := map[string]string{"Keyword01": "Agent", "Keyword02": "A", "Int01": "Turns"}
	if got := aliases(t, cfg, "default"); !maps.Equal(got, want) {
		t.Errorf("search attributes of default %v, want %v", got, want)
	}
	want = map[string]string{"Keyword01": "A", "Int01": "Turns"}
	if got := aliases(t, cfg, "staging"); !maps.Equal(got, want) {
		t.Errorf("search attributes of staging %v, want %v", got, want)
	}

	err := registerNamespaces(cfg, []string{"default"}, map[string]enumspb.IndexedValueType{"Agent": integer})
	if err == nil || !strings.Contains(err.Error(), "already exists as Keyword") {
		t.Errorf("change of a type: %v", err)
	}
	tooMany := map[string]enumspb.IndexedValueType{"B": integer, "C": integer, "D": integer}
	err = registerNamespaces(cfg, []string{"default"}, tooMany)
	if err == nil || !strings.Contains(err.Error(), "at most 3 of type Int") {
		t.Errorf("too many of a type: %v", err)
	}

	// The plugin keeps its connection, and with it the lock, for good: this is
	// what a second server on the file runs into.
	err = prepareFile(file)
	if err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("file in use: %v", err)
	}
}

func TestUnusableFiles(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	execIn := func(name string, statements ...string) string {
		file := filepath.Join(dir, name)
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, s := range statements {
			if _, err := db.Exec(s); err != nil {
				t.Fatal(err)
			}
		}
		return file
	}
	foreign := execIn("foreign.db", "CREATE TABLE songs (title TEXT)")
	old := filepath.Join(dir, "old.db")
	if err := prepareFile(old); err != nil {
		t.Fatal(err)
	}
	execIn("old.db", "DROP TABLE nexus_endpoints")

	for name, tc := range map[string]struct{ file, want string }{
		"text file":         {text, "not a SQLite database"},
		"other database":    {foreign, "something else"},
		"older schema":      {old, "nexus_endpoints"},
		"directory":         {dir, "is a directory"},
		"missing directory": {filepath.Join(dir, "no", "such", "x.db"), "no such file or directory"},
		"file as directory": {filepath.Join(text, "x.db"), "not a directory"},
	} {
		if err := prepareFile(tc.file); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q", name, err, tc.want)
		}
	}
}

func TestPragmas(t *testing.T) {
	file := newDatabaseConfig("x.db", map[string]string{"synchronous": "full"}).ConnectAttributes
	if file["journal_mode"] != "wal" || file["synchronous"] != "full" {
		t.Errorf("file: %v", file)
	}
	memory := newDatabaseConfig("", nil).ConnectAttributes
	if memory["mode"] != "memory" || memory["journal_mode"] != "" {
		t.Errorf("memory: %v", memory)
	}
}
