package outline_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/codemode/internal/outline"
)

func TestOf(t *testing.T) {
	rows := make([]string, 500)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"id":%d,"tags":["a","b","c","d","e","f","g","h","i","j"]}`, i)
	}
	tests := []struct {
		name, in string
		budget   int
		want     string
	}{
		{"small stays", `{"a":[1,2,3]}`, 100, `{"a":[1,2,3]}`},
		{"long string", `"` + strings.Repeat("é", 500) + `"`, 200, `"` + strings.Repeat("é", 60) + `… (500 characters)"`},
		{"rows", `{"rows":[` + strings.Join(rows, ",") + `],"total":500}`, 260, `{"rows":[{"id":0,"tags":["a","b","… 7 more","j"]},{"id":1,"tags":["a","b","… 7 more","j"]},"… 497 more",{"id":499,"tags":["a","b","… 7 more","j"]}],"total":500}`},
		{"numbers", `[` + strings.Repeat("1,", 300) + `1]`, 20, `[1,"… 299 more",1]`},
		{"nothing fits", `{"` + strings.Repeat("k", 300) + `":1,"b":2}`, 25, `"[Object with 2 keys]"`},
		{"empty members", `{"a":[],"b":{},"c":"` + strings.Repeat("x", 300) + `"}`, 110, `{"a":[],"b":{},"c":"` + strings.Repeat("x", 60) + `… (300 characters)"}`},
		{"escapes stay whole", `"` + strings.Repeat(`\n\ud83d\ude00`, 100) + `"`, 140, `"` + strings.Repeat(`\n\ud83d\ude00`, 5) + `… (200 characters)"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := string(outline.Of([]byte(tt.in), tt.budget))
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if len(got) > tt.budget {
				t.Errorf("%d bytes for a budget of %d", len(got), tt.budget)
			}
		})
	}
}

func TestAppendString(t *testing.T) {
	for text, want := range map[string]string{
		"": "", `"\` + "\n\r\t\x00\x1f\x7f": `"\` + "\n\r\t\x00\x1f\x7f", "é😀": "é😀", "a\xffb": "a\ufffdb", "\xf0\x9f": "\ufffd\ufffd",
	} {
		var got string
		if err := json.Unmarshal(outline.AppendString(nil, text), &got); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if got != want {
			t.Errorf("%q came back as %q", text, got)
		}
	}
}

// FuzzOf checks that an outline of any JSON is JSON, and within a budget that
// leaves room for a note.
func FuzzOf(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"\u00e9\\"}],"c":{}}`, `[[],[[]],"",{"":""}]`, `-1.5e3`, `"😀\ud83d\ude00"`} {
		f.Add([]byte(seed), 10)
	}
	f.Fuzz(func(t *testing.T, data []byte, budget int) {
		var compact bytes.Buffer
		if json.Compact(&compact, data) != nil {
			t.Skip("only JSON is outlined")
		}
		const note = 64
		got := outline.Of(compact.Bytes(), budget%len(data))
		if !json.Valid(got) {
			t.Errorf("the outline of %s is no JSON: %s", compact.Bytes(), got)
		}
		if len(got) > max(budget%len(data), note) {
			t.Errorf("%d bytes for a budget of %d: %s", len(got), budget%len(data), got)
		}
	})
}
