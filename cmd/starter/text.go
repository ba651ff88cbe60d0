package main

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

const (
	defaultWidth = 100 // where the output is no terminal
	maxWidth     = 120 // longer lines are hard to read
	minWidth     = 40
)

// screen says how to draw.
type screen struct {
	width    int
	terminal bool
	colour   bool
}

// style is an ANSI colour.
type style string

const (
	plain  style = ""
	dim    style = "2"
	bold   style = "1"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
	cyan   style = "36"
)

func (s screen) paint(st style, text string) string {
	if !s.colour || st == plain || text == "" {
		return text
	}
	return "\x1b[" + string(st) + "m" + text + "\x1b[0m"
}

// clean makes text from outside safe to print: what would move the cursor, paint
// or reorder the line becomes a visible mark, a tab becomes a space. Line breaks
// stay.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t':
			return ' '
		case r == '\r':
			return -1
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == '\u2028', r == '\u2029':
			return unicode.ReplacementChar
		default:
			return r
		}
	}, text)
}

// columns is how many columns of a terminal the text takes.
func columns(text string) int {
	n := 0
	for _, r := range text {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}

// cut makes text one line of at most limit columns, with … where some is missing.
func cut(text string, limit int) string {
	text = strings.Join(strings.Fields(text), " ")
	if columns(text) <= limit {
		return text
	}
	head, _ := split(text, max(limit-1, 0))
	return strings.TrimRight(head, " ") + "…"
}

// split cuts text after at most limit columns, not before a combining mark.
func split(text string, limit int) (head, tail string) {
	n := 0
	for i, r := range text {
		if n += runeColumns(r); n > limit {
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// wrap breaks text into lines of at most limit columns, between words where it
// can. The text's own line breaks and indentation stay.
func wrap(text string, limit int) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		indent := len(paragraph) - len(strings.TrimLeft(paragraph, " "))
		indent = min(indent, limit/2, max(limit-2, 0))
		for _, line := range wrapWords(strings.Fields(paragraph), max(limit-indent, 2)) { // a wide character takes two
			lines = append(lines, strings.Repeat(" ", indent)+line)
		}
	}
	return lines
}

func wrapWords(words []string, limit int) []string {
	var lines []string
	line, used := "", 0
	for _, word := range words {
		if used > 0 && used+1+columns(word) > limit {
			lines = append(lines, line)
			line, used = "", 0
		}
		if used > 0 {
			line, used = line+" ", used+1
		}
		for head, tail := split(word, limit); tail != ""; head, tail = split(word, limit) {
			lines = append(lines, head)
			word = tail
		}
		line, used = line+word, used+columns(word)
	}
	return append(lines, line)
}

// count writes a number of things.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
