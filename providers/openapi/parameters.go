package openapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// parameter is one that a caller gives.
type parameter struct {
	name, in string
	// input is its name in the tool's input.
	input    string
	required bool
	style    string
	explode  bool
	reserved bool // allowReserved
	// json says that the value is sent as JSON text (content in place of schema).
	json   bool
	schema any
	place  place
}

// styleTab separates items by tabs, as Swagger 2 has it.
const styleTab = "tabDelimited"

// ours are the headers that a request has of its own. A specification that
// declares them cannot make a model write them.
var ours = []string{
	"accept", "accept-encoding", "authorization", "connection", "content-encoding", "content-length", "content-type", "cookie", "expect", "host",
	"idempotency-key", "keep-alive", "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade", "user-agent",
}

// readParameters reads those of the path and of the operation, which override the
// former. The form of Swagger 2 is a body.
func (c *compiler) readParameters() ([]parameter, []body) {
	var places []place
	for _, level := range []struct {
		at place
		o  object
	}{{c.op.item, c.item}, {c.op.self, c.self}} {
		list, err := c.spec.resolve(level.at.child("parameters", level.o["parameters"]))
		if err != nil || list.value != nil && kindOf(list.value) != "an array" {
			c.notes.add(level.at.child("parameters", nil), "is no list of parameters; it is left out")
			continue
		}
		for i, item := range elements(list.value) {
			places = append(places, list.item(i, item))
		}
	}
	var all []parameter
	var form []formField
	for _, at := range places {
		p, err := c.spec.resolve(at)
		if err != nil {
			c.notes.add(at, "the parameter is left out: "+err.Error())
			continue
		}
		if kindOf(p.value) != "an object" {
			c.notes.add(p, "the parameter is left out: it is "+kindOf(p.value)+", want an object")
			continue
		}
		o := objectOf(p.value)
		switch in := o.text("in"); {
		case c.spec.dialect == swagger2 && in == "body":
			c.readBody2(p, o)
		case c.spec.dialect == swagger2 && in == "formData":
			form = slices.DeleteFunc(form, func(f formField) bool { return f.name == o.text("name") })
			form = append(form, formField{o.text("name"), p, o})
		default:
			if read, ok := c.readParameter(p, o); ok {
				all = slices.DeleteFunc(all, func(other parameter) bool { return other.name == read.name && other.in == read.in })
				all = append(all, read)
			}
		}
	}
	if len(form) > 0 {
		return all, c.formBody(form)
	}
	return all, nil
}

// readParameter reads one, within what its author got right.
func (c *compiler) readParameter(p place, o object) (parameter, bool) {
	refuse := func(why string) (parameter, bool) {
		c.notes.add(p, "the parameter is left out: "+why)
		return parameter{}, false
	}
	declared, err := c.declared(p, o)
	if err != nil {
		return refuse(err.Error())
	}
	read := parameter{
		name: declared.Name, in: strings.ToLower(declared.In), required: declared.Required, style: declared.Style,
		reserved: declared.AllowReserved, place: p,
	}
	if read.name == "" {
		return refuse("it has no name")
	}
	switch read.in {
	case openapi3.ParameterInPath:
		read.required = true
	case openapi3.ParameterInHeader:
		if slices.Contains(ours, strings.ToLower(read.name)) {
			return refuse("the header " + read.name + " is set by the caller of the service itself")
		}
		if !isToken(read.name) {
			return refuse("its name is no header name")
		}
	case openapi3.ParameterInQuery:
	case openapi3.ParameterInCookie:
		if !isToken(read.name) {
			return refuse("its name is no cookie name")
		}
	default:
		return refuse(fmt.Sprintf("its place %q is not known", cut(declared.In, 40)))
	}
	c.styleOf(&read, declared.Explode)
	c.describeParameter(&read, o, declared)
	return read, true
}

