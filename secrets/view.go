package secrets

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// view is a text as it reads once some encoding is undone, and from where to where
// each byte of it comes.
type view struct {
	text     []byte
	from, to []int32
	// depth is how often something was undone.
	depth int
}

// origin is what a part of the view is in the original text.
func (v view) origin(s span) span { return span{int(v.from[s.start]), int(v.to[s.end-1])} }

// kinds of encoding that decode undoes, as a set.
type kinds uint8

const (
	percent  kinds = 1 << iota
	escapes        // of JSON and most languages
	entities       // of HTML and XML
	breaks         // lines
)

// maxNested bounds the encodings within one another that are undone.
const maxNested = 3

// decoder undoes encodings in one text after another. It keeps the views that nobody
// looks at any more for the next: a text that is nothing but encodings has some
// thirty.
type decoder struct{ spare []view }

// all calls visit for each way to read a text other than as it is: each kind of
// encoding undone alone, each in what another was undone in, and all of them together
// again and again. All together is not enough: a value may hold what looks like an
// encoding, such as %41, and must be left with it. Their number is bounded, whatever
// the text is, so it takes a time in proportion to its length. A view is valid while
// visit runs.
func (d *decoder) all(text []byte, visit func(view)) {
	whole := view{text: text}
	present := kindsIn(text)
	var alone view
	for _, kind := range eachKind {
		if present&kind == 0 {
			continue
		}
		outer := d.decode(whole, kind)
		visit(outer)
		inside := kindsIn(outer.text)
		for _, inner := range eachKind {
			if inside&inner != 0 {
				d.visit(d.decode(outer, inner), visit)
			}
		}
		if kind == breaks {
			d.drop(outer)
			continue
		}
		d.drop(alone)
		alone = outer
	}
	together := present &^ breaks
	v := whole
	for ; together != 0; together = present &^ breaks {
		if v.from == nil && together&(together-1) == 0 { // a single kind: that was looked at
			v, alone = alone, view{}
			present = kindsIn(v.text)
			continue
		}
		if v.depth == maxNested {
			break
		}
		next := d.decode(v, together)
		d.drop(v)
		v = next
		visit(v)
		present = kindsIn(v.text)
		if present&breaks != 0 {
			d.visit(d.decode(v, breaks), visit)
		}
	}
	d.drop(alone)
	d.drop(v)
}

// visit has a view looked at that is not needed any more then.
func (d *decoder) visit(v view, look func(view)) {
	look(v)
	d.drop(v)
}

// drop takes a view back. The text that a caller gave is none of ours.
func (d *decoder) drop(v view) {
	if v.from != nil {
		d.spare = append(d.spare, v)
	}
}

// empty is a view with room for a text.
func (d *decoder) empty(size int) view {
	if n := len(d.spare); n > 0 {
		v := d.spare[n-1]
		d.spare = d.spare[:n-1]
		if cap(v.text) >= size {
			return view{text: v.text[:0], from: v.from[:0], to: v.to[:0]}
		}
	}
	return view{text: make([]byte, 0, size), from: make([]int32, 0, size), to: make([]int32, 0, size)}
}

// eachKind are the kinds of encoding one by one.
var eachKind = [...]kinds{percent, escapes, entities, breaks}

// kindsIn is what there is of encodings in a text.
func kindsIn(text []byte) (k kinds) {
	var to [utf8.UTFMax]byte
	for i, c := range text {
		switch {
		case c == '%' && k&percent == 0:
			if n, _ := decodePercent(text[i:], &to); n > 0 {
				k |= percent
			}
		case c == '\\' && k&escapes == 0:
			if n, _ := decodeEscape(text[i:], &to); n > 0 {
				k |= escapes
			}
		case c == '&' && k&entities == 0:
			if n, _ := decodeEntity(text[i:], &to); n > 0 {
				k |= entities
			}
		case c == '\n':
			k |= breaks
		default:
			continue
		}
		if k == percent|escapes|entities|breaks {
			break
		}
	}
	return k
}

