package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/codemode/schema"
)

func parse(t *testing.T, text string) *schema.Document {
	t.Helper()
	doc, err := schema.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestParseKeepsOrderAndDigits(t *testing.T) {
	var members []string
	for i := range 40 {
		members = append(members, fmt.Sprintf(`"k%d": %d.0e+0`, (i*7)%40, i))
	}
	text := "{" + strings.Join(members, ", ") + ` , "k3" : [ true, null, "\u00e9\ud83d\ude00<" ] }`
	want := strings.ReplaceAll("{"+strings.Join(members, ",")+"}", " ", "")
	want = strings.Replace(want, `"k3":29.0e+0`, `"k3":[true,null,"é😀<"]`, 1) // in the place of the first
	doc := parse(t, text)
	if got, whole := doc.Root.JSON(1 << 20); got != want || !whole {
		t.Errorf("%s became\n%s, want\n%s", text, got, want)
	}
	if got := doc.Root.Get("k3").Items[2].Pointer(); got != "/k3/2" {
		t.Errorf("the pointer is %s", got)
	}
	if doc.Root.Get("k40") != nil || doc.Root.Get("k39").Get("x").Has("y") {
		t.Error("something is there that is not")
	}
}

func TestJSONIsCut(t *testing.T) {
	doc := parse(t, `{"a":["漢字漢字",{"b":1}],"c":[1,2,3]}`)
	for limit := range 40 {
		text, whole := doc.Root.JSON(limit)
		full, _ := doc.Root.JSON(1000)
		if whole != (limit >= len(full)) || len(text) > limit || !strings.HasPrefix(full, text) {
			t.Errorf("cut to %d bytes it is %q (whole: %t)", limit, text, whole)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", "", "not valid JSON"},
		{"half", `{"a":`, "not valid JSON"},
		{"too deep", strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), "exceeded max depth"},
		{"too long", `"` + strings.Repeat("a", schema.MaxDocument) + `"`, "bytes long"},
		{"too many values", "[" + strings.Repeat("0,", schema.MaxValues) + "0]", "more than 200000 values"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := schema.Parse([]byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("err = %v, want one that says %s", err, tt.want)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	const later = `{"$id":"https://example.com/root","properties":{"a/b~c":{"$ref":"X","items":[{},{"title":"second"}]},"$id":{"title":"a property"}},
		"$defs":{"anchored":{"$anchor":"here","title":"anchored"},"other":{"$id":"other.json","title":"other","properties":{"in":{"$ref":"X"},
		"deep":{"$anchor":"deep","title":"deep"}}}},"const":{"$id":"https://example.com/const","$anchor":"fake"}}`
	const seven = `{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"$id":"#old","title":"old"},
		"b":{"$id":"b.json","$ref":"#/definitions/a"}},"properties":{"p":{"$ref":"X"}}}`
	const four = `{"$schema":"http://json-schema.org/draft-04/schema#","id":"http://example.com/4","definitions":{"a":{"id":"#a","title":"four"}},"properties":{"id":{"$ref":"X"}}}`
	atRoot := []string{"properties", "a/b~c"}
	inOther := []string{"$defs", "other", "properties", "in"}
	tests := []struct {
		name, text string
		from       []string
		ref, want  string // the pointer of the target
		err        error
	}{
		{"root", later, atRoot, "#", "", nil},
		{"nothing", later, atRoot, "", "", nil},
		{"pointer", later, atRoot, "#/$defs/anchored", "/$defs/anchored", nil},
		{"pointer with escapes", later, atRoot, "#/properties/a~1b~0c/items/1", "/properties/a~1b~0c/items/1", nil},
		{"pointer with percent signs", later, atRoot, "#/properties/a~1b%7E0c", "/properties/a~1b~0c", nil},
		{"anchor", later, atRoot, "#here", "/$defs/anchored", nil},
		{"own address", later, atRoot, "https://example.com/root#/$defs/anchored", "/$defs/anchored", nil},
		{"address within", later, atRoot, "other.json", "/$defs/other", nil},
		{"anchor within", later, atRoot, "other.json#deep", "/$defs/other/properties/deep", nil},
		{"root within", later, inOther, "#", "/$defs/other", nil},
		{"pointer within", later, inOther, "#/properties/deep", "/$defs/other/properties/deep", nil},
		{"out of it", later, inOther, "root#here", "/$defs/anchored", nil},
		{"a place that is not there", later, atRoot, "#/$defs/none", "", schema.ErrAbsent},
		{"an element that is not there", later, atRoot, "#/properties/a~1b~0c/items/01", "", schema.ErrAbsent},
		{"an anchor that is not there", later, atRoot, "#none", "", schema.ErrAbsent},
		{"an anchor of another resource", later, atRoot, "#deep", "", schema.ErrAbsent},
		{"what only looks like an anchor", later, atRoot, "#fake", "", schema.ErrAbsent},
		{"elsewhere", later, atRoot, "https://example.com/const", "", schema.ErrElsewhere},
		{"a file", later, atRoot, "file:///etc/passwd", "", schema.ErrElsewhere},
		{"no address", later, atRoot, "http://[::1", "", schema.ErrMalformed},
		{"no fragment", later, atRoot, "#/%zz", "", schema.ErrMalformed},
		{"anchor of draft 7", seven, []string{"properties", "p"}, "#old", "/definitions/a", nil},
		{"address beside a reference does not count", seven, []string{"properties", "p"}, "b.json", "", schema.ErrElsewhere},
		{"anchor of draft 4", four, []string{"properties", "id"}, "#a", "/definitions/a", nil},
		{"address of draft 4", four, []string{"properties", "id"}, "http://example.com/4#/definitions/a", "/definitions/a", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc := parse(t, tt.text)
			from := doc.Root
			for _, name := range tt.from {
				from = from.Get(name)
			}
			target, err := doc.Resolve(from, tt.ref)
			if !errors.Is(err, tt.err) {
				t.Fatalf("err = %v, want %v", err, tt.err)
			}
			if err == nil && target.Pointer() != tt.want {
				t.Errorf("leads to %q, want %q", target.Pointer(), tt.want)
			}
		})
	}
}

func TestItems(t *testing.T) {
	describe := func(first []*schema.Value, rest *schema.Value) string {
		var parts []string
		for _, v := range first {
			text, _ := v.JSON(100)
			parts = append(parts, text)
		}
		text := "nothing"
		if rest != nil {
			text, _ = rest.JSON(100)
		}
		return strings.Join(append(parts, "rest "+text), " ")
	}
	tests := []struct{ text, want string }{
		{`{"items":{"a":1}}`, `rest {"a":1}`},
		{`{"prefixItems":[{},true],"items":false}`, `{} true rest false`},
		{`{"$schema":"https://json-schema.org/draft/2019-09/schema","prefixItems":[{}],"items":{"a":1}}`, `rest {"a":1}`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"a":1}],"additionalItems":{"b":1}}`, `{"a":1} rest {"b":1}`},
		{`{"items":[{"a":1}]}`, `{"a":1} rest nothing`},
		{`{"items":7}`, `rest nothing`},
		{`{}`, `rest nothing`},
	}
	for _, tt := range tests {
		doc := parse(t, tt.text)
		if diff := cmp.Diff(tt.want, describe(doc.Items(doc.Root))); diff != "" {
			t.Errorf("%s: %s", tt.text, diff)
		}
	}
}

func TestDrafts(t *testing.T) {
	tests := map[string]schema.Draft{
		"":  schema.Draft2020,
		"x": schema.Draft2020,
		"https://json-schema.org/draft/2020-12/schema": schema.Draft2020,
		"https://json-schema.org/draft/2019-09/schema": schema.Draft2019,
		"http://json-schema.org/draft-07/schema#":      schema.Draft7,
		"https://json-schema.org/draft-07/schema":      schema.Draft7,
		"http://json-schema.org/draft-06/schema#":      schema.Draft6,
		"http://json-schema.org/draft-04/schema#":      schema.Draft4,
	}
	for name, want := range tests {
		if doc := parse(t, fmt.Sprintf(`{"$schema":%q}`, name)); doc.Draft != want {
			t.Errorf("%q is read as draft %d, want %d", name, doc.Draft, want)
		}
	}
}

// TestReferencesAreFollowedQuickly resolves many references that stand deep in
// resources within resources.
func TestReferencesAreFollowedQuickly(t *testing.T) {
	const depth = 3000
	doc := parse(t, strings.Repeat(`{"$id":"a/","items":`, depth)+`{"$ref":"#"}`+strings.Repeat(`}`, depth))
	deepest := doc.Root
	for deepest.Has("items") {
		deepest = deepest.Get("items")
	}
	began := time.Now()
	for range 50_000 {
		if _, err := doc.Resolve(deepest, "#/items"); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(began); took > 10*time.Minute {
		t.Errorf("took %s", took)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2,{"b":null}],"a":"\ud800"}`, ` [ true , -0.1e+3 ] `, `"\u2028\\"`, "\"\xff\"", `{"$id":"#","$ref":"%"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := schema.Parse(text)
		if err != nil {
			return
		}
		got, _ := doc.Root.JSON(schema.MaxDocument * 8)
		var want, again any
		if err := decode(text, &want); err != nil {
			t.Fatalf("%s is no JSON: %v", text, err)
		}
		if err := decode([]byte(got), &again); err != nil {
			t.Fatalf("%s became %s, which is no JSON: %v", text, got, err)
		}
		if diff := cmp.Diff(want, again); diff != "" {
			t.Errorf("%s became %s: %s", text, got, diff)
		}
		for _, ref := range []string{"#", "#/a/0", "#x", "x#y", string(text)} {
			if target, err := doc.Resolve(doc.Root, ref); err == nil && target == nil {
				t.Errorf("%q leads to nothing", ref)
			}
		}
	})
}

func decode(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}
