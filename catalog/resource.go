package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// MaxResourceKey bounds a resource key and a template of one, in bytes.
const MaxResourceKey = 256

// ExpandResourceKey makes a resource key of a template and an input. A template is
// plain text with the places of strings, numbers and booleans in the input, each
// in braces: the names on the way to it, joined by dots.
//
//	order/{order}              {"order":"A-17"}                  order/A-17
//	repo/{repo.owner}/{repo.name}  {"repo":{"owner":"a","name":"b/c"}}  repo/a/b%2Fc
//
// What stands for a place is escaped as a segment of a path, so that two inputs
// never have one key by accident. The error names the place where there is no such
// value.
func ExpandResourceKey(template string, input json.RawMessage) (string, error) {
	if err := checkResourceKey(template); err != nil {
		return "", err
	}
	if !strings.Contains(template, "{") {
		return template, nil
	}
	value, err := decode(input)
	if err != nil {
		return "", err
	}
	var key strings.Builder
	for rest := template; rest != ""; {
		text, place, found := strings.Cut(rest, "{")
		key.WriteString(text)
		if !found {
			break
		}
		place, rest, _ = strings.Cut(place, "}")
		part, err := at(value, place)
		if err != nil {
			return "", err
		}
		key.WriteString(url.PathEscape(part))
	}
	return key.String(), checkKeyLength(key.String())
}

// at is the value at a place of an input, as text.
func at(value any, place string) (string, error) {
	for name := range strings.SplitSeq(place, ".") {
		object, ok := value.(map[string]any)
		if !ok {
			return "", noPart(place)
		}
		if value, ok = object[name]; !ok {
			return "", noPart(place)
		}
	}
	switch value := value.(type) {
	case string:
		if value == "" {
			return "", noPart(place)
		}
		return value, nil
	case json.Number:
		return value.String(), nil
	case bool:
		return fmt.Sprint(value), nil
	}
	return "", noPart(place)
}

func noPart(place string) error {
	pointer := "/" + strings.ReplaceAll(place, ".", "/")
	message := "names what the call works on: give a string that is not empty, or a number"
	return &Error{
		Code: CodeInvalidInput, Message: "the input lacks a value at " + pointer + ", which " + message,
		Violations: []Violation{{Pointer: pointer, Message: message}},
	}
}

// CheckResourceKey says what is wrong with a template of a resource key, for
// inputs of a schema: its form, or a place that no property of the schema has.
func CheckResourceKey(template string, schema json.RawMessage) error {
	if err := checkResourceKey(template); err != nil {
		return err
	}
	var root struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(schema, &root); err != nil || root.Properties == nil {
		return nil //nolint:nilerr // a schema that lists no properties here says nothing of them
	}
	for rest := template; ; {
		_, place, found := strings.Cut(rest, "{")
		if !found {
			return nil
		}
		place, rest, _ = strings.Cut(place, "}")
		first, _, _ := strings.Cut(place, ".")
		if _, known := root.Properties[first]; !known {
			return fmt.Errorf("resource key %s: the input has no property %s", quote(template), quote(first))
		}
	}
}

// checkResourceKey says what is wrong with the form of a template.
func checkResourceKey(template string) error {
	if err := checkKeyLength(template); err != nil {
		return err
	}
	if !utf8.ValidString(template) {
		return errors.New("the resource key is not valid UTF-8")
	}
	for rest := template; ; {
		text, place, found := strings.Cut(rest, "{")
		if strings.Contains(text, "}") {
			return fmt.Errorf("resource key %s: a brace is closed that was not opened", quote(template))
		}
		if !found {
			return nil
		}
		var closed bool
		place, rest, closed = strings.Cut(place, "}")
		if !closed || strings.Contains(place, "{") {
			return fmt.Errorf("resource key %s: a brace is not closed", quote(template))
		}
		for name := range strings.SplitSeq(place, ".") {
			if name == "" {
				return fmt.Errorf("resource key %s: {%s} names no place of the input; write {order} or {order.id}", quote(template), place)
			}
		}
	}
}

func checkKeyLength(key string) error {
	if len(key) > MaxResourceKey {
		return fmt.Errorf("the resource key is %d bytes long, at most %d are allowed", len(key), MaxResourceKey)
	}
	return nil
}

// nameResource finds what the call works on.
func (c *call) nameResource() (refused *Error) {
	defer func() {
		if r := recover(); r != nil {
			logPanic("catalog: a tool panicked while it named a resource", c.tool.ID, r)
			refused = invalidTool("it panicked while it named what the call works on; the worker's log has the details")
		}
	}()
	key, err := "", error(nil)
	if c.tool.Resource != nil {
		if key, err = c.tool.Resource(c.input); err == nil {
			err = checkKeyLength(key)
		}
	} else {
		key, err = ExpandResourceKey(c.tool.ResourceKey, c.input)
	}
	var typed *Error
	switch {
	case errors.As(err, &typed):
		return sanitize(typed)
	case err != nil:
		return &Error{Code: CodeInvalidInput, Message: "what the call works on cannot be told: " + plain(err.Error(), maxMessage)}
	}
	c.resource = strings.ToValidUTF8(key, "\uFFFD")
	return nil
}
