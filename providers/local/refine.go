package local

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/heddle-dev/heddle/catalog"
)

// refiner adds to a reflected schema what the reflector does not say and
// encoding/json does: the range of sized integers, null for pointers, and that a
// field with a default may be left out.
type refiner struct {
	defs      jsonschema.Definitions
	direction direction
	seen      map[string]bool
	defaults  bool
}

// refine walks the schema beside the type that it was made of.
func (r *refiner) refine(t reflect.Type, s *jsonschema.Schema) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if name, ok := strings.CutPrefix(s.Ref, refPrefix); ok {
		if r.seen[name] || r.defs[name] == nil {
			return nil
		}
		r.seen[name] = true
		return r.refine(t, r.defs[name])
	}
	if r.direction.leaf(t) {
		return nil
	}
	switch t.Kind() {
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		bound(t, s)
	case reflect.Slice, reflect.Array:
		if s.Items != nil {
			return r.part(t.Elem(), s.Items)
		}
	case reflect.Map:
		if sub, ok := s.PatternProperties["^[0-9]+$"]; ok { // the reflector forgets the sign
			s.PatternProperties = map[string]*jsonschema.Schema{"^-?[0-9]+$": sub}
			return r.part(t.Elem(), sub)
		}
		if s.AdditionalProperties != nil && s.AdditionalProperties != jsonschema.FalseSchema {
			return r.part(t.Elem(), s.AdditionalProperties)
		}
	case reflect.Struct:
		return r.refineStruct(t, s)
	}
	return nil
}

// part refines the schema of a part of a value.
func (r *refiner) part(t reflect.Type, s *jsonschema.Schema) error {
	if err := r.refine(t, s); err != nil {
		return err
	}
	if t.Kind() == reflect.Pointer {
		nullable(s)
	}
	if reflect.DeepEqual(s, &jsonschema.Schema{}) {
		// An empty schema would be written as true, which not every model vendor
		// takes in place of a schema.
		s.Description = "Any JSON value."
	}
	return nil
}

func (r *refiner) refineStruct(t reflect.Type, s *jsonschema.Schema) error {
	if s.Properties == nil {
		return nil
	}
	for _, f := range fields(t) {
		property, ok := s.Properties.Get(f.key)
		if !ok {
			continue
		}
		if err := r.part(f.Type, property); err != nil {
			return err
		}
		if property.Default == nil || r.direction != decoding {
			continue
		}
		if slices.Contains(tagWords(f), "required") {
			return fmt.Errorf("field %s.%s: is required and has a default; one of the two has no meaning", t, f.Name)
		}
		s.Required = slices.DeleteFunc(s.Required, func(key string) bool { return key == f.key })
		if err := checkDefault(property); err != nil {
			return fmt.Errorf("field %s.%s: %w", t, f.Name, err)
		}
		r.defaults = true
	}
	return nil
}

// checkDefault refuses a default that does not fit its own property.
func checkDefault(property *jsonschema.Schema) error {
	text, err := json.Marshal(property)
	if err != nil {
		return err
	}
	value, err := json.Marshal(property.Default)
	if err != nil {
		return err
	}
	violations, err := catalog.Validate(text, value)
	if err != nil {
		return err
	}
	if len(violations) > 0 {
		return fmt.Errorf("the default %s is not allowed by its own schema: it %s", value, violations[0].Message)
	}
	return nil
}

// bound gives a sized integer its range, where no tag gave it one.
func bound(t reflect.Type, s *jsonschema.Schema) {
	if s.Type != "integer" {
		return // a ",string" field
	}
	bits := t.Bits()
	var low, high string
	switch {
	case t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64:
		low = "0"
		if bits < 64 {
			high = strconv.FormatUint(math.MaxUint64>>(64-bits), 10)
		}
	case bits < 64:
		low = strconv.FormatInt(math.MinInt64>>(64-bits), 10)
		high = strconv.FormatInt(math.MaxInt64>>(64-bits), 10)
	}
	if s.Minimum == "" && s.ExclusiveMinimum == "" {
		s.Minimum = json.Number(low)
	}
	if s.Maximum == "" && s.ExclusiveMaximum == "" {
		s.Maximum = json.Number(high)
	}
}

// nullable lets a value be null, as a nil pointer is written and read.
func nullable(s *jsonschema.Schema) {
	switch {
	case s.Ref != "":
		s.AnyOf = []*jsonschema.Schema{{Ref: s.Ref}, {Type: "null"}}
		s.Ref = ""
	case s.Type != "":
		s.Extras = map[string]any{"type": []string{s.Type, "null"}}
		s.Type = ""
		if len(s.Enum) > 0 {
			s.Enum = append(s.Enum, nil)
		}
	}
}
