package openapi

import (
	"encoding/json"
	"slices"
	"strings"
)

// translation is that of one schema object.
type translation struct {
	b     *schemas
	place place
	files bool
	depth int
	in    object
	out   map[string]any
}

// wanted is the JSON type that a keyword must have; a slip of the specification's
// author costs the keyword alone.
var wanted = map[string]string{
	"title": "a string", "description": "a string", "format": "a string", "pattern": "a string",
	"contentEncoding": "a string", "contentMediaType": "a string",
	"enum":      "an array",
	"minLength": "a number", "maxLength": "a number", "minItems": "a number", "maxItems": "a number",
	"minProperties": "a number", "maxProperties": "a number", "minContains": "a number", "maxContains": "a number",
	"minimum": "a number", "maximum": "a number", "multipleOf": "a number",
	"uniqueItems": "a boolean", "deprecated": "a boolean",
	"dependentRequired": "an object",
	"const":             "", "default": "",
}

// single, several and named are the keywords whose values are schemas.
var (
	single = []string{
		"items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else",
		"unevaluatedItems", "unevaluatedProperties",
	}
	several = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	named   = []string{"properties", "patternProperties", "dependentSchemas"}
)

// run translates the object. The properties that are hidden are not required.
func (t *translation) run(hidden map[string]bool) any {
	hidden = t.hidden(hidden)
	if t.isFile() {
		return t.null(fileSchema(t.b.direction, t.in.text("description")))
	}
	t.plain()
	t.types()
	t.bounds()
	t.required(hidden)
	t.subschemas(hidden)
	t.discriminate()
	return t.null(t.out)
}

// isFile reports whether a string is the content of a file.
func (t *translation) isFile() bool {
	if t.in.text("type") == "file" {
		return true
	}
	if !t.files {
		return false
	}
	binary := t.in.text("format") == "binary" || t.in["contentMediaType"] != nil && t.in["contentEncoding"] == nil && !isTextType(t.in.text("contentMediaType"))
	return binary && (t.in["type"] == nil || t.in.text("type") == "string")
}

// plain copies the keywords whose values are no schemas.
func (t *translation) plain() {
	for key, value := range t.in {
		kind, known := wanted[key]
		switch {
		case !known:
		case kind != "" && kindOf(value) != kind:
			t.drop(key, "is "+kindOf(value)+", want "+kind)
		case key == "description" || key == "title":
			text := cut(strings.TrimSpace(unquote(value)), maxSchemaText)
			t.out[key] = text
			t.b.left -= len(text)
		case key == "enum" && len(elements(value)) == 0:
			t.drop(key, "is empty")
		case key == "multipleOf" && strings.Trim(string(value), "-0.eE+") == "":
			t.drop(key, "is 0")
		case kind == "a number" && value[0] == '-' && key != "minimum" && key != "maximum":
			t.drop(key, "is negative")
		default:
			t.out[key] = json.RawMessage(value)
			t.b.left -= len(key) + len(value)
		}
	}
}

func (t *translation) drop(key, why string) {
	t.b.notes.add(t.place.child(key, nil), "the keyword "+why+"; it is left out")
}

var typeNames = []string{"null", "boolean", "object", "array", "number", "integer", "string"}

func (t *translation) types() {
	value := t.in["type"]
	switch kindOf(value) {
	case "nothing":
	case "a string":
		if name := unquote(value); slices.Contains(typeNames, name) {
			t.out["type"] = name
		} else {
			t.drop("type", "names the unknown type "+cut(name, 40))
		}
	case "an array":
		var types []string
		for _, item := range elements(value) {
			if name := unquote(item); slices.Contains(typeNames, name) && !slices.Contains(types, name) {
				types = append(types, name)
			} else {
				t.drop("type", "names an unknown type")
			}
		}
		if len(types) > 0 {
			t.out["type"] = types
		}
	default:
		t.drop("type", "is "+kindOf(value)+", want a string or an array")
	}
}

// bounds translates the exclusive bounds, which draft 4 and OpenAPI 3.0 write as
// booleans beside the bounds.
func (t *translation) bounds() {
	for key, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		switch value := t.in[key]; kindOf(value) {
		case "nothing":
		case "a number":
			t.out[key] = json.RawMessage(value)
		case "a boolean":
			if limit, ok := t.out[bound]; ok && string(value) == "true" {
				t.out[key] = limit
				delete(t.out, bound)
			}
		default:
			t.drop(key, "is "+kindOf(value)+", want a number")
		}
	}
}

// required copies the names of what must be there, without what is hidden.
func (t *translation) required(hidden map[string]bool) {
	value := t.in["required"]
	if value == nil {
		return
	}
	if kindOf(value) != "an array" {
		t.drop("required", "is "+kindOf(value)+", want an array of names")
		return
	}
	var names []string
	for _, item := range elements(value) {
		if name := unquote(item); kindOf(item) == "a string" && !hidden[name] && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		t.out["required"] = names
	}
}

// hidden finds the properties that do not go in this direction: those of the
// schema and of what it is composed of.
func (t *translation) hidden(above map[string]bool) map[string]bool {
	if t.in["properties"] == nil && t.in["allOf"] == nil {
		return above
	}
	all := map[string]bool{}
	for name := range above {
		all[name] = true
	}
	t.b.hide(t.place, t.in, all, 0)
	return all
}

