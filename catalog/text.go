package catalog

import (
	"strings"
	"unicode/utf8"
)

// cut bounds a text to limit bytes, without splitting a character. A text that
// was cut ends in an ellipsis, which counts.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const ellipsis = "…"
	return clip(s, limit-len(ellipsis)) + ellipsis
}

// clip is the longest beginning of s of at most limit bytes that splits no
// character.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// plain makes a text that a tool or a source supplied fit for an error: valid
// UTF-8 and bounded.
func plain(s string, limit int) string {
	return cut(strings.ToValidUTF8(s, "\uFFFD"), limit)
}
