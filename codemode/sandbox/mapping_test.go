package sandbox

import (
	"encoding/json"
	"reflect"
	"testing"
)

// FuzzMappings checks that mappings which can be read are written the same.
func FuzzMappings(f *testing.F) {
	f.Add("AAAA,eAAe,SAAS;AACxB,MAAK;;AAAL,IAAKA,OAAL")
	f.Add(";;;;AAAA")
	f.Add("gggggB,A;!")
	f.Fuzz(func(t *testing.T, text string) {
		segments, err := decodeMappings(text)
		if err != nil {
			t.Skip("no mappings: nothing more to hold")
		}
		again, err := decodeMappings(encodeMappings(segments))
		if err != nil || len(segments) != len(again) || len(segments) > 0 && !reflect.DeepEqual(segments, again) {
			t.Errorf("%q gave %v, then %v (%v)", text, segments, again, err)
		}
	})
}

func TestMappingIsShifted(t *testing.T) {
	original := "prefix\nconst s = '😀é', x = 1;\nx\n}"
	generated := "GEN(const s = '\\u{1F600}\\xE9', x = 1;\n  x;"
	at := func(line, column, fromLine, fromColumn int) segment {
		return segment{line, column, fromLine, fromColumn}
	}
	mappings := encodeMappings([]segment{at(0, 0, 0, 0), at(0, 0, 1, 0), at(0, 24, 1, 16), at(1, 2, 2, 0)})
	data, err := json.Marshal(map[string]any{"mappings": mappings})
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := shiftMapping(data, mappingShift{generated: generated, original: original, lines: 1, columns: len("GEN(")})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ line, column, wantLine, wantColumn int }{
		{1, 5, 1, 1},   // the statement, after the prefix
		{1, 29, 1, 16}, // x: fifteen characters before it, one of two UTF-16 units
		{2, 3, 2, 1},
	} {
		_, _, line, column, ok := consumer.Source(tt.line, tt.column)
		if !ok || line != tt.wantLine || column != tt.wantColumn {
			t.Errorf("%d:%d is %d:%d, want %d:%d", tt.line, tt.column, line, column, tt.wantLine, tt.wantColumn)
		}
	}
}

func TestUnfence(t *testing.T) {
	for in, want := range map[string]string{
		"return 1":                             "return 1",
		"```\nreturn 1\n```":                   "\nreturn 1\n",
		"```ts\nreturn 1\n```\nsome prose":     "\nreturn 1\n\n",
		"\n  ```typescript  \nreturn 1":        "\n\nreturn 1",
		"~~~~js\n```\n~~~\n~~~~":               "\n```\n~~~\n",
		"```ts\r\nreturn 1\r\n```\r\n":         "\nreturn 1\r\n\n",
		"const a = `\n```\n`":                  "const a = `\n```\n`",
		"":                                     "",
		"\n\n":                                 "\n\n",
		"``` not a fence, an odd template ```": "``` not a fence, an odd template ```",
	} {
		if got := unfence(in); got != want {
			t.Errorf("%q gave %q, want %q", in, got, want)
		}
	}
}
