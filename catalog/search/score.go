package search

import "math"

// scratch is the working memory of one search. Its arrays have an element for each
// document and are zero between searches.
type scratch struct {
	request request
	// scores are what the documents have of the query; matching are the documents
	// that have any.
	scores   []float32
	matching []int32
	// parts are the scores by clause, if there are several.
	parts [maxClauses][]float32
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
		for _, part := range s.parts[:s.request.clauses] {
			if part != nil {
				part[doc] = 0
			}
		}
	}
	s.matching, s.perfect = s.matching[:0], 0
	s.links.reset()
	s.request.reset()
}

// score gives each document that the query wants what it has of each concept.
func (s *scratch) score(x *Index, q *Query) {
	clauses := s.request.clauses
	if clauses < 2 {
		clauses = 0
	}
	for i := range clauses {
		if s.parts[i] == nil {
			s.parts[i] = make([]float32, len(x.docs))
		}
	}
	for i := range s.request.concepts {
		c := &s.request.concepts[i]
		s.perfect += c.weight
		s.gather(x, c)
		for _, doc := range s.gaining {
			gain := s.gains[doc]
			s.gains[doc] = 0
			if s.scores[doc] == 0 {
				if !x.wants(q, doc) {
					continue
				}
				s.matching = append(s.matching, doc)
			}
			s.scores[doc] += gain
			for k := range clauses {
				if c.clauses&(1<<k) != 0 {
					s.parts[k][doc] += gain
				}
			}
		}
		s.gaining = s.gaining[:0]
	}
	if clauses > 0 {
		s.blend(clauses)
	}
	for _, doc := range s.matching {
		if x.docs[doc].deprecated {
			s.scores[doc] *= deprecatedWeight
		}
	}
}

// gather finds what a concept brings to documents: the word itself, and the best
// of what is related to it.
func (s *scratch) gather(x *Index, c *concept) {
	for _, r := range c.related {
		factor := c.weight * r.weight / fullWeight
		for i := x.offsets[r.term]; i < x.offsets[r.term+1]; i++ {
			doc := x.postDocs[i]
			if s.gains[doc] == 0 {
				s.gaining = append(s.gaining, doc)
			}
			s.gains[doc] = max(s.gains[doc], factor*float32(x.postWeights[i]))
		}
	}
	if c.term == noTerm {
		return
	}
	factor := c.weight / fullWeight
	for i := x.offsets[c.term]; i < x.offsets[c.term+1]; i++ {
		doc := x.postDocs[i]
		if s.gains[doc] == 0 {
			s.gaining = append(s.gaining, doc)
		}
		s.gains[doc] += factor * float32(x.postWeights[i])
	}
}

// blend gives each clause a say of its own: a document that is the best for one
// of several requests would else stand behind those that have a little of each.
func (s *scratch) blend(clauses int) {
	var best float32
	for _, doc := range s.matching {
		best = max(best, s.scores[doc])
	}
	var scale [maxClauses]float32
	for k := range clauses {
		var top float32
		for _, doc := range s.matching {
			top = max(top, s.parts[k][doc])
		}
		if top > 0 {
			trust := math.Pow(math.Min(1, float64(top/best)), clauseTrust)
			scale[k] = best / top * float32(trust) * clauseWeight
		}
	}
	for _, doc := range s.matching {
		var most float32
		for k := range clauses {
			most = max(most, s.parts[k][doc]*scale[k])
		}
		s.scores[doc] += most
	}
	s.perfect *= 1 + clauseWeight
}
