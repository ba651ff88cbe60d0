package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/heddle-dev/heddle/catalog"
)

// compiled is an operation ready to be described and called.
type compiled struct {
	op *operation
	// inputs are the parameters, each under its name in the tool's input.
	inputs []parameter
	// bodies are the media types in which the body may be sent, the one that is
	// sent unless the caller says otherwise first.
	bodies       []body
	bodyRequired bool
	server       serverRule
	security     securityRule
	responses    responseRule
	// pager is set where the answers come in pages.
	pager  *pager
	input  json.RawMessage
	output json.RawMessage
	notes  []Note
}

// maxCompiled bounds the operations that a specification keeps compiled.
const maxCompiled = 2048

// cache keeps compiled operations.
type cache struct {
	mu      sync.Mutex
	entries map[*operation]*compiled
}

// compile looks at an operation. The error says why it cannot be called.
func (s *Spec) compile(o *operation) (*compiled, error) {
	s.cache.mu.Lock()
	c := s.cache.entries[o]
	s.cache.mu.Unlock()
	if c != nil {
		return c, nil
	}
	c, err := s.compileSafely(o)
	if err != nil {
		return nil, err
	}
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	if s.cache.entries == nil {
		s.cache.entries = map[*operation]*compiled{}
	}
	if len(s.cache.entries) >= maxCompiled {
		for other := range s.cache.entries { // any one will do
			delete(s.cache.entries, other)
			break
		}
	}
	s.cache.entries[o] = c
	return c, nil
}

// compileSafely makes a panic, which a specification that nobody has thought of
// may cause, an error of the one operation.
func (s *Spec) compileSafely(o *operation) (_ *compiled, err error) {
	defer func() {
		if r := recover(); r != nil {
			slog.Error("openapi: an operation could not be read", "operation", o.key(), "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = errors.New("it cannot be read; the log has the details")
		}
	}()
	return s.compileNew(o)
}

// compiler compiles one operation.
type compiler struct {
	*compiled
	spec   *Spec
	self   object
	item   object
	notes  *notes
	input  *schemas
	output *schemas
}

func (s *Spec) compileNew(o *operation) (*compiled, error) {
	c := &compiler{compiled: &compiled{op: o}, spec: s, self: objectOf(o.self.value), item: objectOf(o.item.value), notes: &notes{home: s.home}}
	c.input = newSchemas(s, toService, c.notes, o.self)
	c.output = newSchemas(s, fromService, c.notes, o.self)
	properties, required, err := c.readInputs()
	if err != nil {
		return nil, err
	}
	if c.self["callbacks"] != nil {
		c.notes.add(o.self.child("callbacks", nil), "the service calls these; they make no tools")
	}
	c.readResponses()
	c.readServer()
	c.readSecurity()
	if c.pager = c.readPages(func(name string) bool { return properties[name] != nil }); c.pager != nil {
		properties[c.pager.input] = map[string]any{
			"type": "integer", "minimum": 1, "maximum": maxPages,
			"description": "How many pages to read, from this one on (default 1). Their lists are joined; all else is that of the last page.",
		}
	}
	root := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		root["required"] = required
	}
	if c.compiled.input, err = c.input.document(root); err != nil {
		return nil, fmt.Errorf("the input schema cannot be written: %w", err)
	}
	if _, err := catalog.Validate(c.compiled.input, nothing); err != nil {
		return nil, fmt.Errorf("its input cannot be described: %w", err)
	}
	if len(c.compiled.output) > 0 {
		if _, err := catalog.Validate(c.compiled.output, nothing); err != nil {
			c.notes.add(o.self.child("responses", nil), "the output cannot be described, anything is taken: "+err.Error())
			c.compiled.output = nil
		}
	}
	c.compiled.notes = c.notes.list
	return c.compiled, nil
}

var nothing = json.RawMessage("null")

// readInputs reads parameters and body, and describes them as the properties of
// the tool's input.
func (c *compiler) readInputs() (properties map[string]any, required []string, err error) {
	parameters, formBody := c.readParameters()
	if parameters, err = c.matchPath(parameters); err != nil {
		return nil, nil, err
	}
	if formBody != nil {
		c.bodies = formBody
	} else if c.spec.dialect != swagger2 {
		c.readBody()
	}
	properties = map[string]any{}
	reserved := map[string]bool{}
	if len(c.bodies) > 0 {
		reserved["body"] = true
		properties["body"] = c.describeBody()
		if c.bodyRequired {
			required = append(required, "body")
		}
	}
	if len(c.bodies) > 1 {
		reserved["content_type"] = true
		types := []string{}
		for _, b := range c.bodies {
			types = append(types, b.mediaType)
		}
		properties["content_type"] = map[string]any{"enum": types, "default": types[0], "description": "media type in which the body is sent"}
	}
	nameInputs(parameters, reserved)
	for _, p := range parameters {
		properties[p.input] = p.schema
		if p.required {
			required = append(required, p.input)
		}
	}
	c.inputs = parameters
	slices.Sort(required)
	return properties, required, nil
}

// nameInputs names the parameters as the properties of the input: by their own
// names, and where two have the same, or that of the body, the later of path,
// query, header and cookie gets its place at the end.
func nameInputs(parameters []parameter, taken map[string]bool) {
	for _, in := range []string{openapi3.ParameterInPath, openapi3.ParameterInQuery, openapi3.ParameterInHeader, openapi3.ParameterInCookie} {
		for i := range parameters {
			p := &parameters[i]
			if p.in != in {
				continue
			}
			p.input = p.name
			for suffix := "_" + in; taken[p.input]; suffix += "_" {
				p.input = p.name + suffix
			}
			taken[p.input] = true
		}
	}
}

// matchPath pairs the placeholders of the path with the parameters.
func (c *compiler) matchPath(parameters []parameter) ([]parameter, error) {
	holes, err := placeholders(c.op.path)
	if err != nil {
		return nil, err
	}
	parameters = slices.DeleteFunc(parameters, func(p parameter) bool {
		lost := p.in == openapi3.ParameterInPath && !slices.Contains(holes, p.name)
		if lost {
			c.notes.add(p.place, fmt.Sprintf("the path has no placeholder {%s}; the parameter is left out", p.name))
		}
		return lost
	})
	for _, hole := range holes {
		if slices.ContainsFunc(parameters, func(p parameter) bool { return p.in == openapi3.ParameterInPath && p.name == hole }) {
			continue
		}
		c.notes.add(c.op.self, fmt.Sprintf("the placeholder {%s} of the path is not declared; it is taken as a required string", hole))
		parameters = append(parameters, parameter{
			name: hole, in: openapi3.ParameterInPath, required: true, style: openapi3.SerializationSimple,
			schema: map[string]any{"type": "string", "minLength": 1},
		})
	}
	return parameters, nil
}

// placeholders lists those of a path, each once.
func placeholders(path string) ([]string, error) {
	var holes []string
	for rest := path; ; {
		_, after, ok := strings.Cut(rest, "{")
		if !ok {
			if strings.Contains(rest, "}") {
				return nil, fmt.Errorf("the path %q has a } without a {", path)
			}
			return holes, nil
		}
		name, after, ok := strings.Cut(after, "}")
		if !ok || name == "" || strings.Contains(name, "{") {
			return nil, fmt.Errorf("the path %q has a placeholder that does not end", path)
		}
		if !slices.Contains(holes, name) {
			holes = append(holes, name)
		}
		rest = after
	}
}
