package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                  "plain",
		"two\nlines":             "two\nlines",
		"tab\there":              "tab here",
		"return\r\nline":         "return\nline",
		"\x1b[31mred\x1b[0m":     "\uFFFD[31mred\uFFFD[0m",
		"\x1b]0;title\x07":       "\uFFFD]0;title\uFFFD",
		"bell\x07 null\x00":      "bell\uFFFD null\uFFFD",
		"C1 \u009b31m":           "C1 \uFFFD31m",
		"bidi \u202eevil\u202c":  "bidi \uFFFDevil\uFFFD",
		"line\u2028separator":    "line\uFFFDseparator",
		"日本語 ü 👩‍💻":              "日本語 ü 👩‍💻",
		"bad \xff byte":          "bad \uFFFD byte",
		"zero\u200dwidth joiner": "zero\u200dwidth joiner",
	} {
		if got := clean(text); got != want {
			t.Errorf("clean(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, test := range []struct {
		text  string
		limit int
		want  string
	}{
		{"short", 10, "short"},
		{"exactly10!", 10, "exactly10!"},
		{"eleven chars", 11, "eleven cha…"},
		{"a  b\n c", 10, "a b c"},
		{"日本語日本語", 12, "日本語日本語"},
		{"日本語日本語", 11, "日本語日本…"},
		{"日本語日本語", 6, "日本…"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"", 5, ""},
		{"abc", 1, "…"},
		{"abc", 0, "…"},
	} {
		if got := cut(test.text, test.limit); got != test.want {
			t.Errorf("cut(%q, %d) = %q, want %q", test.text, test.limit, got, test.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		text  string
		limit int
		want  []string
	}{
		{"one two three", 7, []string{"one two", "three"}},
		{"keep\n\nparagraphs", 20, []string{"keep", "", "paragraphs"}},
		{"  indented text goes on", 14, []string{"  indented", "  text goes on"}},
		{"unbreakable", 4, []string{"unbr", "eaka", "ble"}},
		{"日本語", 4, []string{"日本", "語"}},
		{"日", 1, []string{"日"}},
		{"", 10, []string{""}},
		{"end\n", 10, []string{"end"}},
	} {
		if got := wrap(test.text, test.limit); strings.Join(got, "|") != strings.Join(test.want, "|") {
			t.Errorf("wrap(%q, %d) = %q, want %q", test.text, test.limit, got, test.want)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "a b", "日本語 \x1b[0m", "\u0301\u0301", "      x", "\xff\n\n\n", "👩‍💻👩‍💻"} {
		f.Add(seed, 7)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit < 1 || limit > 300 {
			return
		}
		safe := clean(text)
		if !utf8.ValidString(safe) || strings.ContainsAny(safe, "\x1b\r\x00\u009b") {
			t.Errorf("clean(%q) = %q", text, safe)
		}
		if got := cut(safe, limit); columns(got) > limit || strings.Contains(got, "\n") {
			t.Errorf("cut(%q, %d) = %q, %d columns", safe, limit, got, columns(got))
		}
		for _, line := range wrap(safe, limit) {
			if columns(line) > max(limit, 2) {
				t.Errorf("wrap(%q, %d) has the line %q, %d columns", safe, limit, line, columns(line))
			}
		}
	})
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 turns", 1: "1 turn", 2: "2 turns"} {
		if got := count(n, "turn"); got != want {
			t.Errorf("count(%d) = %q, want %q", n, got, want)
		}
	}
}
