package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

const (
	// maxDepth bounds how deep arrays and objects may be nested.
	maxDepth = 100
	// maxValues bounds the values in a text: each takes some hundred bytes once
	// it is read, and as many again if it does not fit a schema.
	maxValues = 100_000
)

// malformed says why a text is not JSON that can be worked with. The pointer is
// set where the text is JSON and one place of it is refused.
type malformed struct {
	pointer string
	message string
}

func (m *malformed) Error() string {
	if m.pointer == "" {
		return m.message
	}
	return m.pointer + " " + m.message
}

// decode reads a JSON text exactly: numbers stay as written (see [number]),
// a key that occurs twice is refused instead of one winning, and so are half
// surrogate pairs, which would silently become another character. Objects are
// map[string]any, arrays []any, numbers [json.Number].
func decode(text []byte) (any, error) {
	if !utf8.Valid(text) {
		return nil, &malformed{message: "is not valid UTF-8"}
	}
	if !json.Valid(text) {
		return nil, &malformed{message: notJSON(text)}
	}
	r := reader{text: text}
	return r.value()
}

// notJSON says why a text is not JSON.
func notJSON(text []byte) string {
	var whole json.RawMessage
	err := json.Unmarshal(text, &whole)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Sprintf("is not valid JSON: %s (at byte %d)", syntax.Error(), syntax.Offset)
	}
	return "is not valid JSON"
}

// reader reads a text that is known to be valid JSON, so it never has to ask
// what comes next.
type reader struct {
	text []byte
	pos  int
	path []step
	// values counts those begun.
	values int
}

// step is a part of the way to a value: the key of a member, or, where the key is
// none, the index of an item.
type step struct {
	key   *string
	index int
}

func (r *reader) value() (any, error) {
	if r.values++; r.values > maxValues {
		return nil, &malformed{message: fmt.Sprintf("holds more than %d values", maxValues)}
	}
	switch c := r.next(); c {
	case '{':
		return r.object()
	case '[':
		return r.array()
	case '"':
		return r.string()
	case 't':
		r.pos += len("true")
		return true, nil
	case 'f':
		r.pos += len("false")
		return false, nil
	case 'n':
		r.pos += len("null")
		return nil, nil
	default:
		return r.number()
	}
}

// next skips white space and shows what follows.
func (r *reader) next() byte {
	for {
		switch c := r.text[r.pos]; c {
		case ' ', '\t', '\n', '\r':
			r.pos++
		default:
			return c
		}
	}
}

func (r *reader) object() (any, error) {
	if len(r.path) == maxDepth {
		return nil, r.refuse("is nested deeper than %d levels", maxDepth)
	}
	object := map[string]any{}
	r.pos++ // {
	for {
		switch r.next() {
		case '}':
			r.pos++
			return object, nil
		case ',':
			r.pos++
			r.next()
		}
		key, err := r.string()
		if err != nil {
			return nil, err
		}
		r.path = append(r.path, step{key: &key})
		if _, twice := object[key]; twice {
			return nil, r.refuse("occurs twice")
		}
		r.next()
		r.pos++ // :
		if object[key], err = r.value(); err != nil {
			return nil, err
		}
		r.path = r.path[:len(r.path)-1]
	}
}

func (r *reader) array() (any, error) {
	if len(r.path) == maxDepth {
		return nil, r.refuse("is nested deeper than %d levels", maxDepth)
	}
	array := []any{}
	r.pos++ // [
	for {
		switch r.next() {
		case ']':
			r.pos++
			return array, nil
		case ',':
			r.pos++
		}
		r.path = append(r.path, step{index: len(array)})
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		array = append(array, v)
		r.path = r.path[:len(r.path)-1]
	}
}

func (r *reader) string() (string, error) {
	start := r.pos
	escaped := false
	for r.pos++; r.text[r.pos] != '"'; r.pos++ {
		if r.text[r.pos] == '\\' {
			escaped = true
			r.pos++
		}
	}
	r.pos++
	quoted := r.text[start:r.pos]
	if !escaped {
		return string(quoted[1 : len(quoted)-1]), nil
	}
	if halfSurrogate(quoted) {
		return "", r.refuse("holds half of a surrogate pair (\\ud800 to \\udfff), which is no character")
	}
	var s string
	err := json.Unmarshal(quoted, &s)
	return s, err
}

func (r *reader) number() (any, error) {
	start := r.pos
	for r.pos < len(r.text) && bytes.IndexByte([]byte("+-.eE0123456789"), r.text[r.pos]) >= 0 {
		r.pos++
	}
	n, err := number(string(r.text[start:r.pos]))
	if err != nil {
		return nil, r.refuse("%s", err)
	}
	return n, nil
}

func (r *reader) refuse(format string, args ...any) error {
	path := make([]string, len(r.path))
	for i, s := range r.path {
		if path[i] = strconv.Itoa(s.index); s.key != nil {
			path[i] = *s.key
		}
	}
	return &malformed{pointer: pointer(path), message: fmt.Sprintf(format, args...)}
}

// halfSurrogate reports whether a quoted string has an escape of a surrogate
// that is not one of a pair.
func halfSurrogate(quoted []byte) bool {
	low := false // an escape that ends a pair must come now
	for i := 0; i < len(quoted); i++ {
		unit := 0
		if quoted[i] == '\\' {
			if i++; quoted[i] == 'u' {
				unit = hex4(quoted[i+1 : i+5])
				i += 4
			}
		}
		isLow := unit >= 0xdc00 && unit <= 0xdfff
		if low != isLow {
			return true
		}
		low = unit >= 0xd800 && unit <= 0xdbff
	}
	return false
}

func hex4(digits []byte) int {
	n := 0
	for _, d := range digits {
		n <<= 4
		switch {
		case d <= '9':
			n += int(d - '0')
		default:
			n += int(d|0x20-'a') + 10
		}
	}
	return n
}
