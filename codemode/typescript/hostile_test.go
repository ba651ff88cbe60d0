package typescript_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/heddle-dev/heddle/codemode/schema/schematest"
	"github.com/heddle-dev/heddle/codemode/typescript"
)

// payload is what hostile texts try to get out of a string or a comment.
const payload = "evil"

// TestNothingBreaksOut renders texts and names that try to end what they stand
// in, and reads what comes out as a compiler would.
func TestNothingBreaksOut(t *testing.T) {
	texts := []string{
		`*/ evil(); /*`, `*/evil`, `**//evil`, "*\u200b/ evil", "*\u0000/evil", `\*/ evil`, `*\/ evil`, `"; evil; "`, `\"; evil; "`,
		"\n */ evil", "\r evil", "\u2028 evil", "\u2029*/ evil", "`${evil}`", "// evil", "\n// evil", "'; evil; '", "</script>evil",
		"\ufeffevil", "\u202eevil", "\xff\xfe evil", "evil\\", strings.Repeat("*/", 3000) + "evil", strings.Repeat("*", 300) + "/evil",
		strings.Repeat("a", 119) + "*/evil", strings.Repeat("a", 155) + "*/evil", strings.Repeat("x", 2045) + "*/evil",
	}
	for i, text := range texts {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		in := strings.ReplaceAll(`{"type":"object","title":X,"description":X,"required":[X],"properties":{X:{"description":X,"enum":[X,{X:X}],"default":X,
			"examples":[X],"format":X},"list":{"type":"array","items":{"description":X,"pattern":X}},"bad":{"$ref":X},
			"u":{"anyOf":[{"description":X,"properties":{X:{"const":X}}},{"type":"null"},{"type":"string","description":X}]},
			"map":{"type":"object","properties":{X:{"type":"string"}},"patternProperties":{X:{"type":"string"}},"additionalProperties":{"const":X}}},
			"allOf":[{"$ref":"#/$defs/D"}],"discriminator":{"propertyName":X},"oneOf":[{"$ref":"#/$defs/D"}],"$defs":{"D":{"description":X}}}`,
			"X", string(quoted))
		d := typescript.Render(typescript.Tool{ID: "t.run", Description: text, Input: json.RawMessage(in), Output: json.RawMessage(in)})
		if code := codeOf(t, d.Source); strings.Contains(code, payload) {
			t.Errorf("text %d gets out of\n%s\nas\n%s", i, d.Source, code)
		}
		if code := codeOf(t, d.Signature); strings.Contains(code, payload) || strings.Contains(d.Signature, "\n") {
			t.Errorf("text %d gets out of the signature %s", i, d.Signature)
		}
		for _, place := range d.Degraded {
			requireVisible(t, place.Pointer+place.Reason)
		}
	}
}

func TestGeneratedSchemasStayCode(t *testing.T) {
	for i := range 300 {
		g := schematest.New(uint64(i))
		g.Hostile = true
		d := typescript.Render(typescript.Tool{ID: "t.run", Input: g.Schema(), Output: g.Schema()})
		if code := codeOf(t, d.Source+d.Signature); strings.Contains(code, payload) {
			t.Errorf("schema %d: a text gets out of\n%s", i, d.Source)
		}
	}
}

// codeOf drops comments and strings, as a compiler does, and demands that nothing
// else remains than plain code.
func codeOf(t *testing.T, source string) string {
	t.Helper()
	requireVisible(t, source)
	var code strings.Builder
	for rest := source; rest != ""; {
		switch {
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				t.Fatalf("a comment has no end:\n%s", source)
			}
			rest = rest[2+end+2:]
		case rest[0] == '"':
			end := stringEnd(rest)
			if end < 0 {
				t.Fatalf("a string has no end:\n%s", source)
			}
			rest = rest[end:]
		default:
			code.WriteByte(rest[0])
			rest = rest[1:]
		}
	}
	if i := strings.IndexFunc(code.String(), func(r rune) bool { return r > '~' || strings.ContainsRune("'`\\#@/%^+", r) }); i >= 0 {
		t.Fatalf("%q stands in the code:\n%s", code.String()[i:i+1], source)
	}
	return code.String()
}

// stringEnd is where the string ends that s begins with, -1 if it does not within
// the line.
func stringEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		case '\n':
			return -1
		}
	}
	return -1
}

func requireVisible(t *testing.T, text string) {
	t.Helper()
	for i, r := range text {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Fatalf("%q at byte %d does not show, in\n%s", r, i, text)
		}
	}
}

