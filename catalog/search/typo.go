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
		_, first := x.stem([]byte(word[:i]))
		_, second := x.stem([]byte(word[i:]))
		if first >= 0 && second >= 0 && x.has(first) && x.has(second) {
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
	wordLetters, stemLetters := letters(word), letters(stemmed)
	var found []related
	for _, term := range x.sorted[from:] {
		text := x.terms[term]
		if text[0] != word[0] {
			break
		}
		has := letters(text)
		distance := allowed + 1
		if bits.OnesCount32(has^wordLetters) <= 2*allowed {
			distance = typos(word, text, allowed)
		}
		if stemmed != word && bits.OnesCount32(has^stemLetters) <= 2*allowed {
			distance = min(distance, typos(stemmed, text, allowed))
		}
		if distance <= allowed && x.has(term) {
			found = append(found, related{term, typoWeight / float32(max(distance, 1))})
		}
	}
	slices.SortStableFunc(found, func(a, b related) int { return cmp.Compare(b.weight, a.weight) })
	return slices.Clip(found[:min(len(found), maxResembling)])
}

// letters is the set of a word's letters, a bit for each; bits are shared by other
// characters.
func letters(word string) uint32 {
	var set uint32
	for i := range len(word) {
		set |= 1 << (word[i] & 31)
	}
	return set
}

// typos is the number of characters to insert, delete, replace or swap with their
// neighbour to make a into b; limit+1 if there are more than limit.
func typos(a, b string, limit int) int {
	if abs(utf8.RuneCountInString(a)-utf8.RuneCountInString(b)) > limit {
		return limit + 1
	}
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

func abs(n int) int { return max(n, -n) }
