package local

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/catalog"
)

// fillDefaults gives an input the defaults of what it leaves out.
func (s *schema) fillDefaults(input json.RawMessage) (json.RawMessage, error) {
	if !s.defaults {
		return input, nil
	}
	return s.rewrite(input, func(value any, schema map[string]any) any {
		object, ok := value.(map[string]any)
		properties, _ := schema["properties"].(map[string]any)
		if !ok {
			return value
		}
		for key, property := range properties {
			property, _ := property.(map[string]any)
			if _, given := object[key]; given {
				continue
			}
			if def, ok := property["default"]; ok {
				object[key] = clone(def)
			}
		}
		return object
	})
}

// clone copies a default, so that no two inputs share a list.
func clone(value any) any {
	if list, ok := value.([]any); ok {
		return slices.Clone(list)
	}
	return value
}

// encode writes an output. A nil slice, map or []byte is written as an empty
// one where the schema has no null: to Go they are the same.
func (s *schema) encode(output any) (json.RawMessage, error) {
	text, err := marshal(output)
	if err != nil {
		return nil, &catalog.Error{
			Code:    catalog.CodeInvalidOutput,
			Message: "the tool was called, and its result cannot be written as JSON: " + err.Error(),
			Effect:  catalog.EffectApplied,
		}
	}
	if s.doc == nil || !bytes.Contains(text, []byte("null")) {
		return text, nil
	}
	return s.rewrite(text, func(value any, schema map[string]any) any {
		if value != nil {
			return value
		}
		switch {
		case schema["type"] == "array":
			return []any{}
		case schema["type"] == "object":
			return map[string]any{}
		case schema["type"] == "string" && schema["contentEncoding"] == "base64":
			return ""
		}
		return nil
	})
}

// rewrite gives each value within a text that its schema describes to change,
// outer ones first, and writes what it answers.
func (s *schema) rewrite(text json.RawMessage, change func(value any, schema map[string]any) any) (json.RawMessage, error) {
	var value any
	if err := unmarshal(text, &value); err != nil {
		return nil, err
	}
	return marshal(s.walk(value, s.doc, change))
}

func (s *schema) walk(value, node any, change func(any, map[string]any) any) any {
	schema, nullable := s.follow(node)
	if schema == nil || value == nil && nullable {
		return value
	}
	value = change(value, schema)
	switch v := value.(type) {
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		for key, part := range v {
			property, known := properties[key]
			if !known {
				property = rest(schema)
			}
			v[key] = s.walk(part, property, change)
		}
	case []any:
		for i, item := range v {
			v[i] = s.walk(item, schema["items"], change)
		}
	}
	return value
}

// rest is the schema of the values of a map.
func rest(schema map[string]any) any {
	patterns, _ := schema["patternProperties"].(map[string]any)
	for _, only := range patterns { // of keys that are integers
		return only
	}
	return schema["additionalProperties"]
}

// follow resolves a reference to a definition, be it one that may be null.
func (s *schema) follow(node any) (schema map[string]any, nullable bool) {
	schema, _ = node.(map[string]any)
	if alternatives, ok := schema["anyOf"].([]any); ok {
		schema, _ = alternatives[0].(map[string]any)
		nullable = true
	}
	ref, _ := schema["$ref"].(string)
	if name, ok := strings.CutPrefix(ref, refPrefix); ok {
		defs, _ := s.doc["$defs"].(map[string]any)
		schema, _ = defs[name].(map[string]any)
	}
	return schema, nullable
}

// unmarshal reads JSON without losing digits: a number in an any becomes a
// [json.Number].
func unmarshal(text json.RawMessage, into any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	return dec.Decode(into)
}

// marshal writes JSON with <, > and & as they are.
func marshal(value any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(buf.Bytes()), nil
}
