package openapi

import (
	"encoding/json"
	"strings"
)

// maxSketched bounds the parameters that a sketch names, and maxSketchText the
// description of each, in bytes.
const (
	maxSketched   = 60
	maxSketchText = 120
)

// sketch names what an operation takes and gives, as schemas that say no more: what
// a search needs of it, at a small part of what compiling takes.
func (s *Spec) sketch(o *operation) (input, output json.RawMessage) {
	takes := outlined{spec: s, described: true, properties: map[string]any{}}
	self := objectOf(o.self.value)
	for _, level := range []place{
		o.item.child("parameters", objectOf(o.item.value)["parameters"]), o.self.child("parameters", self["parameters"]),
	} {
		takes.parameters(level)
	}
	if body, err := s.resolve(o.self.child("requestBody", self["requestBody"])); err == nil {
		takes.content(body)
	}
	gives := outlined{spec: s, properties: map[string]any{}}
	responses := o.self.child("responses", self["responses"])
	if all := successes(members(responses.value)); len(all) > 0 {
		if response, err := s.resolve(responses.child(all[0].key, all[0].value)); err == nil {
			gives.content(response)
			gives.schema(response.child("schema", objectOf(response.value)["schema"]), 0)
		}
	}
	return takes.text(), gives.text()
}

// outlined gathers properties by name.
type outlined struct {
	spec *Spec
	// described says that descriptions are wanted, and not names alone.
	described  bool
	properties map[string]any
}

func (o outlined) text() json.RawMessage {
	return must(encode(map[string]any{"type": "object", "properties": o.properties}))
}

func (o outlined) add(name, description string) {
	if _, known := o.properties[name]; known || name == "" || len(o.properties) >= maxSketched {
		return
	}
	property := map[string]any{}
	if description = cut(strings.TrimSpace(description), maxSketchText); description != "" {
		property["description"] = description
	}
	o.properties[name] = property
}

func (o outlined) parameters(list place) {
	for i, item := range elements(list.value) {
		p, err := o.spec.resolve(list.item(i, item))
		if err != nil {
			continue
		}
		switch declared := objectOf(p.value); {
		case declared.text("in") == "body":
			o.schema(p.child("schema", declared["schema"]), 0)
		default:
			o.add(declared.text("name"), declared.text("description"))
		}
	}
}

// content reads the schema of the first media type.
func (o outlined) content(p place) {
	content := p.child("content", objectOf(p.value)["content"])
	for _, m := range members(content.value) {
		media := content.child(m.key, m.value)
		o.schema(media.child("schema", objectOf(media.value)["schema"]), 0)
		return
	}
}

// schema names the properties of an object, of a list's items and of what either is
// composed of.
func (o outlined) schema(p place, depth int) {
	const deepest = 3
	if len(p.value) == 0 || depth > deepest {
		return
	}
	p, err := o.spec.resolve(p)
	if err != nil {
		return
	}
	schema := objectOf(p.value)
	for _, m := range members(schema["properties"]) {
		description := ""
		if o.described {
			description = objectOf(m.value).text("description")
		}
		o.add(m.key, description)
	}
	if schema["items"] != nil {
		o.schema(p.child("items", schema["items"]), depth+1)
	}
	for _, key := range several {
		at := p.child(key, schema[key])
		for i, item := range elements(schema[key]) {
			o.schema(at.item(i, item), depth+1)
		}
	}
}
