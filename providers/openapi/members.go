package openapi

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// member is one key of a JSON object with its value as it stands in the text.
type member struct {
	key   string
	value json.RawMessage
}

// members splits an object without reading its values. The text is part of one
// that is known to be valid JSON, so nothing is looked at twice; what is no object
// has no members. Of a key that occurs twice, both are listed.
func members(text json.RawMessage) []member {
	i := skipSpace(text, 0)
	if i >= len(text) || text[i] != '{' {
		return nil
	}
	var all []member
	for i = skipSpace(text, i+1); i < len(text) && text[i] == '"'; {
		end := skipString(text, i)
		key := unquote(text[i:end])
		begin := skipSpace(text, skipSpace(text, end)+1) // past the colon
		end = skipValue(text, begin)
		all = append(all, member{key, text[begin:end:end]})
		if i = skipSpace(text, end); i < len(text) && text[i] == ',' {
			i = skipSpace(text, i+1)
		}
	}
	return all
}

// elements splits an array as members does an object.
func elements(text json.RawMessage) []json.RawMessage {
	i := skipSpace(text, 0)
	if i >= len(text) || text[i] != '[' {
		return nil
	}
	var all []json.RawMessage
	for i = skipSpace(text, i+1); i < len(text) && text[i] != ']'; {
		end := skipValue(text, i)
		all = append(all, text[i:end:end])
		if i = skipSpace(text, end); i < len(text) && text[i] == ',' {
			i = skipSpace(text, i+1)
		}
	}
	return all
}

func skipSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\r' || text[i] == '\t') {
		i++
	}
	return i
}

// skipString finds the end of the string that begins at i.
func skipString(text []byte, i int) int {
	for i++; i < len(text); {
		j := bytes.IndexByte(text[i:], '"')
		if j < 0 {
			return len(text)
		}
		backslashes := 0
		for k := i + j - 1; k >= i && text[k] == '\\'; k-- {
			backslashes++
		}
		i += j + 1
		if backslashes%2 == 0 {
			return i
		}
	}
	return len(text)
}

// skipValue finds the end of the value that begins at i.
func skipValue(text []byte, i int) int {
	if i >= len(text) {
		return i
	}
	switch text[i] {
	case '"':
		return skipString(text, i)
	case '{', '[':
		depth := 0
		for i < len(text) {
			switch text[i] {
			case '"':
				i = skipString(text, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return i
	}
	for i < len(text) && !strings.ContainsRune(",]} \n\r\t", rune(text[i])) {
		i++
	}
	return i
}

// unquote reads a JSON string; what is none gives an empty one.
func unquote(text json.RawMessage) string {
	if len(text) < 2 || text[0] != '"' {
		return ""
	}
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text[1 : len(text)-1])
	}
	var s string
	_ = json.Unmarshal(text, &s)
	return s
}

// kindOf is the JSON type of a value, as people call it.
func kindOf(text json.RawMessage) string {
	if len(text) == 0 {
		return "nothing"
	}
	switch text[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// object is an object's members by key; of a key that occurs twice the last.
type object map[string]json.RawMessage

func objectOf(text json.RawMessage) object {
	all := members(text)
	o := make(object, len(all))
	for _, m := range all {
		o[m.key] = m.value
	}
	return o
}

func (o object) text(key string) string { return unquote(o[key]) }
func (o object) isTrue(key string) bool { return string(o[key]) == "true" }

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

// at extends a JSON pointer.
func at(pointer string, keys ...string) string {
	for _, key := range keys {
		pointer += "/" + escaper.Replace(key)
	}
	return pointer
}

func atIndex(pointer string, i int) string { return pointer + "/" + strconv.Itoa(i) }
