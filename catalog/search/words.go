package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"
)

// maxWord bounds a word, in bytes. What is longer is data rather than a word, and
// its beginning stands for it.
const maxWord = 64

// separator is what stands between a word and the one before it; the greater, the
// further they are apart.
type separator uint8

const (
	// joined: nothing but a change of case or of letters to digits.
	joined separator = iota
	// marked: a character as in identifiers, such as _ or a dot.
	marked
	spaced
	comma
	// sentence: the end of a sentence or a line, or the beginning of the text.
	sentence
)

// splitWords calls emit for each word of a text, in order and in lower case, with
// what separates it from the word before. Identifiers are taken apart:
// getHTTPStatus, get_http_status and get-http-status all are get, http, status.
// Of scripts that put no spaces between words, each pair of neighbouring
// characters is a word. The slice is valid during the call only.
func splitWords(text string, emit func(word []byte, before separator)) {
	(&splitter{emit: emit}).split(text)
}

// split is [splitWords] for a splitter that is used again and again.
func (s *splitter) split(text string) {
	s.gap, s.apostrophe = sentence, false
	text = normalize(text)
	for i, r := range text {
		if class := classify(r); class == other {
			s.separate(r, text[i+utf8.RuneLen(r):])
		} else {
			s.add(r, class, text[i:])
		}
	}
	s.end()
}

// normalize brings text to one form: compatibility forms such as full-width
// letters and ligatures become plain ones, and the accents of Latin, Greek and
// Cyrillic letters go, so that café is cafe.
func normalize(text string) string {
	if isASCII(text) {
		return text
	}
	decomposed := norm.NFKD.String(strings.ToValidUTF8(text, " "))
	plain := strings.Map(func(r rune) rune {
		const firstAccent, lastAccent = 0x0300, 0x036F
		if r >= firstAccent && r <= lastAccent {
			return -1
		}
		return r
	}, decomposed)
	return norm.NFC.String(strings.ReplaceAll(plain, "ß", "ss"))
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// class is what a character is to the splitter.
type class uint8

const (
	other class = iota
	lower       // letters without case too
	upper
	digit
	dense // a character of a script that puts no spaces between words
)

var asciiClass = func() (classes [utf8.RuneSelf]class) {
	for r := range classes {
		switch {
		case r >= 'a' && r <= 'z':
			classes[r] = lower
		case r >= 'A' && r <= 'Z':
			classes[r] = upper
		case r >= '0' && r <= '9':
			classes[r] = digit
		}
	}
	return classes
}()

func classify(r rune) class {
	if r < utf8.RuneSelf {
		return asciiClass[r]
	}
	switch {
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return dense
	case unicode.IsUpper(r):
		return upper
	case unicode.IsLetter(r), unicode.IsMark(r):
		return lower
	case unicode.IsDigit(r):
		return digit
	default:
		return other
	}
}

// splitter gathers a word's characters.
type splitter struct {
	emit func(word []byte, before separator)

	buf  [maxWord]byte
	n    int // bytes in buf
	last int // where in buf its last character begins
	// previous is the class of the character before, other at the beginning of a run.
	previous class
	capitals int // how many capitals the word ends in
	gap      separator
	// apostrophe says that one stands before the word.
	apostrophe bool
	// first is the dense character before, which is part of the next pair; lone says
	// that it is in no pair yet.
	first rune
	lone  bool
}

func (s *splitter) add(r rune, class class, rest string) {
	if class == dense {
		s.pair(r)
		return
	}
	switch {
	case s.previous == dense, s.previous == lower && class == upper,
		s.previous != other && (s.previous == digit) != (class == digit):
		s.end()
	case s.previous == upper && class == lower && s.capitals > 1:
		if isPlural(rest) { // URLs, PRs
			s.end()
			s.previous = other
			s.apostrophe = true // so that the s is dropped
			break
		}
		s.cutCapital()
	}
	s.capitals++
	if class == upper {
		r = unicode.ToLower(r)
	} else {
		s.capitals = 0
	}
	s.put(r)
	s.previous = class
}

// put appends a character to the word.
func (s *splitter) put(r rune) {
	if s.n+utf8.UTFMax <= len(s.buf) {
		s.last = s.n
		s.n += utf8.EncodeRune(s.buf[s.n:], r)
	}
}

// cutCapital ends the word before its last capital, which begins the next: the S
// of HTTPStatus.
func (s *splitter) cutCapital() {
	var capital [utf8.UTFMax]byte
	n := copy(capital[:], s.buf[s.last:s.n])
	s.n = s.last
	s.flush()
	s.n, s.last = copy(s.buf[:], capital[:n]), 0
}

// isPlural reports whether rest, which begins behind capitals, is the s of their
// plural.
func isPlural(rest string) bool {
	if rest[0] != 's' {
		return false
	}
	next, _ := utf8.DecodeRuneInString(rest[1:])
	return len(rest) == 1 || classify(next) == other
}

// pair emits the dense character before, together with this one.
func (s *splitter) pair(r rune) {
	if s.previous == dense {
		s.put(s.first)
		s.put(r)
		s.flush()
	} else {
		s.end()
	}
	s.first, s.lone = r, s.previous != dense
	s.previous = dense
}

// separate ends a run of characters that make words; rest follows.
func (s *splitter) separate(r rune, rest string) {
	ended := s.previous != other
	s.end()
	s.apostrophe = ended && (r == '\'' || r == '’')
	switch r {
	case '\n', '\r', '\u2028', '\u2029', '。', '！', '？', '；':
		s.gap = sentence
	case '.', '!', '?', ';':
		if next, _ := utf8.DecodeRuneInString(rest); rest == "" || unicode.IsSpace(next) {
			s.gap = sentence
		} else {
			s.gap = max(s.gap, marked)
		}
	case ',', '、':
		s.gap = max(s.gap, comma)
	case '_', '-', '/', ':', '\'', '’':
		s.gap = max(s.gap, marked)
	default:
		s.gap = max(s.gap, spaced)
	}
}

// end ends the word, or the run of dense characters.
func (s *splitter) end() {
	if s.previous == dense && s.lone {
		s.put(s.first)
	}
	s.flush()
	s.previous = other
}

// flush emits the word, unless it is the s of a possessive or a plural.
func (s *splitter) flush() {
	if s.n > 0 && !(s.apostrophe && s.n == 1 && s.buf[0] == 's') {
		s.emit(s.buf[:s.n], s.gap)
		s.gap = joined
	}
	s.n, s.capitals, s.apostrophe = 0, 0, false
}

// stem reduces an English word to what its forms have in common: calcul is that
// of calculate and calculation. Other words come back as they are.
func stem(word string) string {
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	return english.Stem(word, true)
}

// fold makes names that differ in case and separators alone equal.
func fold(name string) string {
	var folded strings.Builder
	splitWords(name, func(word []byte, _ separator) { folded.Write(word) })
	return folded.String()
}