func (b *schemas) hide(p place, o object, all map[string]bool, depth int) {
	key := "readOnly"
	if b.direction == fromService {
		key = "writeOnly"
	}
	for _, m := range members(o["properties"]) {
		property := p.child("properties", o["properties"]).child(m.key, m.value)
		if resolved, err := b.spec.resolve(property); err == nil && objectOf(resolved.value).isTrue(key) || objectOf(m.value).isTrue(key) {
			all[m.key] = true
		}
	}
	if depth > 5 {
		return
	}
	for i, part := range elements(o["allOf"]) {
		if resolved, err := b.spec.resolve(p.child("allOf", nil).item(i, part)); err == nil {
			b.hide(resolved, objectOf(resolved.value), all, depth+1)
		}
	}
}

func (t *translation) subschemas(hidden map[string]bool) {
	for _, key := range single {
		value := t.in[key]
		switch {
		case value == nil:
		case key == "items" && kindOf(value) == "an array":
			t.out["prefixItems"] = t.list("items", value, nil)
		default:
			t.out[key] = t.b.translate(t.place.child(key, value), t.files, t.depth+1, nil)
		}
	}
	for _, key := range several {
		value := t.in[key]
		switch {
		case value == nil:
		case kindOf(value) != "an array" || len(elements(value)) == 0:
			t.drop(key, "is no list of schemas")
		case key == "allOf":
			t.out[key] = t.list(key, value, hidden)
		default:
			t.out[key] = t.list(key, value, nil)
		}
	}
	for _, key := range named {
		if t.in[key] != nil {
			t.named(key, hidden)
		}
	}
}

func (t *translation) list(key string, value []byte, hidden map[string]bool) []any {
	var all []any
	at := t.place.child(key, value)
	for i, item := range elements(value) {
		all = append(all, t.b.translate(at.item(i, item), t.files, t.depth+1, hidden))
	}
	return all
}

// named translates a map of schemas, which may be a reference to one.
func (t *translation) named(key string, hidden map[string]bool) {
	at := t.place.child(key, t.in[key])
	if ref, ok := reference(at.value); ok {
		resolved, err := t.b.spec.resolve(at)
		if err != nil {
			t.drop(key, "refers to "+ref+": "+err.Error())
			return
		}
		at = resolved
	}
	if kindOf(at.value) != "an object" {
		t.drop(key, "is "+kindOf(at.value)+", want an object")
		return
	}
	all := map[string]any{}
	for _, m := range members(at.value) {
		if key == "properties" && hidden[m.key] {
			continue
		}
		t.b.left -= len(m.key)
		all[m.key] = t.b.translate(at.child(m.key, m.value), t.files, t.depth+1, nil)
	}
	t.out[key] = all
}

// discriminate makes each alternative say which value of the discriminator it is
// for, so that an error speaks of the one that was meant.
func (t *translation) discriminate() {
	discriminator := objectOf(t.in["discriminator"])
	property := discriminator.text("propertyName")
	for _, key := range []string{"oneOf", "anyOf"} {
		branches, _ := t.out[key].([]any)
		if property == "" || branches == nil {
			continue
		}
		mapping := members(discriminator["mapping"])
		for i, item := range elements(t.in[key]) {
			ref, ok := reference(item)
			if !ok {
				continue
			}
			if values := t.values(ref, property, mapping); len(values) > 0 {
				branches[i] = map[string]any{"allOf": []any{branches[i], map[string]any{
					"type": "object", "required": []string{property},
					"properties": map[string]any{property: map[string]any{"enum": values}},
				}}}
			}
		}
	}
}

// values are those of the discriminator that mean the alternative.
func (t *translation) values(ref, property string, mapping []member) []string {
	last := func(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }
	var values []string
	for _, m := range mapping {
		if target := unquote(m.value); target == ref || !strings.Contains(target, "/") && target == last(ref) {
			values = append(values, m.key)
		}
	}
	if len(mapping) > 0 || t.names(ref, property) {
		return values
	}
	return []string{last(ref)}
}

// names reports whether an alternative itself says what the discriminator is.
func (t *translation) names(ref, property string) bool {
	target, err := t.b.spec.resolve(place{t.place.doc, t.place.pointer, []byte(`{"$ref":` + string(must(encode(ref))) + `}`)})
	if err != nil {
		return true
	}
	properties := objectOf(objectOf(target.value)["properties"])
	if properties[property] == nil {
		return false
	}
	resolved, err := t.b.spec.resolve(place{target.doc, at(target.pointer, "properties", property), properties[property]})
	o := objectOf(resolved.value)
	return err != nil || o["enum"] != nil || o["const"] != nil
}

// null adds null where the schema of OpenAPI 3.0 says that it is allowed.
func (t *translation) null(schema map[string]any) any {
	if t.b.spec.dialect == openapi31 && schema["type"] == nil || !t.in.isTrue("nullable") && !t.in.isTrue("x-nullable") {
		return schema
	}
	if name, ok := schema["type"].(string); ok && schema["allOf"] == nil && schema["anyOf"] == nil && schema["oneOf"] == nil {
		schema["type"] = []string{name, "null"}
		if values, ok := schema["enum"].(json.RawMessage); ok && !slices.ContainsFunc(elements(values), func(v json.RawMessage) bool { return string(v) == "null" }) {
			all := []any{}
			for _, v := range elements(values) {
				all = append(all, v)
			}
			schema["enum"] = append(all, nil)
		}
		return schema
	}
	if len(schema) == 0 || schema["type"] == nil && schema["allOf"] == nil && schema["anyOf"] == nil && schema["oneOf"] == nil && schema["enum"] == nil {
		return schema
	}
	return map[string]any{"anyOf": []any{schema, map[string]any{"type": "null"}}}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err) // of what always succeeds
	}
	return value
}
