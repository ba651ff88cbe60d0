package secrets

import (
	"strings"
	"testing"
)

// A text is read in a bounded number of ways however deep its encodings nest, so that a
// hostile one takes a time in proportion to its length; and each way leads back into
// the text.
func TestWaysToReadATextAreBounded(t *testing.T) {
	const most = 4 + 4*4 + 2*maxNested
	for name, text := range map[string]string{
		"deep":    strings.Repeat("%", 1) + strings.Repeat("25", 2000) + "41",
		"mixed":   strings.Repeat("%25&amp;%5c\\u0025\\x26#37;%2525&#x26;amp;\n", 200),
		"escapes": strings.Repeat(`\`, 5000) + "x41",
		"plain":   "nothing of that kind",
		"empty":   "",
	} {
		var d decoder
		ways := 0
		d.all([]byte(text), func(v view) {
			ways++
			if len(v.text) > len(text) || len(v.text) != len(v.from) || len(v.text) != len(v.to) {
				t.Fatalf("%s: a view of %d bytes has %d and %d places", name, len(v.text), len(v.from), len(v.to))
			}
			for i := range v.text {
				if from, to := v.from[i], v.to[i]; from < 0 || from >= to || int(to) > len(text) || i > 0 && from < v.from[i-1] {
					t.Fatalf("%s: byte %d of a view is from %d to %d", name, i, from, to)
				}
			}
		})
		if ways > most || (ways == 0) != (name == "plain" || name == "empty") {
			t.Errorf("%s: read in %d ways, want at most %d", name, ways, most)
		}
		if kept := len(d.spare); kept > maxNested+3 {
			t.Errorf("%s: keeps %d views", name, kept)
		}
	}
}
