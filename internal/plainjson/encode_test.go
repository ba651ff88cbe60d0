package plainjson_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/plainjson"
)

// library writes a value by the library alone.
func library(value any) (string, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return strings.TrimSuffix(buf.String(), "\n"), err
}

func same(t *testing.T, value any) {
	t.Helper()
	want, wantErr := library(value)
	got, err := plainjson.Encode(value)
	if (err == nil) != (wantErr == nil) || err == nil && string(got) != want {
		t.Errorf("%#v is written as %s (%v), by the library as %s (%v)", value, got, err, want, wantErr)
	}
}

func TestEncodeIsTheLibrarys(t *testing.T) {
	for _, value := range []any{
		nil, true, false, 0, -7, int64(math.MinInt64), 1.5, 1e21, math.NaN(), uint8(3), json.Number("1.50"), json.Number(""), json.Number("x"), json.Number(" 1"), json.Number("1 "),
		json.Number("-"), json.Number("01"), json.Number("1e"), json.Number("-0"), json.Number("1E+2"), json.Number("1,2"),
		"", "plain", `"\`, "<a&b>", "é 日本 😀", "\u2028\u2029", "\x00\x1f\x7f\n\t\r\b\f", "\xff broken", "a\xed\xa0\x80",
		[]any(nil),
		[]any{},
		[]any{nil, "a", []any{1}},
		[]string(nil),
		[]string{"b", "<"},
		map[string]any(nil),
		map[string]any{},
		map[string]any{"b": 1, "a": map[string]any{"\n": "x", "é": nil}, "": false},
		map[string]any{"nine": 1, "eight": 2, "seven": 3, "six": 4, "five": 5, "four": 6, "three": 7, "two": 8, "one": 9},
		json.RawMessage(nil), json.RawMessage(""), json.RawMessage(` { "b" : [ 1, "\u003c" ] } `), json.RawMessage(`{`), json.RawMessage(`1 2`),
		[]any{json.RawMessage(`[ ]`), "after"},
		[]any{"before", json.RawMessage(`nope`)},
		map[string]any{"bad": make(chan int)},
		map[string]string{"z": "1", "a": "2"},
		struct {
			A string `json:"a,omitempty"`
		}{"<"},
		&[]int{1}, json.Number("12"),
		[]any{json.Number("12"), "\n"},
	} {
		same(t, value)
	}
}

func FuzzEncode(f *testing.F) {
	for _, text := range []string{`{"a":[1,2.50,"é\n",null,true],"":{}}`, `"\ud83d\ude00\u2028"`, `-0.0`, `[[[]]]`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		same(t, text)
		same(t, json.RawMessage(text))
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		var value any
		if decoder.Decode(&value) == nil {
			same(t, value)
		}
	})
}
