package search

import (
	"math"
	"slices"
)

// rank returns the first documents that match, in order; at most n.
func (s *scratch) rank(x *Index, q *Query, n int) []int32 {
	s.named = append(s.named[:0], x.named(q)...)
	for _, doc := range s.named {
		if s.scores[doc] == 0 {
			s.scores[doc] = math.SmallestNonzeroFloat32
			s.matching = append(s.matching, doc)
		}
	}
	best := s.best(x, max(n, poolSize)+len(s.named))
	best = slices.DeleteFunc(best, func(doc int32) bool { return slices.Contains(s.named, doc) })

	s.links.set(x, s.request.concepts)
	s.vary(x, best[:min(len(best), poolSize)])
	best = s.lead(best)
	if q.PerNamespace > 0 {
		s.spread(x, best[:min(len(best), poolSize)], q.PerNamespace)
	}
	s.ordered = append(append(s.ordered[:0], s.named...), best...)
	return s.ordered[:min(n, len(s.ordered))]
}

// before reports whether document a has the better score, or the lesser id.
func (s *scratch) before(x *Index, a, b int32) bool {
	if s.scores[a] != s.scores[b] {
		return s.scores[a] > s.scores[b]
	}
	return x.docs[a].order < x.docs[b].order
}

// best are the n best documents by score alone, best first.
func (s *scratch) best(x *Index, n int) []int32 {
	heap := s.heap[:0] // the worst of them on top
	var least float32  // its score, once the heap is full
	for _, doc := range s.matching {
		switch {
		case s.scores[doc] < least:
		case len(heap) < n:
			heap = append(heap, doc)
			for i := len(heap) - 1; i > 0 && s.before(x, heap[(i-1)/2], heap[i]); i = (i - 1) / 2 {
				heap[i], heap[(i-1)/2] = heap[(i-1)/2], heap[i]
			}
			if len(heap) == n {
				least = s.scores[heap[0]]
			}
		case s.before(x, doc, heap[0]):
			heap[0] = doc
			s.sink(x, heap)
			least = s.scores[heap[0]]
		}
	}
	s.heap = heap
	slices.SortFunc(heap, func(a, b int32) int {
		if s.before(x, a, b) {
			return -1
		}
		return 1
	})
	return heap
}

// sink moves the top of a heap down to its place.
func (s *scratch) sink(x *Index, heap []int32) {
	for i := 0; ; {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
			if s.before(x, heap[worst], heap[child]) {
				worst = child
			}
		}
		if worst == i {
			return
		}
		heap[i], heap[worst] = heap[worst], heap[i]
		i = worst
	}
}

// lead moves the best document of each clause up, if it is not among the first: no
// part of a request goes without an answer.
func (s *scratch) lead(best []int32) []int32 {
	for _, doc := range s.leaders[:s.clauses] {
		if doc < 0 || slices.Contains(s.named, doc) {
			continue
		}
		place := slices.Index(best, doc)
		if place < 0 {
			place = len(best)
			best = append(best, doc)
		}
		if place > leadPlace {
			toFront(best[leadPlace:], place-leadPlace)
		}
	}
	return best
}

// spread lets hits of a namespace that has had its share wait for hits of others
// that are at least half as good.
func (s *scratch) spread(x *Index, pool []int32, share int) {
	had := make(map[string]int)
	for place := range pool {
		next := place
		for i := place; i < len(pool) && s.scores[pool[i]]*2 >= s.scores[pool[place]]; i++ {
			if had[x.docs[pool[i]].namespace] < share {
				next = i
				break
			}
		}
		had[x.docs[pool[next]].namespace]++
		toFront(pool[place:], next-place)
	}
}

// toFront moves the element at i to the front, and those before it back.
func toFront[T any](list []T, i int) {
	moved := list[i]
	copy(list[1:], list[:i])
	list[0] = moved
}