// declared has kin-openapi read a parameter, without its schema and with slips of
// the pen put right.
func (c *compiler) declared(p place, o object) (*openapi3.Parameter, error) {
	fields := map[string]json.RawMessage{}
	for _, key := range []string{"name", "in", "description", "style", "explode", "allowReserved", "deprecated", "required"} {
		value := o[key]
		switch key {
		case "explode", "allowReserved", "deprecated", "required":
			value = c.boolean(p.child(key, value))
		default:
			if value != nil && kindOf(value) != "a string" {
				c.notes.add(p.child(key, nil), "is "+kindOf(value)+", want a string; it is left out")
				value = nil
			}
		}
		if value != nil {
			fields[key] = value
		}
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	declared := &openapi3.Parameter{}
	if err := declared.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	if c.spec.dialect == swagger2 {
		c.collection(p, o, declared)
	}
	return declared, nil
}

// boolean puts a boolean that is written as a string right.
func (c *compiler) boolean(p place) json.RawMessage {
	switch string(p.value) {
	case "", "true", "false":
		return p.value
	case `"true"`, `"false"`:
		c.notes.add(p, "is a string, want a boolean; it is taken as "+unquote(p.value))
		return json.RawMessage(unquote(p.value))
	}
	c.notes.add(p, "is "+kindOf(p.value)+", want a boolean; it is left out")
	return nil
}

// styles are those that each place allows, the default first.
var styles = map[string][]string{
	openapi3.ParameterInPath:   {openapi3.SerializationSimple, openapi3.SerializationLabel, openapi3.SerializationMatrix, openapi3.SerializationSpaceDelimited, openapi3.SerializationPipeDelimited, styleTab},
	openapi3.ParameterInQuery:  {openapi3.SerializationForm, openapi3.SerializationSpaceDelimited, openapi3.SerializationPipeDelimited, openapi3.SerializationDeepObject, styleTab},
	openapi3.ParameterInHeader: {openapi3.SerializationSimple, openapi3.SerializationSpaceDelimited, openapi3.SerializationPipeDelimited, styleTab},
	openapi3.ParameterInCookie: {openapi3.SerializationForm},
}

func (c *compiler) styleOf(p *parameter, explode *bool) {
	allowed := styles[p.in]
	if p.style != "" && !slices.Contains(allowed, p.style) {
		c.notes.add(p.place.child("style", nil), fmt.Sprintf("a %s parameter cannot have the style %q; it is sent as %s", p.in, cut(p.style, 40), allowed[0]))
		p.style = ""
	}
	if p.style == "" {
		p.style = allowed[0]
	}
	p.explode = p.style == openapi3.SerializationForm || p.style == openapi3.SerializationDeepObject
	if explode != nil {
		p.explode = *explode
	}
}

// describeParameter makes the schema of a parameter's value.
func (c *compiler) describeParameter(p *parameter, o object, declared *openapi3.Parameter) {
	schema := p.place.child("schema", o["schema"])
	switch {
	case c.spec.dialect == swagger2:
		schema = place{p.place.doc, p.place.pointer, schemaOf2(o)}
	case o["schema"] == nil && o["content"] != nil:
		content := members(o["content"])
		if len(content) > 0 {
			mediaType := content[0].key
			p.json = isJSON(mediaType) || mediaType == "*/*"
			at := p.place.child("content", o["content"]).child(mediaType, content[0].value)
			schema = at.child("schema", objectOf(at.value)["schema"])
		}
	}
	p.schema = c.input.of(schema, withoutFiles)
	described, ok := p.schema.(map[string]any)
	if !ok {
		return
	}
	if p.in == openapi3.ParameterInPath && described["type"] == "string" && described["minLength"] == nil {
		described["minLength"] = 1
	}
	text := declared.Description
	if text == "" {
		text, _ = described["description"].(string)
	}
	if declared.Deprecated {
		described["deprecated"] = true
	}
	if text = cut(strings.TrimSpace(text), maxSchemaText); text != "" {
		described["description"] = text
		c.input.left -= len(text)
	}
}

// isToken reports whether a name may be that of a header or a cookie.
func isToken(s string) bool {
	for _, r := range s {
		if r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r) {
			return false
		}
	}
	return s != ""
}
