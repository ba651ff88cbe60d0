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
	// rows are the scores as they grow, a row for each document: that of the whole
	// query, and those by clause if there are several. Beside each other they are found
	// with one look at the memory, which is what a search spends its time on.
	rows    []float32
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
	poolGains []gain
	answered  answered
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
	rows := s.scores
	if s.clauses > 0 {
		if need := (1 + s.clauses) * len(x.docs); len(s.rows) < need {
			s.rows = make([]float32, need)
		}
		rows = s.rows
	}
	s.query, s.filtered = q, x.filters(q)
	for _, common := range []bool{false, true} {
		s.known = common && len(s.matching) >= enough
		for i := range s.request.concepts {
			if c := &s.request.concepts[i]; c.common == common {
				s.perfect += c.weight
				docs := s.find(x, c)
				s.admit(x, docs, rows)
				s.add(c, docs, rows)
			}
		}
	}
	if s.clauses > 0 {
		s.blend(x)
	}
	for _, doc := range x.deprecated {
		s.scores[doc] *= deprecatedWeight
	}
}

// find finds the documents that gain by a concept, and sets gained to what.
func (s *scratch) find(x *Index, c *concept) []int32 {
	if len(c.related) > 0 {
		s.gather(x, c)
		return s.gaining
	}
	if c.term == noTerm {
		return nil
	}
	docs, weights := x.postings(c.term)
	factor := c.weight / fullWeight
	s.gained = slices.Grow(s.gained[:0], len(docs))[:len(docs)]
	for i, weight := range weights {
		s.gained[i] = factor * float32(weight)
	}
	return docs
}

// gather finds what a concept brings that other words stand for too: the best of
// them, and the word itself.
func (s *scratch) gather(x *Index, c *concept) {
	gains := s.gains
	s.gaining = s.gaining[:0]
	for _, r := range c.related {
		factor := c.weight * r.weight / fullWeight
		docs, weights := x.postings(r.term)
		s.gaining = appendNew(s.gaining, docs, gains, 1)
		for i, doc := range docs {
			gains[doc] = greater(gains[doc], factor*float32(weights[i]))
		}
	}
	if c.term != noTerm {
		factor := c.weight / fullWeight
		docs, weights := x.postings(c.term)
		s.gaining = appendNew(s.gaining, docs, gains, 1)
		for i, doc := range docs {
			gains[doc] += factor * float32(weights[i])
		}
	}
	s.gained = slices.Grow(s.gained[:0], len(s.gaining))[:len(s.gaining)]
	for i, doc := range s.gaining {
		s.gained[i], gains[doc] = gains[doc], 0
	}
}

// admit makes documents match that did not, or takes from gained what they would
// gain.
func (s *scratch) admit(x *Index, docs []int32, rows []float32) {
	stride := int32(1 + s.clauses) //nolint:gosec // at most 1 + maxClauses
	switch gained := s.gained[:len(docs)]; {
	case s.known:
		for i, doc := range docs {
			gain := math.Float32bits(gained[i])
			if math.Float32bits(rows[doc*stride]) == 0 {
				gain = 0
			}
			gained[i] = math.Float32frombits(gain)
		}
	case s.filtered:
		for i, doc := range docs {
			if rows[doc*stride] == 0 {
				if x.wants(s.query, doc) {
					s.matching = append(s.matching, doc)
				} else {
					gained[i] = 0
				}
			}
		}
	default:
		s.matching = appendNew(s.matching, docs, rows, stride)
	}
}

// add adds what documents gain by a concept, which is in gained, to their rows.
func (s *scratch) add(c *concept, docs []int32, rows []float32) {
	stride, gained := int32(1+s.clauses), s.gained[:len(docs)] //nolint:gosec // as in admit
	for i, doc := range docs {
		rows[doc*stride] += gained[i]
	}
	for left := c.clauses & (1<<s.clauses - 1); left != 0; left &= left - 1 {
		part := int32(1 + bits.TrailingZeros8(uint8(left))) //nolint:gosec // as above
		for i, doc := range docs {
			rows[doc*stride+part] += gained[i]
		}
	}
}

// appendNew appends to list the documents that have nothing in rows of a length.
// Like the other loops over many documents it has no branch that could go either
// way: a wrong guess of the processor costs more than the work itself.
func appendNew(list, docs []int32, rows []float32, stride int32) []int32 {
	n := len(list)
	list = slices.Grow(list, len(docs))[:n+len(docs)]
	for _, doc := range docs {
		list[n] = doc
		if math.Float32bits(rows[doc*stride]) == 0 {
			n++
		}
	}
	return list[:n]
}

// greater is the greater of two numbers that are not negative: such have the order
// of their bits.
func greater(a, b float32) float32 {
	return math.Float32frombits(max(math.Float32bits(a), math.Float32bits(b)))
}

// blend makes the scores of the rows, and gives each clause a say of its own: a
// document that is the best for one of several requests would else stand behind
// those that have a little of each.
func (s *scratch) blend(x *Index) {
	var best float32
	var top, scale [maxClauses]float32
	for k := range top {
		top[k], s.leaders[k] = math.SmallestNonzeroFloat32, -1
	}
	stride := 1 + s.clauses
	for _, doc := range s.matching {
		row := s.rows[int(doc)*stride:][:stride]
		s.scores[doc] = row[0]
		best = greater(best, row[0])
		for k, score := range row[1:] {
			if score >= top[k] && (s.leaders[k] < 0 || score > top[k] || s.before(x, doc, s.leaders[k])) {
				top[k], s.leaders[k] = score, doc
			}
		}
	}
	for k := range s.clauses {
		if s.leaders[k] >= 0 {
			trust := math.Pow(math.Min(1, float64(top[k]/best)), clauseTrust)
			scale[k] = best / top[k] * float32(trust) * clauseWeight
		}
	}
	for _, doc := range s.matching {
		row := s.rows[int(doc)*stride:][:stride]
		var most uint32 // as in greater
		for k, score := range row[1:] {
			most = max(most, math.Float32bits(score*scale[k]))
			row[1+k] = 0
		}
		row[0] = 0
		s.scores[doc] += math.Float32frombits(most)
	}
	s.perfect *= 1 + clauseWeight
}
