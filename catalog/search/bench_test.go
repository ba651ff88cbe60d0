package search_test

import (
	"fmt"
	"testing"

	"github.com/heddle-dev/heddle/catalog/search"
)

// manyDocuments are ten thousand documents, each with some words that few others
// have, and queries that each ask for one of them.
func manyDocuments() ([]search.Document, []string) {
	documents, _ := sample(1, 10_000)
	var queries []string
	for i := range documents {
		own := fmt.Sprintf("w%dx", i*7%3000)
		documents[i].Description += " " + own
		if i%25 == 0 {
			queries = append(queries, fmt.Sprintf("Could you %s the %s for me?", documents[i].Name, own))
		}
	}
	return documents, queries
}

func BenchmarkBuild(b *testing.B) {
	documents, _ := manyDocuments()
	for b.Loop() {
		search.Build(documents)
	}
}

func BenchmarkSearch(b *testing.B) {
	documents, queries := manyDocuments()
	x := search.Build(documents)
	narrow := x.Restrict(func(id string) bool { return id[2] != '1' })
	for _, bench := range []struct {
		name  string
		index *search.Index
	}{{"all", x}, {"restricted", narrow}} {
		b.Run(bench.name, func(b *testing.B) {
			i := 0
			for b.Loop() {
				bench.index.Search(search.Query{Texts: queries[i%len(queries):][:1]})
				i++
			}
		})
	}
}
