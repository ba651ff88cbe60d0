package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/audit"
)

func TestAuditVerify(t *testing.T) {
	folder := t.TempDir()
	log, err := audit.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range []string{"one", "two", "three"} {
		if err := log.Write(entry); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "audit-1.jsonl")
	if got := (shell{}).run(t.Context(), "audit", "verify", file); got.code != exitOK || !strings.Contains(got.stdout, "3 lines as written") {
		t.Errorf("%+v", got)
	}
	if got := (shell{}).run(t.Context(), "audit", "verify", file, "--json"); got.code != exitOK || !strings.Contains(got.stdout, `"records":3`) {
		t.Errorf("%+v", got)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), "two", "TWO", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := (shell{}).run(t.Context(), "audit", "verify", file); got.code == exitOK || !strings.Contains(got.stderr, "line 2: it was changed") {
		t.Errorf("%+v", got)
	}
	if got := (shell{}).run(t.Context(), "audit", "verify", filepath.Join(folder, "none")); got.code == exitOK {
		t.Errorf("%+v", got)
	}
}
