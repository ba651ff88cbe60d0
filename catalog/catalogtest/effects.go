package catalogtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
)

// EffectRows are the rows of the table below a heading of docs/effects.md: what
// happens to a write, and what that tells. A source's test makes each row happen.
func EffectRows(t testing.TB, heading string) map[string]string {
	t.Helper()
	rows := map[string]string{}
	_, section, found := strings.Cut(page(t), "\n### "+heading+"\n")
	if !found {
		t.Fatalf("docs/effects.md has no heading %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n#")
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 2 || strings.HasPrefix(strings.TrimSpace(cells[0]), "--") || strings.TrimSpace(cells[1]) == "the write" {
			continue
		}
		rows[strings.TrimSpace(cells[0])] = strings.Trim(strings.TrimSpace(cells[1]), "*")
	}
	if len(rows) == 0 {
		t.Fatalf("docs/effects.md has no table below %q", heading)
	}
	return rows
}

// EffectOf names what an error tells of a write, as the table does.
func EffectOf(e *catalog.Error) string {
	switch {
	case e == nil:
		return "applied"
	case e.Effect == catalog.EffectUnknown:
		return "unknown"
	case e.Effect == catalog.EffectApplied:
		return "applied"
	case e.Effect == catalog.EffectNone && e.Retryable:
		return "not sent"
	}
	return "failed"
}

// page is docs/effects.md, from whatever folder of the module a test runs in.
func page(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		text, missing := os.ReadFile(filepath.Join(dir, "docs", "effects.md"))
		if missing == nil {
			return string(text)
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	t.Fatal("docs/effects.md is not in a folder above")
	return ""
}
