package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// named are the documents that a query names, each once and in its order: by a
// text that is a name as a whole, by identifiers and quoted names within a text,
// or by a text that is nothing but names.
func (x *Index) named(q *Query) []int32 {
	var docs []int32
	room := MaxQuery
	for _, text := range q.Texts {
		text = clip(text, room)
		room -= len(text)
		if len(text) <= maxName {
			docs = append(docs, x.called(q, strings.TrimSpace(text))...)
		}
		docs = append(docs, x.namedWithin(q, text)...)
	}
	once := docs[:0]
	for _, doc := range docs {
		if !slices.Contains(once, doc) {
			once = append(once, doc)
		}
	}
	return once
}

const (
	// maxName bounds what is taken for a name, in bytes.
	maxName = 256
	// maxNames is the most words of a text that may be nothing but names.
	maxNames = 10
	// maxNamesakes is how many tools of one name come first for it; others are found
	// by its words.
	maxNamesakes = 50
)

// namedWithin are the documents that single words of a text name.
func (x *Index) namedWithin(q *Query, text string) []int32 {
	words := strings.Fields(text)
	onlyNames := len(words) <= maxNames
	var plain, certain []int32
	for _, word := range words {
		name := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		isName := isIdentifier(name) || strings.ContainsAny(word[:1], "\"'`")
		if name == "" || len(name) > maxName || !isName && !onlyNames {
			continue
		}
		docs := x.called(q, name)
		if plain = append(plain, docs...); isName {
			certain = append(certain, docs...)
		}
		onlyNames = onlyNames && len(docs) > 0
	}
	if onlyNames {
		return plain
	}
	return certain
}

// isIdentifier reports whether a word is written as no word of a language is.
func isIdentifier(word string) bool {
	var previous rune
	for _, r := range word {
		if unicode.IsDigit(r) || !unicode.IsLetter(r) || unicode.IsUpper(r) && unicode.IsLower(previous) {
			return true
		}
		previous = r
	}
	return false
}

// called are the documents that the query wants and whose id, name or title is
// name, but for case and separators; that of the very id first, then by id.
func (x *Index) called(q *Query, name string) []int32 {
	folded := fold(name)
	if folded == "" {
		return nil
	}
	from, _ := slices.BinarySearchFunc(x.names, folded, func(key nameKey, name string) int {
		return strings.Compare(key.name, name)
	})
	var docs []int32
	for _, key := range x.names[from:] {
		if key.name != folded {
			break
		}
		if x.wants(q, key.doc) {
			docs = append(docs, key.doc)
		}
	}
	rank := func(doc int32) int {
		if x.docs[doc].id == name {
			return 0
		}
		return 1
	}
	slices.SortFunc(docs, func(a, b int32) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), x.byID(a, b))
	})
	return docs[:min(len(docs), maxNamesakes)]
}
