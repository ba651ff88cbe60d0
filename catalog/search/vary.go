package search

import (
	"math"
	"slices"
)

// vary puts those documents of the pool first that bring what those before them do
// not: the words of a query count less once they are answered, and so does a name
// that was there.
func (s *scratch) vary(x *Index, pool []int32) {
	concepts := len(s.request.concepts)
	if len(pool) < 2 || concepts == 0 {
		return
	}
	s.answered.set(concepts)
	s.poolGains = slices.Grow(s.poolGains[:0], len(pool)*concepts)
	gains := make([][]gain, len(pool))
	for i, doc := range pool {
		from := len(s.poolGains)
		s.poolGains = s.links.gains(x, doc, concepts, s.poolGains)
		gains[i] = s.poolGains[from:]
		s.answered.offer(gains[i])
	}
	for _, doc := range s.named {
		s.answered.add(s.links.gains(x, doc, concepts, nil))
	}
	for place := range min(varied, len(pool)) {
		next, most := place, float32(math.Inf(-1))
		for i := place; i < len(pool); i++ {
			score := s.scores[pool[i]]
			if score <= most {
				continue // it can only lose
			}
			if s.namesake(x, pool[i], pool[:place]) {
				score *= 1 - namesakeCost
			}
			if score = s.answered.left(score, gains[i]); score > most {
				next, most = i, score
			}
		}
		s.answered.add(gains[next])
		toFront(pool[place:], next-place)
		toFront(gains[place:], next-place)
	}
}

// namesake reports whether one of the documents before has the same name.
func (s *scratch) namesake(x *Index, doc int32, before []int32) bool {
	name := x.docs[doc].name
	return slices.ContainsFunc(before, func(other int32) bool { return x.docs[other].name == name })
}

// gain is what a concept brings a document.
type gain struct {
	concept int32
	amount  float32
}

// answered says how much of each concept the documents brought that were placed.
type answered struct {
	// share is from 0 to 1, most what a document of the pool has at most.
	share, most []float32
}

func (a *answered) set(concepts int) {
	a.share = slices.Grow(a.share[:0], concepts)[:concepts]
	a.most = slices.Grow(a.most[:0], concepts)[:concepts]
	clear(a.share)
	clear(a.most)
}

// offer notes what a document of the pool has.
func (a *answered) offer(gains []gain) {
	for _, g := range gains {
		a.most[g.concept] = max(a.most[g.concept], g.amount)
	}
}

// add notes that a document was placed.
func (a *answered) add(gains []gain) {
	for _, g := range gains {
		if most := a.most[g.concept]; most > 0 {
			a.share[g.concept] = min(1, max(a.share[g.concept], g.amount/most))
		}
	}
}

// left is what is left of a document's score since others brought the same before
// it.
func (a *answered) left(score float32, gains []gain) float32 {
	for _, g := range gains {
		score -= repeatCost * a.share[g.concept] * g.amount
	}
	return score
}
