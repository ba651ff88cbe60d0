package bench

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/heddle-dev/heddle/catalog/search"
)

// bm25 is plain BM25: k1 is 1.2, b is 0.75, and the name counts twice.
type bm25 struct {
	ids      []string
	lengths  []float64
	average  float64
	postings map[string][]bm25Posting
	scores   []float64
}

type bm25Posting struct {
	doc   int
	times float64
}

func newBM25(documents []search.Document) *bm25 {
	x := &bm25{postings: make(map[string][]bm25Posting), scores: make([]float64, len(documents))}
	for doc, d := range documents {
		text := []string{d.Name, d.Name, d.Description}
		for _, p := range d.Parameters {
			text = append(text, p.Name, p.Description)
		}
		times := make(map[string]float64)
		words := bm25Words(strings.Join(text, " "))
		for _, word := range words {
			times[word]++
		}
		for word, n := range times {
			x.postings[word] = append(x.postings[word], bm25Posting{doc, n})
		}
		x.ids = append(x.ids, d.ID)
		x.lengths = append(x.lengths, float64(len(words)))
		x.average += float64(len(words)) / float64(len(documents))
	}
	return x
}

// bm25Words splits at what is no letter or digit, leaves the commonest words out,
// and takes a plural's s away.
func bm25Words(text string) []string {
	var words []string
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		switch word {
		case "a", "and", "at", "for", "how", "in", "its", "most", "of", "only", "our", "that", "the", "this", "those", "to", "with":
			continue
		}
		if len(word) > 3 {
			word = strings.TrimSuffix(word, "s")
		}
		words = append(words, word)
	}
	return words
}

// search returns the ids of the n best documents.
func (x *bm25) search(query string, n int) []string {
	var found []int
	for _, word := range bm25Words(query) {
		postings := x.postings[word]
		df, all := float64(len(postings)), float64(len(x.ids))
		idf := math.Log(1 + (all-df+.5)/(df+.5))
		for _, p := range postings {
			if x.scores[p.doc] == 0 {
				found = append(found, p.doc)
			}
			x.scores[p.doc] += idf * p.times * 2.2 / (p.times + 1.2*(.25+.75*x.lengths[p.doc]/x.average))
		}
	}
	better := func(a, b int) bool { return x.scores[a] > x.scores[b] || x.scores[a] == x.scores[b] && a < b }
	var best []int
	for _, doc := range found {
		if len(best) == n && !better(doc, best[n-1]) {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, doc, func(a, b int) int {
			if better(a, b) {
				return -1
			}
			return 1
		})
		best = slices.Insert(best, at, doc)
		best = best[:min(len(best), n)]
	}
	ids := make([]string, len(best))
	for i, doc := range best {
		ids[i] = x.ids[doc]
	}
	for _, doc := range found {
		x.scores[doc] = 0
	}
	return ids
}
