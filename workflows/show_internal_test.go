package workflows

import (
	"bytes"
	"encoding/json"
	"testing"
)

func FuzzIndented(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `[[],{}]`, `{"a":1,"b":[1,"two",{"c":null}],"d":"x\\"}`, `"a \"quoted\" {text}, and: more"`, `1`, `{"":{}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		var compact, want bytes.Buffer
		if json.Compact(&compact, input) != nil {
			t.Skip("not JSON")
		}
		if err := json.Indent(&want, compact.Bytes(), "", "  "); err != nil {
			t.Fatal(err)
		}
		if got := indented(compact.Bytes()); got != want.String() {
			t.Errorf("indented(%s) =\n%s\nwant\n%s", compact.Bytes(), got, want.String())
		}
	})
}
