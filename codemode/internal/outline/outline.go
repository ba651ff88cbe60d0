package outline

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// shape says how much of each value an outline keeps.
type shape struct {
	depth, items, keys, characters int
}

// shapes are tried in turn until the outline fits.
var shapes = []shape{
	{depth: 8, items: 24, keys: 60, characters: 2000},
	{depth: 6, items: 8, keys: 40, characters: 400},
	{depth: 5, items: 4, keys: 30, characters: 120},
	{depth: 4, items: 2, keys: 20, characters: 60},
	{depth: 3, items: 1, keys: 15, characters: 30},
	{depth: 2, items: 1, keys: 10, characters: 20},
	{depth: 1, items: 1, keys: 5, characters: 10},
	{depth: 0, items: 0, keys: 0, characters: 10},
}

// manyTimes is by how much a text exceeds its budget when the generous shapes
// need not be tried.
const manyTimes = 500

// longNumber is the longest number that is kept: longer than any that a float64 is
// written as.
const longNumber = 30

// Of gives an outline of a compact and valid JSON text that takes at most so many
// bytes, if the budget leaves room for anything at all. What fits as it is stays
// as it is.
func Of(data []byte, budget int) []byte {
	if len(data) <= budget {
		return data
	}
	candidates := shapes
	if budget > 0 && len(data)/budget > manyTimes {
		candidates = shapes[2:]
	}
	var out []byte
	for _, s := range candidates {
		w := writer{data: data, shape: s, limit: budget}
		w.value(0)
		if out = w.out; len(out) <= budget {
			break
		}
	}
	return out
}

// writer writes an outline of one shape. It gives up, with too long an outline,
// once it is past its limit.
type writer struct {
	data  []byte
	at    int
	out   []byte
	limit int
	shape shape
}

func (w *writer) over() bool { return len(w.out) > w.limit }

// value writes the value at hand and moves behind it.
func (w *writer) value(depth int) {
	switch w.data[w.at] {
	case '"':
		w.text()
	case '[':
		w.array(depth)
	case '{':
		w.object(depth)
	default:
		from := w.at
		w.skip()
		if size := w.at - from; size > longNumber {
			w.note(fmt.Sprintf("[number of %d digits]", size))
			return
		}
		w.out = append(w.out, w.data[from:w.at]...)
	}
}

func (w *writer) array(depth int) {
	from := w.at
	if depth >= w.shape.depth {
		count := w.count()
		w.at = from
		w.skip()
		w.note(fmt.Sprintf("[Array of %d]", count))
		return
	}
	count := w.count()
	w.at = from + 1
	w.out = append(w.out, '[')
	for i := range count {
		shown := i < w.shape.items || i == count-1
		switch {
		case w.over() || !shown:
			w.skip()
		default:
			if i > 0 {
				w.out = append(w.out, ',')
			}
			w.value(depth + 1)
		}
		if i == w.shape.items && count > w.shape.items+1 {
			if i > 0 {
				w.out = append(w.out, ',')
			}
			w.note(fmt.Sprintf("… %d more", count-w.shape.items-1))
		}
		w.at++ // the comma, or the end
	}
	if count == 0 {
		w.at++
	}
	w.out = append(w.out, ']')
}

func (w *writer) object(depth int) {
	from := w.at
	count := w.count()
	w.at = from
	if depth >= w.shape.depth {
		w.skip()
		w.note(fmt.Sprintf("[Object with %d keys]", count))
		return
	}
	w.at++
	w.out = append(w.out, '{')
	for i := range count {
		if w.over() || i >= w.shape.keys {
			w.skip()
			w.at++
			w.skip()
		} else {
			if i > 0 {
				w.out = append(w.out, ',')
			}
			w.text()
			w.at++ // the colon
			w.out = append(w.out, ':')
			w.value(depth + 1)
		}
		w.at++ // the comma, or the end
	}
	if count == 0 {
		w.at++
	}
	if count > w.shape.keys {
		if w.shape.keys > 0 {
			w.out = append(w.out, ',')
		}
		w.note("…")
		w.out = append(w.out, ':')
		w.note(fmt.Sprintf("%d more keys", count-w.shape.keys))
	}
	w.out = append(w.out, '}')
}

// text writes the beginning of a string.
func (w *writer) text() {
	from := w.at
	w.skip()
	whole := w.data[from:w.at]
	kept, characters := cut(whole[1:len(whole)-1], w.shape.characters)
	w.out = append(w.out, '"')
	w.out = append(w.out, kept...)
	if len(kept) < len(whole)-2 {
		w.out = append(w.out, "… ("...)
		w.out = strconv.AppendInt(w.out, int64(characters), 10)
		w.out = append(w.out, " characters)"...)
	}
	w.out = append(w.out, '"')
}

// cut gives the first characters of the inside of a JSON string, whole, and how
// many characters there are.
func cut(inside []byte, keep int) (kept []byte, characters int) {
	kept = inside
	for i := 0; i < len(inside); characters++ {
		if characters == keep {
			kept = inside[:i]
		}
		switch {
		case inside[i] != '\\':
			_, size := utf8.DecodeRune(inside[i:])
			i += size
		case inside[i+1] != 'u':
			i += 2
		case bytes.HasPrefix(inside[min(i+6, len(inside)):], []byte(`\u`)) && isHighSurrogate(inside[i+2:i+6]):
			i += 12
		default:
			i += 6
		}
	}
	return kept, characters
}

func isHighSurrogate(digits []byte) bool {
	code, err := strconv.ParseUint(string(digits), 16, 16)
	return err == nil && code >= 0xD800 && code < 0xDC00
}

func (w *writer) note(text string) { w.out = AppendString(w.out, text) }

// count counts the members of the array or object at hand. It does not care where
// it leaves off.
func (w *writer) count() int {
	w.at++
	if c := w.data[w.at]; c == ']' || c == '}' {
		return 0
	}
	for count := 1; ; count++ {
		w.skip()
		if w.data[w.at] == ':' {
			w.at++
			w.skip()
		}
		if w.data[w.at] != ',' {
			return count
		}
		w.at++
	}
}

// skip moves behind the value at hand.
func (w *writer) skip() {
	depth := 0
	for w.at < len(w.data) {
		switch w.data[w.at] {
		case '"':
			w.skipString()
		case '[', '{':
			depth++
			w.at++
		case ']', '}':
			if depth == 0 {
				return
			}
			depth--
			w.at++
		case ',', ':':
			if depth == 0 {
				return
			}
			w.at++
			continue
		default:
			w.at++
			continue
		}
		if depth == 0 {
			return
		}
	}
}

func (w *writer) skipString() {
	for w.at++; w.data[w.at] != '"'; w.at++ {
		if w.data[w.at] == '\\' {
			w.at++
		}
	}
	w.at++
}
