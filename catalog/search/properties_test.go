package search_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/catalog/search"
)

// sample makes n documents of random words, some of them English, and queries of
// the same words.
func sample(seed uint64, n int) ([]search.Document, []string) {
	random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a sample that is the same each time
	words := strings.Fields("get list create delete remove update find order orders invoice refund weather forecast rain " +
		"flight hotel music song movie stock price user account file folder message channel email calendar event task note " +
		"translate summarize calculate loan tax map route car dealer recipe doctor school github repository issue pull request " +
		"webpage page web PDF URLs getHTTPStatus qubit zephyr 天気予報 löschen 2 of the")
	phrase := func(least, most int) string {
		var text []string
		for range least + random.IntN(most-least+1) {
			text = append(text, words[random.IntN(len(words))])
		}
		return strings.Join(text, " ")
	}
	var documents []search.Document
	for i := range n {
		name := strings.ReplaceAll(phrase(1, 3), " ", "_")
		namespace := fmt.Sprintf("ns%d", random.IntN(5))
		documents = append(documents, search.Document{
			ID: fmt.Sprintf("%s.%s.%d", namespace, name, i), Namespace: namespace, Name: name, Description: phrase(0, 15),
			Parameters: []search.Parameter{{Name: phrase(1, 2), Description: phrase(0, 8)}}, Tags: []string{phrase(1, 1)},
			Operation: []string{"read", "write"}[random.IntN(2)], Deprecated: random.IntN(10) == 0,
		})
	}
	queries := []string{"", "get_order", "oder", "flihgt", "sendmail webpge", "wether. then pull requset"}
	for range 60 {
		queries = append(queries, phrase(1, 6), phrase(1, 9)+". Then "+phrase(1, 9)+", and "+phrase(1, 3))
	}
	return documents, queries
}

// What is hidden has no effect whatever: neither on hits nor on scores, counts,
// suggestions or namespaces.
func TestRestrictIsAsIfBuiltFromTheRest(t *testing.T) {
	for seed := range uint64(4) {
		documents, queries := sample(seed, 600)
		// Some words are nowhere but in hidden documents.
		allowed := func(id string) bool { return strings.Contains(id, "ns1") || strings.HasSuffix(id, "3") }
		for i := range documents {
			if !allowed(documents[i].ID) {
				documents[i].Description += " hiddenword oders flihgts"
			}
		}
		var visible []search.Document
		for _, d := range documents {
			if allowed(d.ID) {
				visible = append(visible, d)
			}
		}
		narrow, alone := search.Build(documents).Restrict(allowed), search.Build(visible)
		if narrow.Len() != alone.Len() {
			t.Fatalf("%d documents are visible, want %d", narrow.Len(), alone.Len())
		}
		for _, text := range append(queries, "hiddenword", "hiddenwrd", "oders") {
			for _, query := range []search.Query{
				{Texts: []string{text}, Limit: 30},
				{Texts: []string{text, "weather"}, Namespace: "ns1", Operation: "read", PerNamespace: 2},
			} {
				if diff := cmp.Diff(alone.Search(query), narrow.Search(query)); diff != "" {
					t.Fatalf("seed %d, %+v: hidden documents show (-without +with):\n%s", seed, query, diff)
				}
			}
		}
	}
}

func TestOrderOfDocumentsHasNoEffect(t *testing.T) {
	documents, queries := sample(7, 400)
	x := search.Build(documents)
	slices.Reverse(documents)
	y := search.Build(documents)
	for _, text := range queries {
		query := search.Query{Texts: []string{text}, Limit: 40, PerNamespace: 4}
		if diff := cmp.Diff(x.Search(query), y.Search(query)); diff != "" {
			t.Fatalf("%q depends on the order of documents:\n%s", text, diff)
		}
	}
}

