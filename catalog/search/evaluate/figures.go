package evaluate

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/heddle-dev/heddle/catalog/search"
)

// Figures say how well the tools of a set are found: means over the queries, in
// percent, of at best 100.
type Figures struct {
	// HitAt1 is how often the first hit is wanted.
	HitAt1 float64 `json:"hit@1"`
	// RecallAt5 and RecallAt10 are the shares of the wanted tools that are among the
	// first five and ten hits.
	RecallAt5  float64 `json:"recall@5"`
	RecallAt10 float64 `json:"recall@10"`
	// NDCGAt10 is the normalized discounted cumulative gain of the first ten hits: 100
	// if all that are wanted come first, less the later they come.
	NDCGAt10 float64 `json:"ndcg@10"`
	// P50MS is how long a search takes in the median, in milliseconds.
	P50MS float64 `json:"p50_ms"`
}

// depth is how many hits are looked at.
const depth = 10

// Outcome is what became of one query.
type Outcome struct {
	Query Query
	// Hits are the ids of the first ten hits.
	Hits []string
	// Found is how many of the wanted tools are among them.
	Found int
}

// Run searches for each query and measures what is found. After each it calls
// each, if that is not nil. It ends with the context's error if that is done
// before.
func Run(ctx context.Context, index *search.Index, queries []Query, each func(Outcome)) (Figures, error) {
	if len(queries) == 0 {
		return Figures{}, errors.New("there are no queries to measure with")
	}
	var sum Figures
	times := make([]time.Duration, 0, len(queries))
	for _, query := range queries {
		if err := ctx.Err(); err != nil {
			return Figures{}, err
		}
		began := time.Now()
		result := index.Search(search.Query{Texts: []string{query.Text}, Limit: depth})
		times = append(times, time.Since(began))
		outcome := Outcome{Query: query}
		for _, hit := range result.Hits {
			outcome.Hits = append(outcome.Hits, hit.ID)
		}
		outcome.Found = sum.add(query, outcome.Hits)
		if each != nil {
			each(outcome)
		}
	}
	mean := func(sum float64) float64 { return rounded(100*sum/float64(len(queries)), 100) }
	slices.Sort(times)
	return Figures{
		HitAt1: mean(sum.HitAt1), RecallAt5: mean(sum.RecallAt5), RecallAt10: mean(sum.RecallAt10),
		NDCGAt10: mean(sum.NDCGAt10), P50MS: rounded(times[len(times)/2].Seconds()*1000, 10_000),
	}, nil
}

// add adds what the hits of one query are worth, from 0 to 1, and returns how many
// of the wanted tools are among them.
func (f *Figures) add(query Query, hits []string) int {
	var found [depth]int // wanted tools among the hits up to there
	var gain, ideal float64
	n, seen := 0, make([]bool, len(query.Wanted))
	for place := range depth {
		if place < len(hits) {
			wanted := slices.IndexFunc(query.Wanted, func(ids map[string]bool) bool { return ids[hits[place]] })
			if wanted >= 0 && !seen[wanted] {
				seen[wanted] = true
				n++
				gain += discount(place)
			}
		}
		found[place] = n
		if place < len(query.Wanted) {
			ideal += discount(place)
		}
	}
	of := float64(len(query.Wanted))
	f.HitAt1 += float64(found[0])
	f.RecallAt5 += float64(found[4]) / of
	f.RecallAt10 += float64(n) / of
	f.NDCGAt10 += gain / ideal
	return n
}

// discount is what a wanted tool is worth at a place, 0 being the first.
func discount(place int) float64 { return 1 / math.Log2(float64(place+2)) }

// rounded is a figure rounded to one part of parts.
func rounded(value, parts float64) float64 { return math.Round(value*parts) / parts }
