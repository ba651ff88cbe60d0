package search

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// resembling are the terms that a word which no visible document has may be meant
// for: those that it begins, those that it is made of, and else those that it may
// be a misspelling of.
func (x *Index) resembling(word, stemmed string) []related {
	if len(word) < minPrefix || !isWord(word) {
		return nil
	}
	if found := x.beginning(stemmed); len(found) > 0 {
		return found
	}
	if found := x.halves(word); len(found) > 0 {
		return found
	}
	return x.misspelled(word, stemmed)
}

const (
	minPrefix = 3
	minTypo   = 4
	// twoTypos is the length of words that may have two mistakes.
	twoTypos = 8
	// maxResembling bounds the terms that one word stands for.
	maxResembling = 4
)

// isWord reports whether a word has no digits: 4711 is not meant for 4712.
func isWord(word string) bool { return !strings.ContainsAny(word, "0123456789") }

// beginning are the terms that begin with a word: conf finds config.
func (x *Index) beginning(word string) []related {
	from, _ := slices.BinarySearchFunc(x.sorted, word, func(term int32, word string) int {
		return strings.Compare(x.terms[term], word)
	})
	var found []related
	for _, term := range x.sorted[from:] {
		text := x.terms[term]
		if !strings.HasPrefix(text, word) {
			break
		}
		if x.has(term) {
			found = append(found, related{term, prefixWeight * float32(len(word)) / float32(len(text))})
		}
	}
	// The shortest are the nearest.
	slices.SortStableFunc(found, func(a, b related) int { return cmp.Compare(b.weight, a.weight) })
	return slices.Clip(found[:min(len(found), maxResembling)])
}

// halves are the two terms that a word is made of: sendmail finds send and mail.
func (x *Index) halves(word string) []related {
	for i := minPrefix; i <= len(word)-minPrefix; i++ {
		_, first, _ := x.stem([]byte(word[:i]))
		if first == noTerm || !x.has(first) {
			continue
		}
		_, second, _ := x.stem([]byte(word[i:]))
		if second != noTerm && x.has(second) {
			return []related{{first, prefixWeight}, {second, prefixWeight}}
		}
	}
	return nil
}

// misspelled are the terms that differ from a word in one or two letters. The
// first letter is taken to be right.
func (x *Index) misspelled(word, stemmed string) []related {
	if len(word) < minTypo {
		return nil
	}
	allowed := 1
	if len(word) >= twoTypos {
		allowed = 2
	}
	from, _ := slices.BinarySearchFunc(x.sorted, word[:1], func(term int32, letter string) int {
		return strings.Compare(x.terms[term], letter)
	})
	to, _ := slices.BinarySearchFunc(x.sorted, word[0], func(term int32, letter byte) int {
		return cmp.Or(cmp.Compare(x.terms[term][0], letter), -1)
	})
	wordShape, stemShape := shapeOf(word), shapeOf(stemmed)
	var found []related
	for i, shape := range x.shapes[from:to] {
		asWord, asStem := shape.near(wordShape, allowed), stemmed != word && shape.near(stemShape, allowed)
		if !asWord && !asStem {
			continue
		}
		term := x.sorted[from+i]
		text, distance := x.terms[term], allowed+1
		if asWord {
			distance = typos(word, text, allowed)
		}
		if asStem {
			distance = min(distance, typos(stemmed, text, allowed))
		}
		if distance <= allowed && x.has(term) {
			found = append(found, related{term, typoWeight / float32(max(distance, 1))})
		}
	}
	slices.SortStableFunc(found, func(a, b related) int { return cmp.Compare(b.weight, a.weight) })
	return slices.Clip(found[:min(len(found), maxResembling)])
}

// shape is what can be seen of a word without reading it: the set of its letters, a
// bit for each, of which some are shared by other characters, and their number.
type shape struct {
	letters uint32
	length  int32
}

func shapeOf(word string) shape {
	s := shape{length: int32(utf8.RuneCountInString(word))} //nolint:gosec // at most maxWord
	for i := range len(word) {
		s.letters |= 1 << (word[i] & 31)
	}
	return s
}

// near reports whether so many typos may make a word of one shape from one of the
// other.
func (s shape) near(other shape, typos int) bool {
	length := int(s.length - other.length)
	return max(length, -length) <= typos && bits.OnesCount32(s.letters^other.letters) <= 2*typos
}

// typos is the number of characters to insert, delete, replace or swap with their
// neighbour to make a into b; more than limit if there are more.
func typos(a, b string, limit int) int {
	var rowsA, rowsB, rowsC [maxWord + 1]int
	before, above, row := rowsA[:], rowsB[:], rowsC[:]
	from, to := []rune(a), []rune(b)
	for j := range len(to) + 1 {
		above[j] = j
	}
	for i := 1; i <= len(from); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(to); j++ {
			cost := 1
			if from[i-1] == to[j-1] {
				cost = 0
			}
			row[j] = min(above[j-1]+cost, above[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit {
			return limit + 1
		}
		before, above, row = above, row, before
	}
	return above[len(to)]
}
