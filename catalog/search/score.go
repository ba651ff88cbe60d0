package search

import (
	"math"
	"math/bits"
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
	// known says that no further documents are to be found, and unwanted, if set, which
	// documents to leave out.
	known    bool
	unwanted func(doc int32) bool
	// gains are what the concept at hand brings, to the documents in gaining.
	gains   []float32
	gaining []int32
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
	s.matching, s.perfect = s.matching[:0], 0
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
	s.unwanted = nil
	if x.filters(q) {
		s.unwanted = func(doc int32) bool { return !x.wants(q, doc) }
	}
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
		s.blend()
	}
	for _, doc := range s.matching {
		if x.docs[doc].deprecated {
			s.scores[doc] *= deprecatedWeight
		}
	}
}

// find adds what a concept brings.
func (s *scratch) find(x *Index, c *concept) {
	switch {
	case len(c.related) > 0:
		s.gather(x, c)
	case c.term != noTerm:
		docs, weights := x.postings(c.term)
		factor := c.weight / fullWeight
		for i, doc := range docs {
			s.gain(c, doc, factor*float32(weights[i]))
		}
	}
}

// gain adds what a concept brings a document.
func (s *scratch) gain(c *concept, doc int32, gain float32) {
	if s.scores[doc] == 0 {
		if s.known || s.unwanted != nil && s.unwanted(doc) {
			return
		}
		s.matching = append(s.matching, doc)
	}
	s.scores[doc] += gain
	if s.clauses > 0 {
		part := s.part(doc)
		for left := c.clauses & (1<<s.clauses - 1); left != 0; left &= left - 1 {
			part[bits.TrailingZeros8(uint8(left))] += gain
		}
	}
}

// part are the scores of a document by clause.
func (s *scratch) part(doc int32) []float32 {
	return s.parts[int(doc)*s.clauses:][:s.clauses]
}

// gather adds what a concept brings that other words stand for too: the best of
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
	for _, doc := range gaining {
		s.gain(c, doc, gains[doc])
		gains[doc] = 0
	}
	s.gaining = gaining
}

// blend gives each clause a say of its own: a document that is the best for one
// of several requests would else stand behind those that have a little of each.
func (s *scratch) blend() {
	var best float32
	var top, scale [maxClauses]float32
	for _, doc := range s.matching {
		best = max(best, s.scores[doc])
		for k, score := range s.part(doc) {
			top[k] = max(top[k], score)
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
