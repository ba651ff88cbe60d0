package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/internal/plainjson"
)

// encode writes JSON without the escapes that are for HTML.
func encode(v any) (json.RawMessage, error) { return plainjson.Encode(v) }

// members reads a JSON object; what is none has no members.
func members(text json.RawMessage) map[string]json.RawMessage {
	if !isObject(text) {
		return nil
	}
	object := map[string]json.RawMessage{}
	for name, value := range fields(text) {
		object[unescaped(name)] = value
	}
	return object
}

// textOf reads a JSON string; what is none is empty.
func textOf(text json.RawMessage) string {
	text = bytes.TrimSpace(text)
	if len(text) < 2 || text[0] != '"' {
		return ""
	}
	return unescaped(text[1 : len(text)-1])
}

// isNull reports whether a member is absent or null.
func isNull(text json.RawMessage) bool {
	trimmed := bytes.TrimSpace(text)
	return len(trimmed) == 0 || string(trimmed) == "null"
}

// isObject reports whether a text begins as a JSON object does.
func isObject(text json.RawMessage) bool {
	trimmed := bytes.TrimSpace(text)
	return len(trimmed) > 0 && trimmed[0] == '{'
}

// depth is how deep a valid JSON text is nested.
func depth(text json.RawMessage) int {
	deepest, at := 0, 0
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			at++
			deepest = max(deepest, at)
		case c == '}' || c == ']':
			at--
		}
	}
	return deepest
}

// plain makes a text of the server fit for people and models: without control
// characters and those that only change how other text looks, and bounded.
func plain(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) && r != '\u200d' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return cut(strings.TrimSpace(s), most)
}

// cut shortens a text to so many bytes, at a character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	const more = "…"
	end := most - len(more)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + more
}

// quote makes a name of the server fit for a message.
func quote(name string) string { return fmt.Sprintf("%q", cut(name, 80)) }
