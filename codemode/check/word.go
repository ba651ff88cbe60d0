package check

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/codemode/schema"
	"github.com/heddle-dev/heddle/internal/typo"
)

const (
	// maxMessage bounds a message and a hint, in bytes.
	maxMessage = 300
	// maxQuoted bounds a name or a value in one.
	maxQuoted = 60
	// maxPointer bounds a pointer.
	maxPointer = 256
)

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// pointer is the JSON pointer of a path.
func pointer(path []string) string {
	var b strings.Builder
	for _, token := range path {
		b.WriteString("/" + pointerEscapes.Replace(visible(cut(token, maxQuoted))))
		if b.Len() > maxPointer {
			b.WriteString("/…")
			break
		}
	}
	return b.String()
}

// quote makes a name from outside fit for a message.
func quote(name string) string { return strconv.Quote(cut(name, maxQuoted)) }

// visible replaces what does not show.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return utf8.RuneError
	}, s)
}

func shorten(message string) string { return cut(message, maxMessage) }

// cut bounds a text to limit bytes, without splitting a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end := limit - len("…")
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// oneOf lists the values that a schema allows.
func oneOf(values []*schema.Value) string {
	var b strings.Builder
	for i, v := range values {
		if b.Len() > maxMessage/2 {
			b.WriteString(" or one of " + strconv.Itoa(len(values)-i) + " more")
			break
		}
		switch {
		case i == 0:
		case i == len(values)-1:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		if v.Kind == schema.String {
			b.WriteString(quote(v.Text))
			continue
		}
		text, _ := v.JSON(maxQuoted)
		b.WriteString(visible(text))
	}
	return b.String()
}

func article(typ string) string {
	switch typ {
	case "null":
		return typ
	case "integer", "array", "object":
		return "an " + typ
	default:
		return "a " + cut(typ, maxQuoted)
	}
}

// orList is a list of types as people say it, null last.
func orList(types []string) string {
	var words []string
	for _, typ := range types {
		if typ != "null" {
			words = append(words, article(typ))
		}
	}
	if slices.Contains(types, "null") {
		words = append(words, "null")
	}
	return strings.Join(words, " or ")
}

// maxNear bounds the names among which the nearest is looked for.
const maxNear = 500

// nearest is the name that may be meant by another one, empty if none is near.
func nearest(meant string, names []string) string {
	best, least := "", 3
	for _, name := range names[:min(len(names), maxNear)] {
		d := typo.Distance(fold(meant), fold(name))
		if d < least && d <= max(len(name)/3, 1) && d < len(name) {
			best, least = name, d
		}
	}
	return best
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

func fold(name string) string { return separators.Replace(strings.ToLower(cut(name, maxQuoted))) }
