package secrets_test

import (
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/secrets"
)

// FuzzParseKeyring quotes no key in an error.
func FuzzParseKeyring(f *testing.F) {
	for _, text := range []string{"", "k1:", ring("k1"), ring("k2", "k1"), "# a comment\n" + ring("k1"), "k1:hunter2hunter2", ",,,", ":::"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := secrets.ParseKeyring(text)
		if err == nil {
			return
		}
		for _, field := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) }) {
			if _, key, ok := strings.Cut(field, ":"); ok && len(key) > 16 && strings.Contains(err.Error(), key) {
				t.Errorf("ParseKeyring(%q) quotes a key: %v", text, err)
			}
		}
	})
}
