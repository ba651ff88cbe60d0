package search

// request is a query that was read.
type request struct {
	concepts []concept
	// clauses is how many parts the request has, at most maxClauses.
	clauses int
	// blank says that there is no letter or digit in it.
	blank bool

	byStem map[string]int // index in concepts
	// clause is the one at hand, and words how many it has.
	clause clauseSet
	words  int
	// previous is the word before in the clause, and chain what is joined to one.
	previous []byte
	chain    chain
}

// chain is a run of words that are written as one, such as PullRequest.
type chain struct {
	text  []byte
	words int
	// lost says that nothing was found for one of them.
	lost bool
}

const (
	maxClauses  = 8
	maxConcepts = 200
)

// clauseSet is a set of clauses, a bit for each.
type clauseSet uint8

// concept is one thing that a query speaks of.
type concept struct {
	word string // of the query
	term int32  // noTerm if no visible document has it
	// weight is what a document gains that has nothing but this word, many times.
	weight float32
	common bool // many documents have it
	// related are terms that stand for it too.
	related []related
	clauses clauseSet
}

// related is a term and what it counts of the word that it stands for.
type related struct {
	term   int32
	weight float32
}

// read takes the query's texts apart.
func (r *request) read(x *Index, texts []string) {
	r.blank = true
	room := MaxQuery
	for _, text := range texts {
		text = clip(text, room)
		room -= len(text)
		splitWords(text, func(word []byte, before separator) {
			r.blank = false
			r.add(x, word, before)
		})
		r.endChain(x)
		r.endClause()
	}
}

// add adds a word of the query.
func (r *request) add(x *Index, word []byte, before separator) {
	if before != joined {
		r.endChain(x)
	}
	if before == sentence || breaks[string(word)] || before == comma && string(word) == "and" {
		r.endClause()
	}
	r.chain.text = append(r.chain.text, word...)
	r.chain.words++
	if !r.note(x, word) {
		r.chain.lost = true
	}
	if len(r.previous) > 0 && before < comma {
		if r.previous = append(r.previous, word...); x.knows(r.previous) {
			r.note(x, r.previous)
		}
	}
	r.previous = append(r.previous[:0], word...)
}

// endChain adds what was written as one word as that, if the tools know it or if
// it may be a misspelling.
func (r *request) endChain(x *Index) {
	if r.chain.lost && r.chain.words > 1 || r.chain.words > 2 && x.knows(r.chain.text) {
		r.note(x, r.chain.text[:min(len(r.chain.text), maxWord)])
	}
	r.chain = chain{text: r.chain.text[:0]}
}

// knows reports whether a visible document has the word.
func (x *Index) knows(word []byte) bool {
	term, known := x.wordTerms[string(word)]
	return known && term != noTerm && x.has(term)
}

// note adds a concept to the clause at hand. It reports false if the word means
// nothing to the index.
func (r *request) note(x *Index, word []byte) bool {
	stemmed, term, stop := x.stem(word)
	if stop {
		return true
	}
	i, known := r.byStem[stemmed]
	if !known {
		if len(r.concepts) == maxConcepts {
			return true
		}
		i = len(r.concepts)
		r.byStem[stemmed] = i
		r.concepts = append(r.concepts, x.concept(string(word), stemmed, term))
	}
	c := &r.concepts[i]
	c.clauses |= r.clause
	r.words++
	return c.term != noTerm || len(c.related) > 0
}

// stem returns a word's stem and its term, or noTerm, and whether it is a stop
// word.
func (x *Index) stem(word []byte) (stemmed string, term int32, stop bool) {
	if term, known := x.wordTerms[string(word)]; known {
		if term == noTerm {
			return "", noTerm, true
		}
		return x.terms[term], term, false
	}
	stemmed = stem(string(word))
	if term, known := x.termIDs[stemmed]; known {
		return stemmed, term, false
	}
	return stemmed, noTerm, false
}

// concept looks up what stands for a word.
func (x *Index) concept(word, stemmed string, term int32) concept {
	df := 0
	if term != noTerm {
		if df = int(x.frequencies[term]); df == 0 {
			term = noTerm
		}
	}
	c := concept{word: word, term: term, weight: worth(df, x.visible), common: df > x.visible/commonness}
	if word[0] >= '0' && word[0] <= '9' {
		c.weight *= numberWeight
	}
	if id, known := x.lexicon.ids[stemmed]; known {
		c.related = x.relations(id, df)
	}
	if c.term == noTerm && len(c.related) == 0 {
		c.related = x.resembling(word, stemmed)
	}
	return c
}

// relations are the terms that the lexicon relates to one of its words, which df
// documents have.
func (x *Index) relations(word int32, df int) []related {
	trust := float32(relatedHalf) / float32(relatedHalf+df)
	if trust < relatedFloor {
		return nil
	}
	var found []related
	for _, r := range x.lexicon.related[word] {
		term := x.lexTerms[r.word]
		if weight := r.weight * trust; term != noTerm && weight >= relatedFloor && x.has(term) {
			found = append(found, related{term, weight})
		}
	}
	return found
}

// endClause ends a part of the request.
func (r *request) endClause() {
	if r.words > 0 {
		r.clauses = min(r.clauses+1, maxClauses)
		r.clause = 1 << min(r.clauses, maxClauses-1)
		r.words = 0
	}
	r.previous = r.previous[:0]
}

func (r *request) reset() {
	clear(r.concepts)
	clear(r.byStem)
	*r = request{
		concepts: r.concepts[:0], byStem: r.byStem, clause: 1,
		previous: r.previous[:0], chain: chain{text: r.chain.text[:0]},
	}
}
