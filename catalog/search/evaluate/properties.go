package evaluate

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/heddle-dev/heddle/catalog/search"
)

// maxDepth bounds how deep in a schema properties are looked for.
const maxDepth = 8

// properties are the properties that a JSON Schema names, outer ones before inner
// ones, as far as they lie open: references are not followed.
func properties(schema json.RawMessage) ([]search.Parameter, error) {
	if len(schema) == 0 || string(schema) == "null" {
		return nil, nil
	}
	if schema[0] != '{' {
		return nil, errors.New("want a JSON Schema, an object")
	}
	return gather(nil, schema, maxDepth), nil
}

func gather(found []search.Parameter, schema json.RawMessage, depth int) []search.Parameter {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Items      json.RawMessage `json:"items"`
	}
	// What is no such schema has no properties.
	if depth == 0 || json.Unmarshal(schema, &s) != nil {
		return found
	}
	inner := []json.RawMessage{s.Items}
	decoder := json.NewDecoder(bytes.NewReader(s.Properties))
	if opening, err := decoder.Token(); err == nil && opening == json.Delim('{') {
		for decoder.More() {
			name, err := decoder.Token()
			if err != nil {
				break
			}
			var property json.RawMessage
			if err := decoder.Decode(&property); err != nil {
				break
			}
			text, _ := name.(string)
			found = append(found, parameter(text, property))
			inner = append(inner, property)
		}
	}
	for _, schema := range inner {
		if len(schema) > 0 {
			found = gather(found, schema, depth-1)
		}
	}
	return found
}

// parameter is what a schema says of a property. What has another type than it
// should have says nothing.
func parameter(name string, schema json.RawMessage) search.Parameter {
	var s struct {
		Description any `json:"description"`
		Enum        any `json:"enum"`
	}
	_ = json.Unmarshal(schema, &s) // a schema may be true or false too
	p := search.Parameter{Name: name}
	p.Description, _ = s.Description.(string)
	values, _ := s.Enum.([]any)
	for _, value := range values {
		if text, ok := value.(string); ok {
			p.Values = append(p.Values, text)
		}
	}
	return p
}
