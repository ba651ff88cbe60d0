package scripted

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// template is a text with references to results in it.
type template []segment

// segment is a piece of text, or a reference if it has a tool.
type segment struct {
	text          string
	tool, pointer string
}

func (s segment) String() string {
	if s.pointer == "" {
		return "${" + s.tool + "}"
	}
	return "${" + s.tool + "#" + s.pointer + "}"
}

// parseTemplate reads a text. $${ is ${ and no reference.
func parseTemplate(text string) (template, error) {
	var t template
	for {
		before, rest, found := strings.Cut(text, "${")
		if !found {
			return append(t, segment{text: text}), nil
		}
		if plain, escaped := strings.CutSuffix(before, "$"); escaped {
			t = append(t, segment{text: plain + "${"})
			text = rest
			continue
		}
		inside, after, closed := strings.Cut(rest, "}")
		if !closed {
			return nil, errors.New("a ${ has no }; write $${ for the characters themselves")
		}
		tool, pointer, _ := strings.Cut(inside, "#")
		if tool == "" || strings.ContainsAny(tool, " \t\n${") {
			return nil, fmt.Errorf("${%s}: want ${tool#pointer}", inside)
		}
		if pointer != "" && pointer[0] != '/' {
			return nil, fmt.Errorf("${%s}: a JSON pointer begins with /", inside)
		}
		t = append(t, segment{text: before}, segment{tool: tool, pointer: pointer})
		text = after
	}
}

// lone returns the reference that a template is and nothing else.
func (t template) lone() (segment, bool) {
	var only segment
	for _, s := range t {
		switch {
		case s.tool == "" && s.text == "":
		case s.tool == "" || only.tool != "":
			return segment{}, false
		default:
			only = s
		}
	}
	return only, only.tool != ""
}

// fill puts the values in as text: strings as they are, the rest as JSON.
func (t template) fill(value func(segment) (any, error)) (string, error) {
	var b strings.Builder
	for _, s := range t {
		if s.tool == "" {
			b.WriteString(s.text)
			continue
		}
		v, err := value(s)
		if err != nil {
			return "", err
		}
		if text, ok := v.(string); ok {
			b.WriteString(text)
			continue
		}
		data, err := json.Marshal(v)
		if err != nil {
			return "", err
		}
		b.Write(data)
	}
	return b.String(), nil
}

func fill(text string, value func(segment) (any, error)) (string, error) {
	t, err := parseTemplate(text)
	if err != nil {
		return "", err
	}
	return t.fill(value)
}

// encode writes an input as JSON, with the values of its references.
func encode(input map[string]any, value func(segment) (any, error)) (string, error) {
	filled, err := fillValue(input, value)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(filled); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func fillValue(in any, value func(segment) (any, error)) (any, error) {
	switch v := in.(type) {
	case string:
		t, err := parseTemplate(v)
		if err != nil {
			return nil, err
		}
		if s, ok := t.lone(); ok {
			return value(s)
		}
		return t.fill(value)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			var err error
			if out[i], err = fillValue(v[i], value); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for key := range v {
			var err error
			if out[key], err = fillValue(v[key], value); err != nil {
				return nil, err
			}
		}
		return out, nil
	default:
		return v, nil
	}
}

// at follows a JSON pointer (RFC 6901).
func at(value any, pointer string) (any, error) {
	if pointer == "" {
		return value, nil
	}
	walked := ""
	for _, step := range strings.Split(pointer[1:], "/") {
		walked += "/" + step
		key := strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch v := value.(type) {
		case map[string]any:
			inner, ok := v[key]
			if !ok {
				return nil, fmt.Errorf("%s is not there", walked)
			}
			value = inner
		case []any:
			n, err := strconv.ParseUint(key, 10, 31)
			if err != nil || key != strconv.FormatUint(n, 10) || int(n) >= len(v) {
				return nil, fmt.Errorf("%s is not there: the array has %d elements", walked, len(v))
			}
			value = v[n]
		default:
			return nil, fmt.Errorf("%s is not there: what holds it is neither object nor array", walked)
		}
	}
	return value, nil
}
