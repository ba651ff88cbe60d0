package local

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/heddle-dev/heddle/catalog"
)

// schema is the JSON Schema of a Go type.
type schema struct {
	// text is empty for a type that may be anything.
	text json.RawMessage
	// doc is the same, decoded.
	doc map[string]any
	// defaults says that there are some to fill in.
	defaults bool
}

// inputSchema derives the schema of an input, which must be an object.
func inputSchema(t reflect.Type) (*schema, error) {
	isMap := t.Kind() == reflect.Map && t.Key().Kind() == reflect.String
	if t.Kind() != reflect.Struct && !isMap {
		return nil, fmt.Errorf("is %s, want a struct or a map with string keys", t)
	}
	s, err := derive(t, decoding)
	if err != nil {
		return nil, err
	}
	if s.doc["type"] != "object" {
		return nil, fmt.Errorf("%s reads its own JSON, so no schema can be derived from it; wrap it in a struct", t)
	}
	return s, nil
}

// outputSchema derives the schema of an output.
func outputSchema(t reflect.Type) (*schema, error) { return derive(t, encoding) }

func derive(t reflect.Type, d direction) (s *schema, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("no schema can be derived from %s: %v", t, r)
		}
	}()
	if err := (&checker{direction: d}).check(t, ""); err != nil {
		return nil, err
	}
	names := typeNames{}
	reflector := jsonschema.Reflector{Anonymous: true, Mapper: d.mapper, Namer: names.name}
	root := reflector.ReflectFromType(t)
	root.Version = ""
	defs := root.Definitions
	r := refiner{defs: defs, direction: d, seen: map[string]bool{}}
	if err := r.refine(t, root); err != nil {
		return nil, err
	}
	root = inline(root, defs)
	if t.Kind() == reflect.Pointer {
		nullable(root)
	}
	text, err := json.Marshal(root)
	if err != nil {
		return nil, err
	}
	s = &schema{}
	if err := unmarshal(text, &s.doc); err != nil { // true: anything
		return s, nil
	}
	s.text = text
	s.defaults = r.defaults
	if err := catalog.CheckSchema(text); err != nil {
		return nil, fmt.Errorf("the schema of %s %w", t, err)
	}
	return s, nil
}

// inline puts the root's definition into the root itself, as model vendors want
// to see "type": "object" there, and drops the definitions that nothing refers to.
func inline(root *jsonschema.Schema, defs jsonschema.Definitions) *jsonschema.Schema {
	if name, ok := strings.CutPrefix(root.Ref, refPrefix); ok {
		def := *defs[name]
		root = &def
	}
	root.Definitions = nil
	used := jsonschema.Definitions{}
	var visit func(s *jsonschema.Schema)
	visit = func(s *jsonschema.Schema) {
		for _, sub := range subschemas(s) {
			visit(sub)
		}
		if name, ok := strings.CutPrefix(s.Ref, refPrefix); ok && used[name] == nil {
			used[name] = defs[name]
			visit(defs[name])
		}
	}
	visit(root)
	if len(used) > 0 {
		root.Definitions = used
	}
	return root
}

const refPrefix = "#/$defs/"

// subschemas are the schemas directly within one, of the kinds that are derived
// from Go types.
func subschemas(s *jsonschema.Schema) []*jsonschema.Schema {
	var all []*jsonschema.Schema
	if s.Properties != nil {
		for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
			all = append(all, pair.Value)
		}
	}
	for _, sub := range s.PatternProperties {
		all = append(all, sub)
	}
	for _, sub := range []*jsonschema.Schema{s.Items, s.AdditionalProperties} {
		if sub != nil {
			all = append(all, sub)
		}
	}
	return append(all, s.AnyOf...)
}

// typeNames gives each named type a name of its own among the definitions, fit
// for a reference: two packages may have a type Order, and a generic type's name
// holds brackets and paths.
type typeNames map[reflect.Type]string

func (n typeNames) name(t reflect.Type) string {
	if name, ok := n[t]; ok || t.Name() == "" {
		return name
	}
	base := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, withoutPaths(t.Name()))
	name := base
	for i := 2; n.taken(name); i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	n[t] = name
	return name
}

func (n typeNames) taken(name string) bool {
	for _, other := range n {
		if other == name {
			return true
		}
	}
	return false
}

// withoutPaths drops the import paths from a generic type's name:
// Page[example.com/shop.Order] is Page[Order].
func withoutPaths(name string) string {
	outer, inner, generic := strings.Cut(name, "[")
	if !generic {
		return name
	}
	arguments := strings.Split(strings.TrimSuffix(inner, "]"), ",")
	for i, a := range arguments {
		arguments[i] = a[strings.LastIndexByte(a, '.')+1:]
	}
	return outer + "_" + strings.Join(arguments, "_")
}
