package mcp

import (
	"encoding/json"
	"iter"
	"unicode/utf8"
)

// What comes over a wire was read as JSON once, by the transport. To find one's way in
// it, it need not be read again and again: what follows walks over texts that are valid.
// Over one that is not it comes to an end, and what it finds is of no use.

// fields are the members of an object, each name as it is written between its quotes. No
// object has none.
func fields(text json.RawMessage) iter.Seq2[[]byte, json.RawMessage] {
	return func(yield func([]byte, json.RawMessage) bool) {
		for at := behind(text, space(text, 0), '{'); at < len(text) && text[at] == '"'; at = behind(text, space(text, at), ',') {
			end := skip(text, at)
			name := text[at+1 : max(end-1, at+1)]
			at = behind(text, space(text, end), ':')
			if end = skip(text, at); end == at || !yield(name, text[at:end:end]) {
				return
			}
			at = end
		}
	}
}

// items are those of a list. ok is false where it is none.
func items(text json.RawMessage) (all []json.RawMessage, ok bool) {
	at := behind(text, space(text, 0), '[')
	if at > len(text) {
		return nil, false
	}
	for at < len(text) && text[at] != ']' {
		end := skip(text, at)
		if end == at {
			break
		}
		all = append(all, text[at:end:end])
		at = behind(text, space(text, end), ',')
	}
	return all, true
}

// field is the member of a name, or nil. Of two the last one counts.
func field(text json.RawMessage, name string) (found json.RawMessage) {
	for n, value := range fields(text) {
		if string(n) == name || hasEscape(n) && unescaped(n) == name {
			found = value
		}
	}
	return found
}

// space is the first place from at on that is no white space.
func space(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r') {
		at++
	}
	return at
}

// behind is what follows the character at a place, white space left out; past the end
// where another character stands there.
func behind(text []byte, at int, c byte) int {
	if at >= len(text) || text[at] != c {
		return len(text) + 1
	}
	return space(text, at+1)
}

// skip is the place behind the value at a place.
func skip(text []byte, at int) int {
	if at >= len(text) {
		return at
	}
	switch text[at] {
	case '"':
		return skipString(text, at)
	case '{', '[':
		open := 0
		for at < len(text) {
			switch text[at] {
			case '"':
				at = skipString(text, at)
				continue
			case '{', '[':
				open++
			case '}', ']':
				if open--; open == 0 {
					return at + 1
				}
			}
			at++
		}
		return at
	}
	for at < len(text) {
		switch text[at] {
		case ',', '}', ']', ' ', '\t', '\n', '\r':
			return at
		}
		at++
	}
	return at
}

func skipString(text []byte, at int) int {
	for at++; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	return len(text)
}

func hasEscape(name []byte) bool {
	for _, c := range name {
		if c == '\\' {
			return true
		}
	}
	return false
}

// unescaped is what stands between quotes as text.
func unescaped(quoted []byte) string {
	if !hasEscape(quoted) && utf8.Valid(quoted) {
		return string(quoted)
	}
	var s string
	if json.Unmarshal([]byte(`"`+string(quoted)+`"`), &s) != nil {
		return ""
	}
	return s
}
