package engine_test

import (
	"testing"

	"github.com/heddle-dev/heddle/codemode/engine"
)

// TestLanguage runs one snippet per feature of the language and its library, and
// compares what it gives. What Intl gives is that of V8.
func TestLanguage(t *testing.T) {
	e := newEngine(t, engine.Options{})
	for _, feature := range append(table(t, "testdata/features.tsv"), table(t, "testdata/intl.tsv")...) {
		name, source, want := feature[0], feature[1], feature[2]
		t.Run(name, func(t *testing.T) {
			end, _, _ := play(t, e, program(source), echo)
			switch {
			case end.Error != nil:
				t.Errorf("%s\nerror: %v", source, end.Error)
			case string(end.Result) != want:
				t.Errorf("%s\n got %s\nwant %s", source, end.Result, want)
			}
		})
	}
}
