package secrets

import (
	"bytes"
	"strconv"
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

// decodeAll calls visit for each way to read a text other than as it is: each kind of
// encoding undone alone, each in what another was undone in, and all of them together
// again and again. All together is not enough: a value may hold what looks like an
// encoding, such as %41, and must be left with it.
func decodeAll(text []byte, visit func(view)) {
	whole := view{text: text}
	present := kindsIn(text)
	var alone view
	whole.decodeEach(present, func(kind kinds, outer view) {
		visit(outer)
		if kind != breaks {
			alone = outer
		}
		outer.decodeEach(kindsIn(outer.text), func(_ kinds, inner view) { visit(inner) })
	})
	together := present &^ breaks
	for v := whole; together != 0; together = present &^ breaks {
		if v.from == nil && together&(together-1) == 0 { // a single kind: that was looked at
			v = alone
			present = kindsIn(v.text)
			continue
		}
		if v.depth == maxNested {
			return
		}
		v = v.decode(together)
		visit(v)
		present = kindsIn(v.text)
		if present&breaks != 0 {
			visit(v.decode(breaks))
		}
	}
}

// decodeEach calls visit with each of some kinds of encoding undone alone.
func (v view) decodeEach(k kinds, visit func(kinds, view)) {
	for _, kind := range []kinds{percent, escapes, entities, breaks} {
		if k&kind != 0 {
			visit(kind, v.decode(kind))
		}
	}
}

// kindsIn is what there is of encodings in a text.
func kindsIn(text []byte) (k kinds) {
	var to [utf8.UTFMax]byte
	for i, c := range text {
		switch c {
		case '%':
			if n, _ := decodePercent(text[i:], &to); n > 0 {
				k |= percent
			}
		case '\\':
			if n, _ := decodeEscape(text[i:], &to); n > 0 {
				k |= escapes
			}
		case '&':
			if n, _ := decodeEntity(text[i:], &to); n > 0 {
				k |= entities
			}
		case '\n':
			k |= breaks
		}
	}
	return k
}

// decode undoes encodings of the kinds given, once each.
func (v view) decode(k kinds) view {
	size := len(v.text)
	out := view{text: make([]byte, 0, size), from: make([]int32, 0, size), to: make([]int32, 0, size), depth: v.depth + 1}
	for i := 0; i < len(v.text); {
		n, decoded := 0, [utf8.UTFMax]byte{}
		length := 0
		switch c := v.text[i]; {
		case c == '%' && k&percent != 0:
			n, length = decodePercent(v.text[i:], &decoded)
		case c == '\\' && k&escapes != 0:
			n, length = decodeEscape(v.text[i:], &decoded)
		case c == '&' && k&entities != 0:
			n, length = decodeEntity(v.text[i:], &decoded)
		case (c == '\n' || c == '\r') && k&breaks != 0:
			n = 1
		}
		if n == 0 {
			n, length, decoded[0] = 1, 1, v.text[i]
		}
		from, to := int32(i), int32(i+n)
		if v.from != nil {
			from, to = v.from[i], v.to[i+n-1]
		}
		for _, b := range decoded[:length] {
			out.text = append(out.text, b)
			out.from, out.to = append(out.from, from), append(out.to, to)
		}
		i += n
	}
	return out
}

// The decoders return how many bytes an encoded character takes and how many it
// stands for; 0 if there is none.

func decodePercent(s []byte, to *[utf8.UTFMax]byte) (taken, length int) {
	if len(s) < 3 {
		return 0, 0
	}
	n, err := strconv.ParseUint(string(s[1:3]), 16, 8)
	if err != nil {
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
	n, err := strconv.ParseUint(string(s[i:i+digits]), 16, 32)
	return rune(n), err == nil
}

// named are the entities that encoders write.
var named = map[string]byte{"amp": '&', "lt": '<', "gt": '>', "quot": '"', "apos": '\''}

func decodeEntity(s []byte, to *[utf8.UTFMax]byte) (taken, length int) {
	const longest = len("&#x10FFFF;")
	end := bytes.IndexByte(s[:min(len(s), longest)], ';')
	if end < 3 {
		return 0, 0
	}
	name := string(s[1:end])
	if b, ok := named[name]; ok {
		to[0] = b
		return end + 1, 1
	}
	if name[0] != '#' {
		return 0, 0
	}
	base, digits := 10, name[1:]
	if digits[0] == 'x' || digits[0] == 'X' {
		base, digits = 16, digits[1:]
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n > utf8.MaxRune {
		return 0, 0
	}
	return end + 1, utf8.EncodeRune(to[:], rune(n))
}
