package search_test

import (
	"os"
	"testing"

	"github.com/heddle-dev/heddle/catalog/search"
	"github.com/heddle-dev/heddle/catalog/search/evaluate"
)

func BenchmarkProf(b *testing.B) {
	var all []search.Document
	var qs []evaluate.Query
	for _, n := range []string{"/work/shared/retrieval/seal-tools", "/work/shared/retrieval/bfcl-pooled", "/work/shared/retrieval/metatool", "/tmp/se/rest/rest"} {
		f, _ := os.Open(n + "/tools.jsonl")
		t, err := evaluate.ReadTools(f, n)
		if err != nil {
			b.Fatal(err)
		}
		f, _ = os.Open(n + "/queries.jsonl")
		q, err := evaluate.ReadQueries(f, n, t)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, t...)
		qs = append(qs, q...)
	}
	for i := range 2000 {
		d := all[i*4]
		d.ID += "#"
		all = append(all, d)
	}
	b.Logf("%d tools", len(all))
	b.Run("build", func(b *testing.B) {
		for b.Loop() {
			search.Build(all)
		}
	})
	ix := search.Build(all)
	b.Run("search", func(b *testing.B) {
		i := 0
		for b.Loop() {
			ix.Search(search.Query{Texts: []string{qs[i*31%len(qs)].Text}})
			i++
		}
	})
	b.Run("short", func(b *testing.B) {
		i := 0
		for b.Loop() {
			ix.Search(search.Query{Texts: []string{all[i*31%len(all)].Description[:min(40, len(all[i*31%len(all)].Description))]}})
			i++
		}
	})
}