func TestPagesAreOneList(t *testing.T) {
	documents, queries := sample(3, 500)
	x := search.Build(documents)
	for _, text := range queries {
		for _, share := range []int{0, 2} {
			var paged []search.Hit
			for offset := 0; offset < search.MaxLimit; offset += 7 {
				page := x.Search(search.Query{Texts: []string{text}, Offset: offset, Limit: 7, PerNamespace: share})
				paged = append(paged, page.Hits...)
			}
			all := x.Search(search.Query{Texts: []string{text}, Limit: search.MaxLimit, PerNamespace: share})
			if diff := cmp.Diff(all.Hits[:min(len(all.Hits), len(paged))], paged[:min(len(all.Hits), len(paged))]); diff != "" {
				t.Fatalf("%q: pages differ from the whole:\n%s", text, diff)
			}
			if len(all.Hits) != min(all.Total, search.MaxLimit) {
				t.Fatalf("%q: %d hits of %d", text, len(all.Hits), all.Total)
			}
			seen := make(map[string]bool)
			for _, hit := range paged {
				if seen[hit.ID] {
					t.Fatalf("%q: %s is on two pages", text, hit.ID)
				}
				seen[hit.ID] = true
			}
		}
	}
}

func TestEachIDFindsItsTool(t *testing.T) {
	documents, _ := sample(5, 300)
	x := search.Build(documents)
	for _, d := range documents {
		if got := find(x, d.ID); got[0] != d.ID {
			t.Errorf("%s finds %s first", d.ID, got[0])
		}
		query := "please use " + d.ID + " to get the weather forecast of the flight"
		if got := find(x, query); got[0] != d.ID {
			t.Errorf("%q finds %s first", query, got[0])
		}
	}
}

func TestConcurrentSearches(t *testing.T) {
	documents, queries := sample(9, 300)
	x := search.Build(documents)
	narrow := x.Restrict(func(id string) bool { return strings.HasPrefix(id, "ns1") })
	run := func(i int) search.Result {
		query := search.Query{Texts: queries[i%len(queries):][:1], Limit: 20}
		if i%3 == 0 {
			return narrow.Search(query)
		}
		return x.Search(query)
	}
	var want []search.Result
	for i := range 200 {
		want = append(want, run(i))
	}
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := range want {
				i = (i + 31*worker) % len(want)
				if diff := cmp.Diff(want[i], run(i)); diff != "" {
					t.Errorf("search %d differs beside others:\n%s", i, diff)
					return
				}
			}
		})
	}
	group.Wait()
}

func FuzzSearch(f *testing.F) {
	f.Add("getHTTPStatus of the URLs", "Returns a status.", "get status. Then list URLs")
	f.Add("天気", "天気予報\xff", "e-mail\x00 天")
	f.Add("a_b", strings.Repeat("x", 100), "PileOMth (b*[")
	fixed, _ := sample(1, 30)
	f.Fuzz(func(t *testing.T, name, description, query string) {
		documents := append([]search.Document{{ID: "it", Name: name, Description: description}}, fixed...)
		x := search.Build(documents)
		whole := x.Search(search.Query{Texts: []string{query}, Limit: search.MaxLimit})
		if len(whole.Hits) != whole.Total {
			t.Fatalf("%d hits of %d", len(whole.Hits), whole.Total)
		}
		for _, hit := range whole.Hits {
			if !(hit.Score >= 0 && hit.Score <= 1) {
				t.Fatalf("score of %s is %v", hit.ID, hit.Score)
			}
		}
		again := x.Search(search.Query{Texts: []string{query}, Limit: 5})
		if len(again.Hits) != min(5, whole.Total) {
			t.Fatalf("%d hits of %d on the first page", len(again.Hits), whole.Total)
		}
		for i, hit := range again.Hits {
			if diff := cmp.Diff(whole.Hits[i], hit); diff != "" {
				t.Fatalf("the same query has another answer:\n%s", diff)
			}
		}
		without := func(id string) bool { return id != "it" }
		narrow := x.Restrict(without).Search(search.Query{Texts: []string{query}})
		if diff := cmp.Diff(search.Build(fixed).Search(search.Query{Texts: []string{query}}), narrow); diff != "" {
			t.Fatalf("a hidden document shows:\n%s", diff)
		}
	})
}