// TestBombs renders schemas that are small and would make something huge, or are
// huge themselves.
func TestBombs(t *testing.T) {
	repeat := func(n int, format string) string {
		var parts []string
		for i := range n {
			parts = append(parts, strings.ReplaceAll(format, "N", fmt.Sprint(i)))
		}
		return strings.Join(parts, ",")
	}
	tests := []struct{ name, schema string }{
		{"thousands of properties", `{"type":"object","properties":{` + repeat(5000, `"property_N":{"type":"string","description":"The Nth."}`) + `}}`},
		{"thousands of required properties", `{"type":"object","required":[` + repeat(9000, `"property_N"`) + `]}`},
		{"a thousand levels of objects", strings.Repeat(`{"properties":{"a":`, 1000) + `{}` + strings.Repeat(`}}`, 1000)},
		{"a thousand levels of unions", strings.Repeat(`{"anyOf":[{"type":"string"},`, 1000) + `{}` + strings.Repeat(`]}`, 1000)},
		{"deepest JSON", strings.Repeat(`{"items":`, 9999) + `{}` + strings.Repeat(`}`, 9999)},
		{"beyond the deepest JSON", strings.Repeat(`[`, 200000)},
		{"references that double", `{"$ref":"#/$defs/d0","$defs":{` + doubling(60, `{"allOf":[%[1]s,{"anyOf":[%[1]s,{"type":"null"}]}]}`) + `}}`},
		{"properties that double", `{"$ref":"#/$defs/d0","$defs":{` + doubling(60, `{"type":"object","properties":{"a":%[1]s,"b":%[1]s}}`) + `}}`},
		{"unions that double", `{"properties":{"p":{"$ref":"#/$defs/d0"}},"$defs":{` + doubling(60, `{"anyOf":[%[1]s,{"items":%[1]s}]}`) + `}}`},
		{"unions that multiply", `{"allOf":[` + repeat(100, `{"anyOf":[{"const":"aN"},{"const":"bN"},{"properties":{"pN":{}}},{"properties":{"qN":{}}}]}`) + `]}`},
		{"parts without end", `{"allOf":[` + repeat(8000, `{"properties":{"a":{"enum":[N,"x"]}}}`) + `]}`},
		{"a long chain", `{"$ref":"#/$defs/d0","$defs":{` + doubling(9000, `%[1]s`) + `}}`},
		{"many constants", `{"properties":{"p":{"enum":[` + repeat(40000, `"value N"`) + `]}}}`},
		{"many alternatives", `{"oneOf":[` + repeat(5000, `{"properties":{"pN":{"type":"string"}},"required":["pN"]}`) + `]}`},
		{"many definitions", `{"properties":{` + repeat(4000, `"pN":{"$ref":"#/$defs/dN"}`) + `},"$defs":{` + repeat(4000, `"dN":{"properties":{"xN":{}}}`) + `}}`},
		{"long names and texts", `{"properties":{"` + strings.Repeat("n", 100000) + `":{"description":"` + strings.Repeat("d ", 100000) + `"}}}`},
		{"addresses within addresses", strings.Repeat(`{"$id":"a/","items":`, 4000) + `{"$ref":"#/items"}` + strings.Repeat(`}`, 4000)},
		{"pointers into each other", `{"properties":{` + repeat(300, `"pN":{"properties":{"q":{"$ref":"#/properties/pN/properties/q"},"r":{"$ref":"#"}}}`) + `}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tool := typescript.Tool{ID: "t.run", Description: tt.name, Input: json.RawMessage(tt.schema), Output: json.RawMessage(tt.schema)}
			began := time.Now()
			d := typescript.Render(tool)
			if took := time.Since(began); took > 10*time.Minute {
				t.Errorf("took %s", took)
			}
			checkBounds(t, d)
			codeOf(t, d.Source)
			t.Logf("%s: %d bytes, %d places, %.160s", time.Since(began), len(d.Source), len(d.Degraded), d.Signature)
		})
	}
}

// doubling makes definitions each of which the format makes of the next.
func doubling(n int, format string) string {
	var parts []string
	for i := range n {
		parts = append(parts, fmt.Sprintf(`"d%d":`, i)+fmt.Sprintf(format, fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i+1)))
	}
	return strings.Join(append(parts, fmt.Sprintf(`"d%d":{}`, n)), ",")
}

func checkBounds(t *testing.T, d typescript.Declaration) {
	t.Helper()
	if len(d.Source) > typescript.MaxSource {
		t.Errorf("the source is %d bytes long", len(d.Source))
	}
	if len(d.Signature) > typescript.MaxSignature {
		t.Errorf("the signature is %d bytes long: %s", len(d.Signature), d.Signature)
	}
	if len(d.Degraded) > 2*(typescript.MaxDegraded+1) {
		t.Errorf("%d places are named", len(d.Degraded))
	}
}

func FuzzRender(f *testing.F) {
	for _, tool := range catalogTools(f) {
		f.Add([]byte(tool.Input), tool.ID, tool.Description)
	}
	for i := range 50 {
		g := schematest.New(uint64(i))
		g.Hostile = true
		f.Add([]byte(g.Schema()), "a.b", "Text.")
	}
	f.Fuzz(func(t *testing.T, text []byte, id, description string) {
		tool := typescript.Tool{ID: id, Description: description, Input: text, Output: text}
		d := typescript.Render(tool)
		checkBounds(t, d)
		codeOf(t, d.Source)
		codeOf(t, d.Signature)
		if again := typescript.Render(tool); again.Source != d.Source || again.Signature != d.Signature {
			t.Errorf("renders differently the second time:\n%s\n%s", d.Source, again.Source)
		}
	})
}

func BenchmarkRender(b *testing.B) {
	tools := catalogTools(b)
	bytes := 0
	for i := 0; b.Loop(); i++ {
		bytes += len(typescript.Render(tools[i%len(tools)]).Source)
	}
	b.ReportMetric(float64(bytes)/float64(b.N), "B/source")
}
