package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// direction is who writes what a schema describes.
type direction int

const (
	toService   direction = iota // without what is read-only
	fromService                  // without what is write-only
)

const (
	// maxInputSchema and maxOutputSchema bound the schemas of one operation, in
	// bytes. What would not fit any more is described as anything.
	maxInputSchema  = 96 << 10
	maxOutputSchema = 64 << 10
	// maxSchemaDepth bounds how deep a schema is nested, references apart.
	maxSchemaDepth = 40
	// maxSchemaText bounds a description within a schema.
	maxSchemaText = 600
)

// schemas makes JSON Schemas (2020-12) of those of a specification, for one
// direction of one operation. Whatever they refer to goes into $defs, nearest
// first.
type schemas struct {
	spec      *Spec
	direction direction
	notes     *notes
	operation place
	left      int
	defs      map[string]any
	names     map[schemaKey]string
	taken     map[string]bool
	queue     []queued
}

// schemaKey is what is described once.
type schemaKey struct {
	doc     *document
	pointer string
	files   bool
}

type queued struct {
	name  string
	place place
	files bool
}

func newSchemas(s *Spec, d direction, n *notes, of place) *schemas {
	limit := maxInputSchema
	if d == fromService {
		limit = maxOutputSchema
	}
	return &schemas{
		spec: s, direction: d, notes: n, operation: of, left: limit,
		defs: map[string]any{}, names: map[schemaKey]string{}, taken: map[string]bool{},
	}
}

// files says what becomes of a string of binary format.
const (
	withoutFiles = false // it stays a string
	withFiles    = true  // it is a file
)

// of translates one schema. What it refers to follows at finish.
func (b *schemas) of(p place, files bool) any { return b.translate(p, files, 0, nil) }

// finish translates all that is referred to so far.
func (b *schemas) finish() map[string]any {
	for len(b.queue) > 0 {
		next := b.queue[0]
		b.queue = b.queue[1:]
		b.defs[next.name] = b.translate(next.place, next.files, 0, nil)
	}
	return b.defs
}

// anything is the schema for what cannot be described.
func anything(why string) map[string]any { return map[string]any{"description": why} }

func (b *schemas) translate(p place, files bool, depth int, hidden map[string]bool) any {
	switch {
	case len(p.value) == 0:
		return map[string]any{}
	case string(p.value) == "true" || string(p.value) == "false":
		return json.RawMessage(p.value)
	case p.value[0] != '{':
		b.notes.add(p, "the schema is "+kindOf(p.value)+", want an object; anything is taken")
		return map[string]any{}
	case depth > maxSchemaDepth:
		b.notes.add(p, "the schema is nested too deep; from here anything is taken")
		return anything("not described here")
	case b.left <= 0:
		b.notes.add(b.operation, fmt.Sprintf("the schemas of its %s are too long; the parts farthest from the root are taken as anything", b.direction))
		return anything("not described here: the schema is too long")
	}
	if _, ok := reference(p.value); ok {
		return b.reference(p, files, depth)
	}
	t := &translation{b: b, place: p, files: files, depth: depth, in: objectOf(p.value), out: map[string]any{}}
	return t.run(hidden)
}

// String names the direction for people.
func (d direction) String() string {
	if d == toService {
		return "input"
	}
	return "output"
}

// reference translates a schema that is a reference, with what stands beside it.
func (b *schemas) reference(p place, files bool, depth int) any {
	target, err := b.spec.resolve(p)
	if err != nil {
		ref, _ := reference(p.value)
		b.notes.add(p, fmt.Sprintf("the reference %s cannot be followed: %s; anything is taken", ref, err))
		return map[string]any{}
	}
	out := map[string]any{"$ref": "#/$defs/" + b.name(target, files)}
	b.left -= 32
	in := objectOf(p.value)
	delete(in, "$ref")
	switch {
	case b.spec.dialect == openapi31 && len(in) > 0:
		t := &translation{b: b, place: p, files: files, depth: depth + 1, in: in, out: map[string]any{}}
		if beside, ok := t.run(nil).(map[string]any); ok && len(beside) > 0 {
			if _, taken := beside["$ref"]; !taken {
				beside["$ref"] = out["$ref"]
				return beside
			}
			return map[string]any{"allOf": []any{out, beside}}
		}
	case in.isTrue("nullable") || in.isTrue("x-nullable"):
		return map[string]any{"anyOf": []any{out, map[string]any{"type": "null"}}}
	case in["description"] != nil:
		out["description"] = cut(in.text("description"), maxSchemaText)
	}
	return out
}

// name returns the name under which a place is described.
func (b *schemas) name(p place, files bool) string {
	key := schemaKey{p.doc, p.pointer, files}
	if name, ok := b.names[key]; ok {
		return name
	}
	base := identifier(unescaper.Replace(p.pointer[strings.LastIndexByte(p.pointer, '/')+1:]))
	if base == "" {
		base = "schema"
	}
	name := base
	for i := 2; b.taken[name]; i++ {
		name = fmt.Sprintf("%s_%d", base, i)
	}
	b.names[key], b.taken[name] = name, true
	b.queue = append(b.queue, queued{name, p, files})
	return name
}

// encode writes a schema, keys sorted.
func encode(schema any) (json.RawMessage, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(schema); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(buffer.Bytes()), nil
}

// document is a schema that stands for itself: with all that it refers to.
func (b *schemas) document(root map[string]any) (json.RawMessage, error) {
	if defs := b.finish(); len(defs) > 0 {
		root["$defs"] = defs
	}
	return encode(root)
}

// fileSchema describes a file, as an input and as an output.
func fileSchema(d direction, description string) map[string]any {
	text := func(s string) map[string]any { return map[string]any{"type": "string", "description": s} }
	properties := map[string]any{
		"filename":     text("name of the file"),
		"content_type": text("media type, such as application/pdf"),
		"bytes_base64": map[string]any{"type": "string", "contentEncoding": "base64", "description": "the content in base64"},
		"ref": map[string]any{
			"type": "object", "description": "handle of a stored file, as another tool returned it",
			"properties": map[string]any{
				"digest": map[string]any{"type": "string"}, "size": map[string]any{"type": "integer"},
			},
			"required": []string{"digest", "size"},
		},
	}
	schema := map[string]any{"type": "object", "properties": properties, "description": cut(strings.TrimSpace(description+" (a file)"), maxSchemaText)}
	if d == fromService {
		properties["size"] = map[string]any{"type": "integer", "description": "length in bytes"}
		schema["required"] = []string{"content_type", "size"}
		return schema
	}
	properties["text"] = text("the content as text, in place of base64")
	schema["additionalProperties"] = false
	only := func(key string) map[string]any { return map[string]any{"required": []string{key}} }
	schema["oneOf"] = []any{only("bytes_base64"), only("text"), only("ref")}
	return schema
}

// cut bounds a text, without splitting a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit-3], "") + "…"
}
