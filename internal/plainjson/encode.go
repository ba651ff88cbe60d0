package plainjson

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// Encode writes a value. The error is that of [encoding/json].
func Encode(value any) (json.RawMessage, error) { return appendValue(nil, value) }

func appendValue(text []byte, value any) (_ []byte, err error) {
	switch v := value.(type) {
	case nil:
		return append(text, "null"...), nil
	case bool:
		return strconv.AppendBool(text, v), nil
	case int:
		return strconv.AppendInt(text, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(text, v, 10), nil
	case json.Number:
		if isNumber(v) {
			return append(text, v...), nil
		}
	case string:
		return appendString(text, v)
	case json.RawMessage:
		return appendRaw(text, v)
	case []any:
		return appendList(text, v)
	case []string:
		return appendList(text, v)
	case map[string]any:
		return appendObject(text, v)
	}
	return appendAny(text, value)
}

func isNumber(n json.Number) bool {
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	return n != "" && (n[0] == '-' || digit(n[0])) && digit(n[len(n)-1]) && json.Valid([]byte(n))
}

func appendList[T any](text []byte, list []T) (_ []byte, err error) {
	if list == nil {
		return append(text, "null"...), nil
	}
	text = append(text, '[')
	for i, item := range list {
		if i > 0 {
			text = append(text, ',')
		}
		if text, err = appendValue(text, item); err != nil {
			return nil, err
		}
	}
	return append(text, ']'), nil
}

func appendObject(text []byte, object map[string]any) (_ []byte, err error) {
	if object == nil {
		return append(text, "null"...), nil
	}
	var few [8]string
	keys := slices.AppendSeq(few[:0], maps.Keys(object))
	slices.Sort(keys)
	text = append(text, '{')
	for i, key := range keys {
		if i > 0 {
			text = append(text, ',')
		}
		if text, err = appendString(text, key); err != nil {
			return nil, err
		}
		if text, err = appendValue(append(text, ':'), object[key]); err != nil {
			return nil, err
		}
	}
	return append(text, '}'), nil
}

// appendString writes a string. One that may need an escape is left to the library.
func appendString(text []byte, s string) ([]byte, error) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return appendAny(text, s)
		}
	}
	return append(append(append(text, '"'), s...), '"'), nil
}

// appendRaw writes what is JSON already, without its white space.
func appendRaw(text []byte, raw json.RawMessage) ([]byte, error) {
	if raw == nil {
		return append(text, "null"...), nil
	}
	buf := bytes.NewBuffer(text)
	err := json.Compact(buf, raw)
	return buf.Bytes(), err
}

func appendAny(text []byte, value any) ([]byte, error) {
	buf := bytes.NewBuffer(text)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
