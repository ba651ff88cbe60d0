package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// checkTags refuses what the reflector would pass over in silence: a keyword
// that is misspelt, unknown for the type, or has a value that cannot be read.
func checkTags(f field) error {
	if hasOption(f.Tag.Get("json"), "inline") {
		return errors.New(`has the json option "inline", which encoding/json does not know; embed the struct`)
	}
	kind := tagKind(f.Type)
	if quoted := hasOption(f.Tag.Get("json"), "string"); quoted && (kind == "number" || kind == "boolean") {
		kind = "string" // as which it is written
	}
	seen := map[string]bool{}
	for _, word := range tagWords(f) {
		keyword, value, valued := strings.Cut(word, "=")
		if !valued {
			if word != "required" {
				return fmt.Errorf("has %q in its jsonschema tag; want keyword=value or required (write a comma within a value as \\\\,)", word)
			}
			continue
		}
		if seen[keyword] && keyword != "enum" && keyword != "example" && (keyword != "default" || kind != "array") {
			return fmt.Errorf("has %s twice in its jsonschema tag", keyword)
		}
		seen[keyword] = true
		if err := checkKeyword(kind, f.Type, keyword, value); err != nil {
			return err
		}
	}
	return nil
}

// tagWords splits a jsonschema tag as the reflector does: at commas that no
// backslash precedes.
func tagWords(f field) []string {
	tag := f.Tag.Get("jsonschema")
	if tag == "" {
		return nil
	}
	var words []string
	for _, piece := range strings.Split(tag, ",") {
		if n := len(words); n > 0 && strings.HasSuffix(words[n-1], `\`) {
			words[n-1] = strings.TrimSuffix(words[n-1], `\`) + "," + piece
			continue
		}
		words = append(words, piece)
	}
	return words
}

// keywords are those that a tag may have, by the kind of the field.
var keywords = map[string][]string{
	"string":  {"enum", "default", "example", "format", "pattern", "minLength", "maxLength"},
	"number":  {"enum", "default", "example", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
	"boolean": {"default"},
	"array":   {"default", "minItems", "maxItems", "uniqueItems"},
}

func checkKeyword(kind string, t reflect.Type, keyword, value string) error {
	if keyword == "title" || keyword == "description" {
		return nil
	}
	if kind == "array" && strings.Contains(value, "=") {
		return fmt.Errorf("has %s=%s in its jsonschema tag; for a list the value cannot hold =", keyword, value)
	}
	if kind == "array" && !slices.Contains(keywords["array"], keyword) {
		kind = tagKind(elem(t)) // the keyword is about the items
		if keyword == "default" || keyword == "example" {
			kind = ""
		}
	}
	if !slices.Contains(keywords[kind], keyword) {
		return fmt.Errorf("has the keyword %q in its jsonschema tag, which %s does not take", keyword, t)
	}
	if kind == "array" && keyword == "default" && tagKind(elem(t)) != "string" {
		return fmt.Errorf("has a default, which %s cannot take from a tag", t)
	}
	return checkValue(kind, keyword, value)
}

func checkValue(kind, keyword, value string) error {
	ok := true
	want := ""
	switch keyword {
	case "minLength", "maxLength", "minItems", "maxItems":
		_, err := strconv.ParseUint(value, 10, 31)
		ok, want = err == nil, "a number from 0"
	case "uniqueItems":
		ok, want = value == "true", "true"
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		ok, want = isNumber(value), "a number"
	case "enum", "default", "example":
		switch kind {
		case "number":
			ok, want = isNumber(value), "a number"
		case "boolean":
			ok, want = value == "true" || value == "false", "true or false"
		}
	}
	if !ok {
		return fmt.Errorf("has %s=%s in its jsonschema tag, want %s", keyword, value, want)
	}
	return nil
}

func isNumber(text string) bool {
	var n json.Number
	return json.Unmarshal([]byte(text), &n) == nil && n != "" && text[0] != '"'
}

// tagKind is what the reflector takes a field for when it reads the tag. Empty:
// nothing but title and description applies.
func tagKind(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s := decoding.mapper(t); s != nil {
		if s.Type == "integer" {
			return "number"
		}
		return s.Type
	}
	switch k := t.Kind(); {
	case k == reflect.String:
		return "string"
	case k == reflect.Bool:
		return "boolean"
	case k >= reflect.Int && k <= reflect.Uint64, k == reflect.Float32, k == reflect.Float64:
		return "number"
	case k == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return "string"
	case (k == reflect.Slice || k == reflect.Array) && t.Name() == "":
		return "array"
	}
	return ""
}

func elem(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Elem()
}
