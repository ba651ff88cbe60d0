package openapi

import (
	"encoding/json"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// formField is one field of a form of Swagger 2.
type formField struct {
	name  string
	place place
	o     object
}

// collection gives a parameter the style that is the same as its
// collectionFormat, of which csv is the default.
func (c *compiler) collection(p place, o object, declared *openapi3.Parameter) {
	if o.text("type") != "array" {
		return
	}
	explode := false
	switch format := o.text("collectionFormat"); format {
	case "", "csv":
	case "multi":
		explode = true
	case "ssv":
		declared.Style = openapi3.SerializationSpaceDelimited
	case "pipes":
		declared.Style = openapi3.SerializationPipeDelimited
	case "tsv":
		declared.Style = styleTab
	default:
		c.notes.add(p.child("collectionFormat", nil), "is not known; the items are sent separated by commas")
	}
	declared.Explode = &explode
}

// schemaOf2 makes a schema of a parameter's own keywords.
func schemaOf2(o object) json.RawMessage {
	if o["schema"] != nil {
		return o["schema"]
	}
	schema := map[string]json.RawMessage{}
	for key, value := range o {
		switch key {
		case "name", "in", "required", "collectionFormat", "description":
		default:
			schema[key] = value
		}
	}
	text, err := json.Marshal(schema)
	if err != nil {
		return nil
	}
	return text
}

// mediaTypes2 are those of the operation or else of the specification.
func (c *compiler) mediaTypes2(key string) []string {
	list := c.self[key]
	if list == nil {
		list = c.spec.home.open("", c.spec.home.root)[key]
	}
	var all []string
	for _, item := range elements(list) {
		if mediaType := unquote(item); mediaType != "" && !slices.Contains(all, mediaType) {
			all = append(all, mediaType)
		}
	}
	return all
}

// readBody2 reads a body parameter.
func (c *compiler) readBody2(p place, o object) {
	types := c.mediaTypes2("consumes")
	if len(types) == 0 {
		types = []string{"application/json"}
	}
	schema := p.child("schema", o["schema"])
	for _, mediaType := range types {
		c.addBody(mediaType, schema, nil, place{})
	}
	c.bodyRequired = string(c.boolean(p.child("required", o["required"]))) == "true"
	c.sortBodies()
}

// formBody makes one body of the fields of a form.
func (c *compiler) formBody(fields []formField) []body {
	b := body{mediaType: "application/x-www-form-urlencoded", kind: kindForm, encodings: map[string]encoding{}}
	types := c.mediaTypes2("consumes")
	if slices.Contains(types, "multipart/form-data") && !slices.Contains(types, b.mediaType) {
		b.mediaType, b.kind = "multipart/form-data", kindMultipart
	}
	properties, required := map[string]any{}, []string{}
	for _, f := range fields {
		if f.name == "" {
			c.notes.add(f.place, "the field is left out: it has no name")
			continue
		}
		if f.o.text("type") == "file" {
			b.mediaType, b.kind = "multipart/form-data", kindMultipart
		}
		declared := &openapi3.Parameter{}
		c.collection(f.place, f.o, declared)
		e := encoding{style: openapi3.SerializationForm, explode: true, styled: true}
		if declared.Explode != nil {
			e.explode = *declared.Explode
		}
		if declared.Style != "" {
			e.style = declared.Style
		}
		b.encodings[f.name] = e
		schema := c.input.of(place{f.place.doc, f.place.pointer, schemaOf2(f.o)}, withFiles)
		if described, ok := schema.(map[string]any); ok && f.o.text("description") != "" {
			described["description"] = cut(f.o.text("description"), maxSchemaText)
		}
		properties[f.name] = schema
		if string(c.boolean(f.place.child("required", f.o["required"]))) == "true" {
			required = append(required, f.name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		slices.Sort(required)
		schema["required"] = required
		c.bodyRequired = true
	}
	b.schema = schema
	return []body{b}
}

// servers2 makes a server of host, basePath and schemes.
func servers2(root object) (string, bool) {
	host := root.text("host")
	base := root.text("basePath")
	if host == "" {
		return base, base != ""
	}
	scheme := "https"
	if schemes := elements(root["schemes"]); len(schemes) > 0 && !slices.ContainsFunc(schemes, func(s json.RawMessage) bool { return unquote(s) == "https" }) {
		scheme = unquote(schemes[0])
	}
	return scheme + "://" + host + base, true
}
