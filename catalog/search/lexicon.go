package search

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// synonyms.txt has a line for each set of words that mean much the same. topics.txt
// has a line for each topic: its name, a colon, and words that people use when they
// talk of it. Both are general English, written for no set of tools in particular;
// a word may be in several lines.
var (
	//go:embed synonyms.txt
	synonymsText string
	//go:embed topics.txt
	topicsText string
)

// relation is a word that another may stand for.
type relation struct {
	word   int32 // in lexicon.words
	weight float32
}

// lexicon says which English words are related.
type lexicon struct {
	words   []string // stems
	ids     map[string]int32
	related [][]relation // by word
}

// englishLexicon is the one that all indexes share.
var englishLexicon = sync.OnceValue(func() *lexicon { return readLexicon(synonymsText, topicsText) })

func readLexicon(synonyms, topics string) *lexicon {
	l := &lexicon{ids: make(map[string]int32)}
	same, akin := make(weights), make(weights)
	for line := range strings.Lines(synonyms) {
		words := l.intern(line)
		same.relate(words, words, synonymWeight)
	}
	for line := range strings.Lines(topics) {
		name, rest, _ := strings.Cut(line, ":")
		topic, words := l.intern(name), l.intern(rest)
		akin.relate(topic, words, topicWeight)
		akin.relate(words, topic, topicWeight)
		akin.relate(words, words, topicWeight*topicMate)
	}
	for pair, weight := range same {
		akin[pair] += weight
	}
	l.related = make([][]relation, len(l.words))
	for pair, weight := range akin {
		l.related[pair.from] = append(l.related[pair.from], relation{pair.to, weight})
	}
	for _, related := range l.related {
		slices.SortFunc(related, func(a, b relation) int { return cmp.Compare(a.word, b.word) })
	}
	return l
}

// weights has the weight of each relation.
type weights map[pair]float32

type pair struct{ from, to int32 }

// relate notes that each of some words may stand for each of others.
func (w weights) relate(from, to []int32, weight float32) {
	for _, a := range from {
		for _, b := range to {
			if a != b {
				w[pair{a, b}] = max(w[pair{a, b}], weight)
			}
		}
	}
}

// intern returns the ids of a line's words.
func (l *lexicon) intern(line string) []int32 {
	var ids []int32
	splitWords(line, func(word []byte, _ separator) {
		stemmed := stem(string(word))
		id, known := l.ids[stemmed]
		if !known {
			id = int32(len(l.words)) //nolint:gosec // the lexicon is small
			l.ids[stemmed] = id
			l.words = append(l.words, stemmed)
		}
		ids = append(ids, id)
	})
	return ids
}
