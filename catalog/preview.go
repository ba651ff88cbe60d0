package catalog

import (
	"bytes"
	"encoding/json"
	"strings"
)

const (
	// MaxPreview bounds a plan's preview, in bytes.
	MaxPreview = 4 << 10
	// MaxDoes bounds what a plan says that its call does, in bytes.
	MaxDoes = 2 << 10
	// hidden stands in a preview for what people are not to see.
	hidden = "[hidden]"
	// maxHideDepth bounds how deep an input is looked through for such values.
	maxHideDepth = 64
)

// show fills in what a person who is asked is shown of the call: the input without
// what its schema says is secret, and what the call does.
func (c *call) show(p *Plan) {
	p.Preview = preview(c.secrets.json(concealed(c.input, c.tool.Input)))
	p.Does = cut(c.secrets.text(c.does()), MaxDoes)
	p.Described = c.made.described()
}

// does is what the call does, in the words of its tool, whose code that is.
func (c *call) does() (text string) {
	if c.tool.Preview == nil {
		return ""
	}
	defer func() {
		if r := recover(); r != nil {
			logPanic("catalog: a tool panicked while it said what a call does", c.tool.ID, r)
			text = ""
		}
	}()
	return strings.ToValidUTF8(c.tool.Preview(c.input), "\uFFFD")
}

// concealed is an input without the values of which the schema says that they are
// passwords or written and never read.
func concealed(input, schema json.RawMessage) json.RawMessage {
	if !bytes.Contains(schema, []byte(`"password"`)) && !bytes.Contains(schema, []byte(`"writeOnly"`)) {
		return input
	}
	value, err := decode(input)
	if err != nil {
		return input
	}
	var root any
	if err := json.Unmarshal(schema, &root); err != nil {
		return input
	}
	text, err := encode(conceal(value, root, root, maxHideDepth))
	if err != nil {
		return input
	}
	return text
}

// conceal hides what a schema says is secret in a value.
func conceal(value, schema, root any, depth int) any {
	s, ok := schema.(map[string]any)
	if !ok || depth == 0 {
		return value
	}
	if s["format"] == "password" || s["writeOnly"] == true {
		return hidden
	}
	if ref, ok := s["$ref"].(string); ok {
		value = conceal(value, target(root, ref), root, depth-1)
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		branches, _ := s[keyword].([]any)
		for _, branch := range branches {
			value = conceal(value, branch, root, depth-1)
		}
	}
	switch v := value.(type) {
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		for name, member := range v {
			if property, known := properties[name]; known {
				v[name] = conceal(member, property, root, depth-1)
			} else {
				v[name] = conceal(member, s["additionalProperties"], root, depth-1)
			}
		}
	case []any:
		for i := range v {
			v[i] = conceal(v[i], s["items"], root, depth-1)
		}
	}
	return value
}

// target is what a reference within the same schema refers to, nil for any other.
func target(root any, ref string) any {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil
	}
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		object, ok := root.(map[string]any)
		if !ok {
			return nil
		}
		if name != "" {
			root = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
		}
	}
	return root
}

// preview is the input, or its beginning as a JSON string.
func preview(input json.RawMessage) json.RawMessage {
	if len(input) <= MaxPreview {
		return input
	}
	// Quotes and control characters grow when they are escaped, so the cut is
	// found from what comes out.
	keep := MaxPreview - len(`""`)
	for {
		text, err := encode(clip(string(input), keep))
		if err != nil {
			return json.RawMessage(`""`)
		}
		over := len(text) - MaxPreview
		if over <= 0 {
			return text
		}
		keep -= max(over/2, 1)
	}
}
