package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

const (
	// maxYAML bounds a YAML text: it takes some thirty times its length in memory
	// while it is read.
	maxYAML = 16 << 20
	// maxYAMLDepth bounds how deep it is nested.
	maxYAMLDepth = 500
)

// yamlToJSON turns a YAML document into JSON, keys in their order. All keys
// become strings, and so do dates: a specification has no other use for either.
func yamlToJSON(text []byte) (_ []byte, err error) {
	if len(text) > maxYAML {
		return nil, fmt.Errorf("is %d bytes of YAML, at most %d are allowed; as JSON it may be longer", len(text), maxYAML)
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("is not valid YAML: %v", r)
		}
	}()
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("is not valid YAML: %w", err)
	}
	if len(doc.Content) != 1 {
		return nil, errors.New("is empty")
	}
	// Aliases that refer to aliases grow without bounds from a few lines.
	w := yamlWriter{limit: 8*len(text) + 1<<20}
	if err := w.value(doc.Content[0], 0); err != nil {
		return nil, err
	}
	return w.out.Bytes(), nil
}

type yamlWriter struct {
	out   bytes.Buffer
	limit int
}

func (w *yamlWriter) value(n *yaml.Node, depth int) error {
	switch {
	case depth > maxYAMLDepth:
		return fmt.Errorf("line %d is nested deeper than %d levels", n.Line, maxYAMLDepth)
	case w.out.Len() > w.limit:
		return errors.New("grows too long by its aliases")
	}
	switch n.Kind {
	case yaml.AliasNode:
		return w.value(n.Alias, depth+1)
	case yaml.MappingNode:
		return w.mapping(n, depth)
	case yaml.SequenceNode:
		w.out.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				w.out.WriteByte(',')
			}
			if err := w.value(item, depth+1); err != nil {
				return err
			}
		}
		w.out.WriteByte(']')
		return nil
	}
	return w.scalar(n)
}

func (w *yamlWriter) mapping(n *yaml.Node, depth int) error {
	w.out.WriteByte('{')
	first := true
	var pairs func(n *yaml.Node, merges int) error
	pairs = func(n *yaml.Node, merges int) error {
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if key.Tag == "!!merge" && merges < maxYAMLDepth {
				merged := value
				if merged.Kind == yaml.AliasNode {
					merged = merged.Alias
				}
				if merged.Kind == yaml.MappingNode {
					if err := pairs(merged, merges+1); err != nil {
						return err
					}
					continue
				}
			}
			if !first {
				w.out.WriteByte(',')
			}
			first = false
			w.string(key.Value)
			w.out.WriteByte(':')
			if err := w.value(value, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	if err := pairs(n, 0); err != nil {
		return err
	}
	w.out.WriteByte('}')
	return nil
}

func (w *yamlWriter) scalar(n *yaml.Node) error {
	switch n.ShortTag() {
	case "!!null":
		w.out.WriteString("null")
		return nil
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			w.out.WriteString(strconv.FormatBool(b))
			return nil
		}
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) { // digits as they are written
			w.out.WriteString(n.Value)
			return nil
		}
		var i int64
		if n.Decode(&i) == nil {
			w.out.WriteString(strconv.FormatInt(i, 10))
			return nil
		}
		var f float64
		if n.Decode(&f) == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			w.out.WriteString(strconv.FormatFloat(f, 'g', -1, 64))
			return nil
		}
	}
	w.string(n.Value)
	return nil
}

func (w *yamlWriter) string(s string) {
	text, err := json.Marshal(strings.ToValidUTF8(s, "\uFFFD"))
	if err != nil {
		panic(err) // strings always encode
	}
	w.out.Write(text)
}
