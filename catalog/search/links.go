package search

import "slices"

// links lead from terms to the concepts of a query that they stand for.
type links struct {
	// heads has the first link of each term, 0 for none.
	heads []int32
	list  []link // the first is not used
	// own and best are what the word of each concept brings a document, and the best of
	// its related ones.
	own, best []float32
}

type link struct {
	term    int32
	concept int32
	weight  float32
	related bool
	next    int32
}

// set makes the links of some concepts.
func (l *links) set(x *Index, concepts []concept) {
	if l.heads == nil {
		l.heads = make([]int32, len(x.terms))
	}
	l.list = append(l.list[:0], link{})
	for i := range concepts {
		c := &concepts[i]
		if c.term != noTerm {
			l.add(link{term: c.term, concept: int32(i), weight: c.weight}) //nolint:gosec // at most maxConcepts
		}
		for _, r := range c.related {
			l.add(link{term: r.term, concept: int32(i), weight: c.weight * r.weight, related: true}) //nolint:gosec // as above
		}
	}
}

func (l *links) add(link link) {
	link.next = l.heads[link.term]
	l.heads[link.term] = int32(len(l.list)) //nolint:gosec // a lexicon's worth for each concept
	l.list = append(l.list, link)
}

func (l *links) reset() {
	for _, link := range l.list[min(1, len(l.list)):] {
		l.heads[link.term] = 0
	}
	l.list = l.list[:0]
}

// gains appends to list what each of so many concepts brings a document, where it
// brings any: as in scratch.gather, the best of the related words and the word
// itself.
func (l *links) gains(x *Index, doc int32, concepts int, list []gain) []gain {
	l.own = slices.Grow(l.own[:0], concepts)[:concepts]
	l.best = slices.Grow(l.best[:0], concepts)[:concepts]
	clear(l.own)
	clear(l.best)
	for _, p := range x.termsOf(doc) {
		for at := l.heads[p.term]; at != 0; at = l.list[at].next {
			link := &l.list[at]
			amount := link.weight * float32(p.weight) / fullWeight
			if link.related {
				l.best[link.concept] = max(l.best[link.concept], amount)
			} else {
				l.own[link.concept] += amount
			}
		}
	}
	for c, own := range l.own {
		if amount := l.best[c] + own; amount > 0 {
			list = append(list, gain{int32(c), amount}) //nolint:gosec // at most maxConcepts
		}
	}
	return list
}

// matches says which concepts a document has, and where.
func (l *links) matches(x *Index, doc int32, concepts []concept) []Match {
	type finding struct{ own, related fieldSet }
	findings := make([]finding, len(concepts))
	for _, p := range x.termsOf(doc) {
		for at := l.heads[p.term]; at != 0; at = l.list[at].next {
			if f := &findings[l.list[at].concept]; l.list[at].related {
				f.related |= p.found
			} else {
				f.own |= p.found
			}
		}
	}
	var matches []Match
	for i, f := range findings {
		switch {
		case f.own != 0:
			matches = append(matches, Match{Word: concepts[i].word, Fields: f.own.names()})
		case f.related != 0:
			matches = append(matches, Match{Word: concepts[i].word, Related: true, Fields: f.related.names()})
		}
	}
	return matches
}

// setNames are the names of each set of fields.
var setNames = func() (names [1 << fields][]string) {
	for set := range names {
		for field := range fields {
			if set&(1<<field) != 0 {
				names[set] = append(names[set], field.String())
			}
		}
	}
	return names
}()

func (f fieldSet) names() []string { return slices.Clip(setNames[f]) }
