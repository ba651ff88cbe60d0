package typo_test

import (
	"testing"

	"github.com/heddle-dev/heddle/internal/typo"
)

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"cancel", "cancel", 0},
		{"cancle", "cancel", 2},
		{"cancl", "cancel", 1},
		{"kitten", "sitting", 3},
		{"ä", "a", 2}, // of bytes
	} {
		if got, back := typo.Distance(test.a, test.b), typo.Distance(test.b, test.a); got != test.want || back != test.want {
			t.Errorf("%q and %q are %d and %d apart, want %d", test.a, test.b, got, back, test.want)
		}
	}
}
