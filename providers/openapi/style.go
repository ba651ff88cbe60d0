package openapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// pair is a name and a value as they stand in a query, a form or a cookie:
// already escaped.
type pair struct{ name, value string }

// scalar writes a value that is part of a list, of an object or of nothing. What
// is composed itself has no form in any style and is written as JSON.
func scalar(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		if v {
			return "true"
		}
		return "false"
	}
	return string(must(encode(v)))
}

const (
	unreserved = "-._~"
	// reservedKept are the reserved characters that mean nothing within a query's
	// value, and reservedInPath those within a path.
	reservedKept   = ":/?[]@!$'()*,;="
	reservedInPath = ":/[]@!$&'()*+,;="
)

// escape percent-encodes all but unreserved characters and those that are kept.
func escape(s, kept string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(unreserved, c) >= 0 || strings.IndexByte(kept, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// keysOf are an object's keys in order.
func keysOf(o map[string]any) []string {
	keys := make([]string, 0, len(o))
	for k := range o {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// delimiter separates the items of a list that is one value.
func delimiter(style string) (raw, escaped string) {
	switch style {
	case openapi3.SerializationSpaceDelimited:
		return " ", "%20"
	case openapi3.SerializationPipeDelimited:
		return "|", "%7C"
	case styleTab:
		return "\t", "%09"
	}
	return ",", ","
}

// flat writes an array or object as a list of items: of an object keys and
// values by turns, or key=value where it is exploded.
func flat(v any, explode bool, esc func(string) string) []string {
	var items []string
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			items = append(items, esc(scalar(item)))
		}
	case map[string]any:
		for _, key := range keysOf(v) {
			if explode {
				items = append(items, esc(key)+"="+esc(scalar(v[key])))
			} else {
				items = append(items, esc(key), esc(scalar(v[key])))
			}
		}
	}
	return items
}

// apart refuses items that hold the delimiter where escaping cannot keep them
// apart.
func apart(v any, delimiter string) error {
	for _, item := range flat(v, false, func(s string) string { return s }) {
		if strings.Contains(item, delimiter) {
			return fmt.Errorf("an item holds %q, which separates the items", delimiter)
		}
	}
	return nil
}

func composed(v any) bool {
	switch v.(type) {
	case []any, map[string]any:
		return true
	}
	return false
}

// inPath writes a path parameter.
func (p parameter) inPath(v any) (string, error) {
	kept := ""
	if p.reserved {
		kept = reservedInPath
	}
	esc := func(s string) string { return escape(s, kept) }
	switch p.style {
	case openapi3.SerializationLabel:
		// A dot separates, so one in a value is escaped as if it were reserved.
		esc = func(s string) string { return strings.ReplaceAll(escape(s, kept), ".", "%2E") }
		if !composed(v) {
			return "." + escape(scalar(v), kept), nil
		}
		separator := ","
		if p.explode {
			separator = "."
		}
		return "." + strings.Join(flat(v, p.explode, esc), separator), nil
	case openapi3.SerializationMatrix:
		return p.matrix(v, esc), nil
	}
	if !composed(v) {
		return esc(scalar(v)), nil
	}
	raw, separator := delimiter(p.style)
	if raw != "," || p.reserved {
		if err := apart(v, raw); err != nil {
			return "", err
		}
	}
	return strings.Join(flat(v, p.explode, esc), separator), nil
}

func (p parameter) matrix(v any, esc func(string) string) string {
	prefix := ";" + escape(p.name, "") + "="
	switch v := v.(type) {
	case []any:
		if p.explode {
			return prefix + strings.Join(flat(v, false, esc), prefix)
		}
		return prefix + strings.Join(flat(v, false, esc), ",")
	case map[string]any:
		if p.explode {
			return ";" + strings.Join(flat(v, true, esc), ";")
		}
		return prefix + strings.Join(flat(v, false, esc), ",")
	}
	return prefix + esc(scalar(v))
}

// inQuery writes a query parameter, or a field of a form.
func (p parameter) inQuery(v any) ([]pair, error) {
	kept := ""
	if p.reserved {
		kept = reservedKept
	}
	esc := func(s string) string { return escape(s, kept) }
	name := escape(p.name, "[]")
	if !composed(v) {
		return []pair{{name, esc(scalar(v))}}, nil
	}
	object, isObject := v.(map[string]any)
	switch {
	case p.style == openapi3.SerializationDeepObject:
		return deep(name, v, esc), nil
	case p.explode && isObject:
		var all []pair
		for _, key := range keysOf(object) {
			items, isList := object[key].([]any)
			if !isList {
				items = []any{object[key]}
			}
			for _, item := range items {
				all = append(all, pair{escape(key, ""), esc(scalar(item))})
			}
		}
		return all, nil
	case p.explode:
		var all []pair
		for _, item := range flat(v, false, esc) {
			all = append(all, pair{name, item})
		}
		return all, nil
	}
	raw, separator := delimiter(p.style)
	if raw != "," || p.reserved {
		if err := apart(v, raw); err != nil {
			return nil, err
		}
	}
	items := flat(v, false, esc)
	if len(items) == 0 {
		return nil, nil
	}
	return []pair{{name, strings.Join(items, separator)}}, nil
}

// deep writes name[key]=value, at any depth. No standard says how a list is
// written; its items are numbered, as the services that have such lists want it.
func deep(name string, v any, esc func(string) string) []pair {
	var all []pair
	switch v := v.(type) {
	case map[string]any:
		for _, key := range keysOf(v) {
			all = append(all, deep(name+"["+escape(key, "")+"]", v[key], esc)...)
		}
	case []any:
		for i, item := range v {
			all = append(all, deep(fmt.Sprintf("%s[%d]", name, i), item, esc)...)
		}
	default:
		all = append(all, pair{name, esc(scalar(v))})
	}
	return all
}

// inHeader writes a header, in which nothing is escaped.
func (p parameter) inHeader(v any) (string, error) {
	text := scalar(v)
	if composed(v) {
		raw, _ := delimiter(p.style)
		if err := apart(v, raw); err != nil {
			return "", err
		}
		text = strings.Join(flat(v, p.explode, func(s string) string { return s }), raw)
	}
	return text, headerValue(text)
}

// headerValue says why a text cannot be the value of a header.
func headerValue(text string) error {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return fmt.Errorf("it holds a line break or another control character, which a header cannot")
	}
	if strings.Trim(text, " \t") != text {
		return fmt.Errorf("it begins or ends with white space, which a header loses")
	}
	return nil
}

// inCookie writes a cookie, or several where a list is exploded.
func (p parameter) inCookie(v any) []pair {
	esc := func(s string) string { return escape(s, "") }
	switch {
	case !composed(v):
		return []pair{{p.name, esc(scalar(v))}}
	case !p.explode:
		return []pair{{p.name, strings.Join(flat(v, false, esc), ",")}}
	}
	var all []pair
	if object, ok := v.(map[string]any); ok {
		for _, key := range keysOf(object) {
			all = append(all, pair{escape(key, ""), esc(scalar(object[key]))})
		}
		return all
	}
	for _, item := range flat(v, false, esc) {
		all = append(all, pair{p.name, item})
	}
	return all
}
