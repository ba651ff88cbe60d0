package schematest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/heddle-dev/heddle/codemode/schema"
)

// Value makes a value for a schema. It fits most of it.
func (g *Generator) Value(text json.RawMessage) json.RawMessage {
	doc, err := schema.Parse(text)
	if err != nil {
		return json.RawMessage("{}")
	}
	return json.RawMessage(g.value(doc, doc.Root, 0))
}

// maxDepth bounds how deep values are nested.
const maxDepth = 6

func (g *Generator) value(doc *schema.Document, s *schema.Value, depth int) string {
	if depth > maxDepth || !s.Is(schema.Object) || g.one(25) {
		return g.pick("null", "true", "7", "-1.5", `"a"`, `"text"`, "[]", "{}", `["a"]`, `{"a":1}`, "9007199254740993")
	}
	if ref := s.Get("$ref").Str(); ref != "" {
		if target, err := doc.Resolve(s, ref); err == nil {
			return g.value(doc, target, depth+1)
		}
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
		if branches := s.Get(keyword).Elements(); len(branches) > 0 && !g.one(8) {
			return g.value(doc, branches[g.rand.IntN(len(branches))], depth+1)
		}
	}
	if values := s.Get("enum").Elements(); len(values) > 0 {
		return exact(values[g.rand.IntN(len(values))])
	}
	if v := s.Get("const"); v != nil {
		return exact(v)
	}
	return g.ofType(doc, s, depth)
}

func exact(v *schema.Value) string {
	text, _ := v.JSON(schema.MaxDocument)
	return text
}

func (g *Generator) ofType(doc *schema.Document, s *schema.Value, depth int) string {
	name := s.Get("type").Str()
	if names := s.Get("type").Strings(); len(names) > 0 {
		name = names[g.rand.IntN(len(names))]
	}
	switch {
	case name == "object" || name == "" && s.Has("properties"):
		return g.valueObject(doc, s, depth)
	case name == "array":
		return g.valueArray(doc, s, depth)
	case name == "string":
		return g.pick(`"a"`, `"ab"`, `"abc"`, `"12"`, `"bb"`, `"long text"`, `""`)
	case name == "integer":
		return g.pick("1", "5", "10", "0", "1.0", "11", "9007199254740993")
	case name == "number":
		return g.pick("0.5", "1", "0", "-1", "0.25", "1e2")
	case name == "boolean":
		return g.pick("true", "false")
	case name == "null":
		return "null"
	}
	return g.pick(`"a"`, "1", "null", "[1]", `{"b":2}`)
}

func (g *Generator) valueObject(doc *schema.Document, s *schema.Value, depth int) string {
	required := strings.Join(s.Get("required").Strings(), "\x00")
	var members []string
	for _, m := range s.Get("properties").Fields() {
		if g.one(3) && !strings.Contains(required, m.Name) || g.one(20) {
			continue
		}
		members = append(members, member(m.Name, g.value(doc, m.Value, depth+1)))
	}
	if strings.Contains(required, "undescribed") && !g.one(4) {
		members = append(members, member("undescribed", "1"))
	}
	if !g.Plain && g.one(6) {
		members = append(members, member(g.pick("extra", "x-extra", "A"), g.pick("1", `"a"`)))
	}
	return object(members)
}

func (g *Generator) valueArray(doc *schema.Document, s *schema.Value, depth int) string {
	first, rest := doc.Items(s)
	var items []string
	for i := range g.rand.IntN(4) {
		element := rest
		if i < len(first) {
			element = first[i]
		}
		items = append(items, g.value(doc, element, depth+1))
	}
	return fmt.Sprintf("[%s]", strings.Join(items, ","))
}
