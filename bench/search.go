package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/catalog/search"
)

const (
	searchTools   = 10_000
	searchQueries = 400
	searchRounds  = 5
	// searchHits is how many hits are asked for.
	searchHits = 10
)

// searching measures search among many tools. The baseline is the least that ranks:
// plain BM25 over the words as they are, with nothing but the ids in its answer.
func searching(ctx context.Context, report *Report) error {
	documents, queries := manyTools(searchTools, searchQueries)
	plain := newBM25(documents)

	before := heap()
	began := time.Now()
	index := search.Build(documents)
	took := time.Since(began)
	size := float64(heap()-before) / (1 << 20)
	runtime.KeepAlive(documents)

	var ours, baseline []time.Duration
	for range searchRounds {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("benchmark was ended: %w", err)
		}
		for _, query := range queries {
			began := time.Now()
			result := index.Search(search.Query{Texts: []string{query}, Limit: searchHits})
			searched := time.Now()
			ids := plain.search(query, searchHits)
			ended := time.Now()
			if len(result.Hits) == 0 || len(ids) == 0 {
				return fmt.Errorf("search: %q finds %d and %d tools", query, len(result.Hits), len(ids))
			}
			ours, baseline = append(ours, searched.Sub(began)), append(baseline, ended.Sub(searched))
		}
	}
	if err := report.Compare("search_p50_us", micros(median(ours)), micros(median(baseline)), "µs"); err != nil {
		return err
	}
	if err := report.Add("search_build_ms", took.Seconds()*1000, "ms"); err != nil {
		return err
	}
	return report.Add("search_index_mib", size, "MiB")
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// heap is the memory in use, in bytes.
func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc) //nolint:gosec // no machine has so much
}

// manyTools makes tools as services have them, and queries that each ask for one of
// them in some of its words.
func manyTools(tools, queries int) ([]search.Document, []string) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same tools each time
	pick := func(list []string) string { return list[random.IntN(len(list))] }
	verbs := strings.Fields("get list create update delete search send export import archive restore assign approve cancel merge")
	things := strings.Fields("invoice order customer ticket message channel calendar event repository branch commit issue " +
		"deployment container cluster database table query dashboard report alert metric campaign contact lead deal " +
		"employee payroll shipment parcel product price discount payment refund subscription document folder file image video")
	parts := strings.Fields("status history owner label comment attachment permission template version summary member setting limit note")
	// Words that few tools have, as products and trades have their own.
	var rare []string
	for range 4000 {
		word := make([]byte, 4+random.IntN(5))
		for i := range word {
			word[i] = "bcdfghklmnprstvz"[random.IntN(16)]
			if i%2 == 1 {
				word[i] = "aeiou"[random.IntN(5)]
			}
		}
		rare = append(rare, string(word))
	}
	var documents []search.Document
	for i := range tools {
		verb, thing, part := pick(verbs), pick(things), pick(parts)
		name, namespace := fmt.Sprintf("%s_%s_%s", verb, thing, part), fmt.Sprintf("service%d", i%200)
		documents = append(documents, search.Document{
			ID: fmt.Sprintf("%s.%s_%d", namespace, name, i), Namespace: namespace, Name: name,
			Description: fmt.Sprintf("Use this to %s the %s of a %s in %s, with its %s and the %s that belongs to it. Returns the %s.",
				verb, part, thing, pick(rare), pick(parts), pick(things), pick(rare)),
			Parameters: []search.Parameter{
				{Name: thing + "_id", Description: "The id of the " + thing},
				{Name: pick(parts), Description: "Only those with this " + pick(rare)},
				{Name: "limit", Description: "How many to return at most"},
			},
			Operation: "read",
		})
	}
	var texts []string
	for range queries {
		words := strings.Fields(documents[random.IntN(len(documents))].Description)
		texts = append(texts, fmt.Sprintf("%s the %s of %s in our %s", words[3], words[5], words[8], strings.Trim(words[10], ",")))
	}
	return documents, texts
}
