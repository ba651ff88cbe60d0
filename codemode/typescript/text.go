package typescript

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n")

// visible drops what does not show or changes how its surroundings show:
// controls, direction marks, zero-width and tag characters, private use. Line
// ends of all kinds become \n.
func visible(s string) string {
	s = lineEnds.Replace(strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t' || unicode.Is(unicode.Zs, r):
			return ' '
		case hidden(r):
			return -1
		}
		return r
	}, s)
}

// hidden says whether a character is better not written as it is.
func hidden(r rune) bool {
	switch {
	case r == utf8.RuneError:
		return false
	case !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r): // controls, formats, private use, unassigned
		return true
	case r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0100 && r <= 0xE01EF: // variation selectors carry hidden text
		return true
	case r == 0x034F || r == 0x115F || r == 0x1160 || r == 0x3164 || r == 0xFFA0 || r == 0x2800: // blank letters
		return true
	}
	return false
}

// comment makes a text fit for a block comment: it cannot end it, and no line of
// it reads as a tag or a directive to the compiler.
func comment(s string, limit int) string {
	if s == "" {
		return ""
	}
	var lines []string
	blank := true // the last line was, or none yet
	for line := range strings.SplitSeq(visible(clip(s, 4*limit)), "\n") {
		line = strings.TrimRight(line, " ")
		if line == "" && blank {
			continue
		}
		blank = line == ""
		lines = append(lines, inert(line))
	}
	return cut(strings.TrimRight(strings.Join(lines, "\n"), "\n"), limit)
}

// inert disarms a line of a comment.
func inert(line string) string {
	line = strings.ReplaceAll(line, "*/", `*\/`)
	text := strings.TrimLeft(line, " */")
	if strings.HasPrefix(text, "@") {
		line = line[:len(line)-len(text)] + `\` + text
	}
	return line
}

// remark makes a text fit for a comment within a line.
func remark(s string, limit int) string {
	return comment(strings.Join(strings.Fields(visible(clip(s, 4*limit))), " "), limit)
}

// quote writes a string literal. What is hidden is escaped.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == ' ' || !hidden(r) && !unicode.Is(unicode.Zs, r):
			b.WriteRune(r)
		case r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// cut bounds a text to limit bytes, without splitting a character or leaving an
// escape open. A text that was cut ends in an ellipsis, which counts.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const ellipsis = "…"
	return strings.TrimRight(clip(s, limit-len(ellipsis)), ` \*`) + ellipsis
}

// clip is the longest beginning of s of at most limit bytes that splits no
// character.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	limit = max(limit, 0)
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
