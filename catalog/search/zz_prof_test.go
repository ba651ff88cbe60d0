package search_test

import (
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

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

func TestHeap(t *testing.T) {
	var all []search.Document
	for _, n := range []string{"/work/shared/retrieval/seal-tools", "/work/shared/retrieval/bfcl-pooled", "/work/shared/retrieval/metatool", "/tmp/se/rest/rest"} {
		f, _ := os.Open(n + "/tools.jsonl")
		ts, _ := evaluate.ReadTools(f, n)
		all = append(all, ts...)
	}
	for i := range 2000 {
		d := all[i*4]
		d.ID += "#"
		all = append(all, d)
	}
	search.Build(all[:1])
	var a, b runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&a)
	ix := search.Build(all)
	runtime.GC()
	runtime.ReadMemStats(&b)
	t.Logf("%d tools: %.1f MB retained", ix.Len(), float64(b.HeapAlloc-a.HeapAlloc)/1e6)
	runtime.KeepAlive(all)
}

func BenchmarkLong(b *testing.B) {
	var all []search.Document
	var qs []evaluate.Query
	for _, n := range []string{"/work/shared/retrieval/seal-tools", "/work/shared/retrieval/bfcl-pooled", "/work/shared/retrieval/metatool", "/tmp/se/rest/rest"} {
		f, _ := os.Open(n + "/tools.jsonl")
		t, _ := evaluate.ReadTools(f, n)
		f, _ = os.Open(n + "/queries.jsonl")
		q, _ := evaluate.ReadQueries(f, n, t)
		all = append(all, t...)
		if len(qs) == 0 {
			qs = append(qs, q...)
		}
	}
	for i := range 2000 {
		d := all[i*4]
		d.ID += "#"
		all = append(all, d)
	}
	ix := search.Build(all)
	var ts []time.Duration
	i := 0
	for b.Loop() {
		t := time.Now()
		ix.Search(search.Query{Texts: []string{qs[i*31%len(qs)].Text}})
		ts = append(ts, time.Since(t))
		i++
	}
	slices.Sort(ts)
	b.ReportMetric(float64(ts[len(ts)/2].Microseconds()), "p50us")
}
