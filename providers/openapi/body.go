package openapi

import (
	"cmp"
	"mime"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// bodyKind is how a body is written.
type bodyKind int

// The kinds, the one that suits a model best first.
const (
	kindJSON bodyKind = iota
	kindForm
	kindMultipart
	kindText
	kindBinary
)

// body is one media type of a request.
type body struct {
	mediaType string
	kind      bodyKind
	schema    any
	encodings map[string]encoding
}

// encoding says how one field of a form is written.
type encoding struct {
	contentType string
	style       string
	explode     bool
	reserved    bool
	// object says that the field is an object by its schema, and so no file.
	object bool
	// styled says that the specification names a style, which then holds.
	styled bool
}

// isJSON reports whether a media type is one of JSON, parameters aside.
func isJSON(mediaType string) bool {
	t := essence(mediaType)
	return t == "application/json" || strings.HasSuffix(t, "+json") || t == "text/json"
}

func isTextType(mediaType string) bool {
	t := essence(mediaType)
	switch t {
	case "application/xml", "application/yaml", "application/x-yaml", "application/javascript", "application/graphql", "application/sdp",
		"application/x-ndjson", "application/jsonl", "application/sql", "application/x-www-form-urlencoded":
		return true
	}
	return strings.HasPrefix(t, "text/") || strings.HasSuffix(t, "+xml") || strings.HasSuffix(t, "+yaml")
}

// essence is a media type without its parameters, in lower case.
func essence(mediaType string) string {
	t, _, _ := strings.Cut(mediaType, ";")
	return strings.ToLower(strings.TrimSpace(t))
}

func kindOfType(mediaType string) bodyKind {
	switch t := essence(mediaType); {
	case isJSON(t):
		return kindJSON
	case t == "application/x-www-form-urlencoded":
		return kindForm
	case strings.HasPrefix(t, "multipart/"):
		return kindMultipart
	case isTextType(t):
		return kindText
	}
	return kindBinary
}

// readBody reads the requestBody of OpenAPI 3.
func (c *compiler) readBody() {
	if c.self["requestBody"] == nil {
		return
	}
	at := c.op.self.child("requestBody", c.self["requestBody"])
	p, err := c.spec.resolve(at)
	if err != nil {
		c.notes.add(at, "the body is left out: "+err.Error())
		return
	}
	o := objectOf(p.value)
	content := p.child("content", o["content"])
	if content, err = c.spec.resolve(content); err != nil || kindOf(content.value) != "an object" {
		c.notes.add(p, "the body is left out: it has no media types")
		return
	}
	c.bodyRequired = string(c.boolean(p.child("required", o["required"]))) == "true"
	for _, m := range members(content.value) {
		media, err := c.spec.resolve(content.child(m.key, m.value))
		if err != nil {
			c.notes.add(content.child(m.key, nil), "the media type is left out: "+err.Error())
			continue
		}
		fields := objectOf(media.value)
		c.addBody(m.key, media.child("schema", fields["schema"]), members(fields["encoding"]), media.child("encoding", fields["encoding"]))
	}
	c.sortBodies()
	if c.op.reads() && !c.bodyRequired && len(c.bodies) == 1 && isEmptyObject(c.bodies[0].schema) {
		c.bodies = nil // a form without fields, as generators write it
	}
}

// isEmptyObject reports whether a schema is that of an object of which nothing is
// known.
func isEmptyObject(schema any) bool {
	o, ok := schema.(map[string]any)
	if !ok || o["$ref"] != nil || o["allOf"] != nil || o["anyOf"] != nil || o["oneOf"] != nil {
		return false
	}
	properties, _ := o["properties"].(map[string]any)
	return len(properties) == 0 && o["type"] == "object"
}

// addBody adds a media type.
func (c *compiler) addBody(mediaType string, schema place, encodings []member, at place) {
	if _, _, err := mime.ParseMediaType(mediaType); err != nil {
		c.notes.add(schema, "the media type "+cut(mediaType, 60)+" is left out: it cannot be read")
		return
	}
	if essence(mediaType) == "*/*" {
		mediaType = "application/json"
	}
	if slices.ContainsFunc(c.bodies, func(b body) bool { return b.mediaType == mediaType }) {
		return
	}
	b := body{mediaType: mediaType, kind: kindOfType(mediaType), encodings: map[string]encoding{}}
	switch b.kind {
	case kindJSON:
		b.schema = c.input.of(schema, withoutFiles)
	case kindForm, kindMultipart:
		b.schema = c.input.of(schema, b.kind == kindMultipart)
		for _, m := range encodings {
			b.encodings[m.key] = c.encoding(at.child(m.key, m.value))
		}
		c.markObjects(b, schema)
	case kindText:
		b.schema = map[string]any{"type": "string", "description": "the body as " + mediaType}
	case kindBinary:
		b.schema = fileSchema(toService, "the body as "+mediaType)
	}
	c.bodies = append(c.bodies, b)
}

// markObjects notes the fields that are objects by their schema.
func (c *compiler) markObjects(b body, schema place) {
	p, err := c.spec.resolve(schema)
	if err != nil {
		return
	}
	properties := p.child("properties", objectOf(p.value)["properties"])
	for _, m := range members(properties.value) {
		field, err := c.spec.resolve(properties.child(m.key, m.value))
		if err != nil {
			continue
		}
		o := objectOf(field.value)
		if o.text("type") == "array" {
			if field, err = c.spec.resolve(field.child("items", o["items"])); err != nil {
				continue
			}
			o = objectOf(field.value)
		}
		if o.text("type") == "object" || o["properties"] != nil {
			e, known := b.encodings[m.key]
			if !known {
				e = encoding{style: openapi3.SerializationForm, explode: true}
			}
			e.object = true
			b.encodings[m.key] = e
		}
	}
}

// encoding has kin-openapi read how a field is written.
func (c *compiler) encoding(p place) encoding {
	var declared openapi3.Encoding
	o := objectOf(p.value)
	fields := map[string]any{}
	for _, key := range []string{"contentType", "style"} {
		if o[key] != nil {
			fields[key] = o.text(key)
		}
	}
	for _, key := range []string{"explode", "allowReserved"} {
		if value := c.boolean(p.child(key, o[key])); value != nil {
			fields[key] = value
		}
	}
	if o["headers"] != nil {
		c.notes.add(p.child("headers", nil), "headers of a part are not sent")
	}
	if err := declared.UnmarshalJSON(must(encode(fields))); err != nil {
		c.notes.add(p, "the encoding is left out: "+err.Error())
	}
	method := declared.SerializationMethod()
	return encoding{
		contentType: declared.ContentType, style: method.Style, explode: method.Explode, reserved: declared.AllowReserved,
		styled: declared.Style != "" || declared.Explode != nil,
	}
}

// sortBodies puts what suits a model best first; the order of the specification
// decides among equals.
func (c *compiler) sortBodies() {
	slices.SortStableFunc(c.bodies, func(a, b body) int { return cmp.Compare(a.kind, b.kind) })
}

// describeBody makes the schema of the body: that of its media type, or those of
// all.
func (c *compiler) describeBody() any {
	var all []any
	var texts []string
	for _, b := range c.bodies {
		text := string(must(encode(b.schema)))
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
			all = append(all, b.schema)
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	return map[string]any{"anyOf": all}
}
