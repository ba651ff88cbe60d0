package search

import (
	"math"
	"math/bits"
	"slices"
)

// scratch is the working memory of one search. Its arrays have an element for each
// document and are zero between searches.
type scratch struct {
	request request
	// scores are what the documents have of the query; matching are the documents
	// that have any.
	scores   []float32
	matching []int32
	// parts are the scores by clause, if there are several clauses: those of one
	// document beside each other.
	parts   []float32
	clauses int
	// leaders are the documents that fit each clause best, or -1.
	leaders [maxClauses]int32
	// known says that no further documents are to be found, and filtered that there
	// are some that the query may not want.
	known, filtered bool
	query           *Query
	// gaining are documents that gain by the concept at hand, and gained is what; gains
	// has the same for each document.
	gaining []int32
	gained  []float32
	gains   []float32
	// perfect is the score of a document that matches all of the query.
	perfect float32

	links     links
	heap      []int32
	poolGains []float32
	// named are the documents that the query names, ordered those that are returned.
	named, ordered []int32
}

// scratch returns working memory, which the caller puts back.
func (s *store) scratch() *scratch {
	if used, ok := s.scratches.Get().(*scratch); ok {
		return used
	}
	n := len(s.docs)
	fresh := &scratch{scores: make([]float32, n), gains: make([]float32, n)}
	fresh.request.byStem = make(map[string]int)
	fresh.request.reset()
	return fresh
}

func (s *scratch) reset() {
	for _, doc := range s.matching {
		s.scores[doc] = 0
		clear(s.part(doc))
	}
	s.matching, s.perfect, s.query = s.matching[:0], 0, nil
	s.links.reset()
	s.request.reset()
}

// score gives each document that the query wants what it has of each concept.
func (s *scratch) score(x *Index, q *Query) {
	if s.clauses = s.request.clauses; s.clauses < 2 {
		s.clauses = 0
	}
	if need := s.clauses * len(x.docs); len(s.parts) < need {
		s.parts = make([]float32, need)
	}
	s.query, s.filtered = q, x.filters(q)
	for _, common := range []bool{false, true} {
		s.known = common && len(s.matching) >= enough
		for i := range s.request.concepts {
			if c := &s.request.concepts[i]; c.common == common {
				s.perfect += c.weight
				s.find(x, c)
			}
		}
	}
	if s.clauses > 0 {
		s.blend(x)
	}
	for _, doc := range s.matching {
		if x.docs[doc].deprecated {
			s.scores[doc] *= deprecatedWeight
		}
	}
}

// find adds what a concept brings.
func (s *scratch) find(x *Index, c *concept) {
	if len(c.related) > 0 {
		s.gather(x, c)
		s.add(x, c, s.gaining)
	} else if c.term != noTerm {
		docs, weights := x.postings(c.term)
		factor := c.weight / fullWeight
		s.gained = slices.Grow(s.gained[:0], len(docs))[:len(docs)]
		for i, weight := range weights {
			s.gained[i] = factor * float32(weight)
		}
		s.add(x, c, docs)
	}
}

// gather finds what a concept brings that other words stand for too: the best of
// them, and the word itself.
func (s *scratch) gather(x *Index, c *concept) {
	gains, gaining := s.gains, s.gaining[:0]
	for _, r := range c.related {
		factor := c.weight * r.weight / fullWeight
		docs, weights := x.postings(r.term)
		for i, doc := range docs {
			gain := factor * float32(weights[i])
			if gains[doc] == 0 {
				gaining = append(gaining, doc)
			}
			if gain > gains[doc] {
				gains[doc] = gain
			}
		}
	}
	if c.term != noTerm {
		factor := c.weight / fullWeight
		docs, weights := x.postings(c.term)
		for i, doc := range docs {
			if gains[doc] == 0 {
				gaining = append(gaining, doc)
			}
			gains[doc] += factor * float32(weights[i])
		}
	}
	s.gained = slices.Grow(s.gained[:0], len(gaining))[:len(gaining)]
	for i, doc := range gaining {
		s.gained[i], gains[doc] = gains[doc], 0
	}
	s.gaining = gaining
}

// add adds what documents gain by a concept, which is in gained.
func (s *scratch) add(x *Index, c *concept, docs []int32) {
	scores, gained := s.scores, s.gained
	for i, doc := range docs {
		if scores[doc] == 0 {
			if s.known || s.filtered && !x.wants(s.query, doc) {
				gained[i] = 0
				continue
			}
			s.matching = append(s.matching, doc)
		}
		scores[doc] += gained[i]
	}
	parts, stride := s.parts, s.clauses
	for left := c.clauses & (1<<stride - 1); left != 0; left &= left - 1 {
		k := bits.TrailingZeros8(uint8(left))
		for i, doc := range docs {
			parts[int(doc)*stride+k] += gained[i]
		}
	}
}

// part are the scores of a document by clause.
func (s *scratch) part(doc int32) []float32 {
	return s.parts[int(doc)*s.clauses:][:s.clauses]
}

// blend gives each clause a say of its own: a document that is the best for one
// of several requests would else stand behind those that have a little of each.
func (s *scratch) blend(x *Index) {
	var best float32
	var top, scale [maxClauses]float32
	s.leaders = [maxClauses]int32{-1, -1, -1, -1, -1, -1, -1, -1}
	for _, doc := range s.matching {
		best = max(best, s.scores[doc])
		for k, score := range s.part(doc) {
			if score > top[k] || score == top[k] && score > 0 && s.before(x, doc, s.leaders[k]) {
				top[k], s.leaders[k] = score, doc
			}
		}
	}
	for k := range s.clauses {
		if top[k] > 0 {
			trust := math.Pow(math.Min(1, float64(top[k]/best)), clauseTrust)
			scale[k] = best / top[k] * float32(trust) * clauseWeight
		}
	}
	for _, doc := range s.matching {
		var most float32
		for k, score := range s.part(doc) {
			most = max(most, score*scale[k])
		}
		s.scores[doc] += most
	}
	s.perfect *= 1 + clauseWeight
}