// decode undoes encodings of the kinds given, once each. What is decoded is never
// longer than what it was.
func (d *decoder) decode(v view, k kinds) view {
	out := d.empty(len(v.text))
	out.depth = v.depth + 1
	text, from, to := out.text[:len(v.text)], out.from[:len(v.text)], out.to[:len(v.text)]
	n := 0
	var decoded [utf8.UTFMax]byte
	for i := 0; i < len(v.text); {
		taken, length := 0, 0
		switch c := v.text[i]; {
		case c == '%' && k&percent != 0:
			taken, length = decodePercent(v.text[i:], &decoded)
		case c == '\\' && k&escapes != 0:
			taken, length = decodeEscape(v.text[i:], &decoded)
		case c == '&' && k&entities != 0:
			taken, length = decodeEntity(v.text[i:], &decoded)
		case (c == '\n' || c == '\r') && k&breaks != 0:
			taken = 1
		}
		if taken == 0 {
			taken, length, decoded[0] = 1, 1, v.text[i]
		}
		begin, end := int32(i), int32(i+taken)
		if v.from != nil {
			begin, end = v.from[i], v.to[i+taken-1]
		}
		for _, b := range decoded[:length] {
			text[n], from[n], to[n] = b, begin, end
			n++
		}
		i += taken
	}
	out.text, out.from, out.to = text[:n], from[:n], to[:n]
	return out
}

// The decoders return how many bytes an encoded character takes and how many it
// stands for; 0 if there is none.

func decodePercent(s []byte, to *[utf8.UTFMax]byte) (taken, length int) {
	if len(s) < 3 {
		return 0, 0
	}
	n, ok := hexNumber(s, 1, 2)
	if !ok {
		return 0, 0
	}
	to[0] = byte(n)
	return 3, 1
}

func decodeEscape(s []byte, to *[utf8.UTFMax]byte) (taken, length int) {
	if len(s) < 2 {
		return 0, 0
	}
	switch s[1] {
	case '"', '\\', '/', '\'':
		to[0] = s[1]
	case 'b':
		to[0] = '\b'
	case 'f':
		to[0] = '\f'
	case 'n':
		to[0] = '\n'
	case 'r':
		to[0] = '\r'
	case 't':
		to[0] = '\t'
	case 'x':
		n, ok := hexNumber(s, 2, 2)
		if !ok {
			return 0, 0
		}
		to[0] = byte(n)
		return 4, 1
	case 'u':
		first, ok := hexNumber(s, 2, 4)
		if !ok {
			return 0, 0
		}
		if utf16.IsSurrogate(first) && len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
			if second, ok := hexNumber(s, 8, 4); ok {
				return 12, utf8.EncodeRune(to[:], utf16.DecodeRune(first, second))
			}
		}
		return 6, utf8.EncodeRune(to[:], first)
	default:
		return 0, 0
	}
	return 2, 1
}

// hexNumber reads so many hexadecimal digits at i.
func hexNumber(s []byte, i, digits int) (rune, bool) {
	if len(s) < i+digits {
		return 0, false
	}
	return number(s[i:i+digits], 16)
}

// number reads digits of a base up to 16. One that is no character's is none. It is
// written out since it is asked for each character of a hostile text.
func number(digits []byte, base rune) (n rune, ok bool) {
	for _, c := range digits {
		digit := base
		switch {
		case c >= '0' && c <= '9':
			digit = rune(c - '0')
		case c >= 'a' && c <= 'f':
			digit = rune(c-'a') + 10
		case c >= 'A' && c <= 'F':
			digit = rune(c-'A') + 10
		}
		if digit >= base || n > utf8.MaxRune {
			return 0, false
		}
		n = n*base + digit
	}
	return n, len(digits) > 0 && n <= utf8.MaxRune
}

// named is the character of an entity that encoders write, or 0.
func named(name []byte) byte {
	switch string(name) {
	case "amp":
		return '&'
	case "lt":
		return '<'
	case "gt":
		return '>'
	case "quot":
		return '"'
	case "apos":
		return '\''
	}
	return 0
}

func decodeEntity(s []byte, to *[utf8.UTFMax]byte) (taken, length int) {
	const longest = len("&#x10FFFF;")
	end := bytes.IndexByte(s[:min(len(s), longest)], ';')
	if end < 3 {
		return 0, 0
	}
	name := s[1:end]
	if b := named(name); b != 0 {
		to[0] = b
		return end + 1, 1
	}
	if name[0] != '#' {
		return 0, 0
	}
	base, digits := rune(10), name[1:]
	if digits[0] == 'x' || digits[0] == 'X' {
		base, digits = 16, digits[1:]
	}
	n, ok := number(digits, base)
	if !ok {
		return 0, 0
	}
	return end + 1, utf8.EncodeRune(to[:], n)
}
