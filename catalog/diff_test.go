package catalog_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
)

func TestDiff(t *testing.T) {
	long := strings.Repeat("same\n", 20)
	for name, test := range map[string]struct{ before, after, want string }{
		"equal":        {"a\n", "a\n", ""},
		"new":          {"", "a\nb\n", "--- f\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		"emptied":      {"a\n", "", "--- f\n+++ f\n@@ -1,1 +0,0 @@\n-a\n"},
		"one line":     {"a\nb\nc\n", "a\nB\nc\n", "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		"moved":        {"a\nb\n", "b\na\n", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n-a\n b\n+a\n"},
		"two places":   {"x\n" + long + "y\n", "X\n" + long + "Y\n", "--- f\n+++ f\n@@ -1,4 +1,4 @@\n-x\n+X\n same\n same\n same\n@@ -19,4 +19,4 @@\n same\n same\n same\n-y\n+Y\n"},
		"near another": {"x\n1\n2\n3\n4\ny\n", "X\n1\n2\n3\n4\nY\n", "--- f\n+++ f\n@@ -1,6 +1,6 @@\n-x\n+X\n 1\n 2\n 3\n 4\n-y\n+Y\n"},
	} {
		if got := catalog.Diff("f", test.before, test.after); got != test.want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, test.want)
		}
	}
	// What is too long to be compared line by line is told as a whole.
	many := catalog.Diff("f", strings.Repeat("a\nb\n", 2000), strings.Repeat("b\na\n", 2000))
	if removed, added := strings.Count(many, "\n-"), strings.Count(many, "\n+"); removed < 3999 || added < 3999 {
		t.Errorf("%d lines taken away and %d added, want all", removed, added)
	}
}

// What the diff says makes the one text of the other.
func FuzzDiff(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nc\nd\n")
	f.Add("", "x")
	f.Add(strings.Repeat("same\n", 12)+"x\n", "y\n"+strings.Repeat("same\n", 12))
	f.Fuzz(func(t *testing.T, before, after string) {
		diff := catalog.Diff("f", before, after)
		added, removed := 0, 0
		_, lines, _ := strings.Cut(diff, "\n+++ f\n")
		for line := range strings.Lines(lines) {
			switch line[0] {
			case '+':
				added++
			case '-':
				removed++
			}
		}
		count := func(text string) int { return len(strings.Split(strings.TrimSuffix(text, "\n"), "\n")) }
		if grown := count(after) - count(before); before != "" && after != "" && !strings.Contains(before+after, "\r") && added-removed != grown {
			t.Errorf("%d lines added and %d taken away, and the text has grown by %d:\n%s", added, removed, grown, diff)
		}
	})
}

// patch(1), where there is one, agrees.
func TestPatchTakesTheDiff(t *testing.T) {
	program, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("there is no patch(1) here")
	}
	long := strings.Repeat("same\n", 20)
	for _, texts := range [][2]string{
		{"x\n" + long + "y\n", "X\n" + long + "Y\nz\n"}, {long, "first\n" + long}, {"a\nb\nc\nd\n", "b\nd\ne\n"},
	} {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, []byte(texts[0]), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), program, path)
		cmd.Stdin = strings.NewReader(catalog.Diff("f", texts[0], texts[1]))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != texts[1] {
			t.Errorf("patch made %q of it, %v", got, err)
		}
	}
}
