package search

import (
	"cmp"
	"slices"
	"sync"
)

// Index finds documents. Make one with [Build].
type Index struct {
	*store
	// scope says which documents are visible, a bit for each; nil: all.
	scope   []uint64
	visible int
	// frequencies has how many visible documents each term is in.
	frequencies []int32
}

// Len is the number of documents that are visible in the index.
func (x *Index) Len() int { return x.visible }

// Restrict returns the index of those documents alone whose ids are allowed. Its
// results are the same as if it had been built from them: nothing shows that there
// are others. That takes a millisecond or two for ten thousand documents, and
// little memory, so that one is best kept for each set of documents that somebody
// may see.
func (x *Index) Restrict(allowed func(id string) bool) *Index {
	narrow := &Index{
		store: x.store, scope: make([]uint64, (len(x.docs)+63)/64), frequencies: make([]int32, len(x.terms)),
	}
	for i := range x.docs {
		doc := int32(i) //nolint:gosec // as in builder.add
		if !x.sees(doc) || !allowed(x.docs[doc].id) {
			continue
		}
		narrow.scope[doc/64] |= 1 << (doc % 64)
		narrow.visible++
		for _, p := range x.termsOf(doc) {
			narrow.frequencies[p.term]++
		}
	}
	return narrow
}

func (x *Index) sees(doc int32) bool {
	return x.scope == nil || x.scope[doc/64]&(1<<(doc%64)) != 0
}

// has reports whether a visible document has the term.
func (x *Index) has(term int32) bool { return x.frequencies[term] > 0 }

// byID compares documents by their ids.
func (s *store) byID(a, b int32) int { return cmp.Compare(s.docs[a].order, s.docs[b].order) }

// postings are the documents that have a term, and its weight in each.
func (s *store) postings(term int32) ([]int32, []uint16) {
	from, to := s.offsets[term], s.offsets[term+1]
	return s.postDocs[from:to], s.postWeights[from:to]
}

// namespaces lists those of visible documents, sorted, at most limit.
func (x *Index) namespaces(limit int) []string {
	seen := make(map[string]bool)
	var names []string
	for doc := range x.docs {
		name := x.docs[doc].namespace
		if name != "" && !seen[name] && x.sees(int32(doc)) { //nolint:gosec // as in builder.add
			seen[name] = true
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Clip(names[:min(limit, len(names))])
}

// noTerm stands for a word that is not indexed.
const noTerm = -1

// fullWeight is the weight of a posting that nothing can exceed.
const fullWeight = 1<<16 - 1

// store is what an index shares with those made from it by Restrict.
type store struct {
	docs []entry
	// deprecated are those of them that are.
	deprecated []int32
	// names has the folded id, name and title of each document, sorted.
	names []nameKey

	// wordTerms has each word that was read and its term, and noTerm for stop words;
	// termIDs has each stem. sorted are the terms in order of their text, and shapes
	// what these look like.
	wordTerms map[string]int32
	termIDs   map[string]int32
	terms     []string
	sorted    []int32
	shapes    []shape

	// The documents of term t are postDocs[offsets[t]:offsets[t+1]], and its weight
	// in each is in postWeights.
	offsets     []uint32
	postDocs    []int32
	postWeights []uint16

	// The terms of document d are docTerms[starts[d]:starts[d+1]].
	starts   []uint32
	docTerms []posting

	lexicon *lexicon
	// lexTerms has the term of each word of the lexicon, or noTerm.
	lexTerms []int32

	scratches sync.Pool
}

// entry is what is kept of a document.
type entry struct {
	id, namespace, operation string
	// order is the place of the id among all ids, sorted.
	order int32
	// name is the same for documents of the same name, but for case and separators.
	name int32
}

type nameKey struct {
	name string // folded
	doc  int32
}

// posting is a term of a document.
type posting struct {
	term   int32
	weight uint16 // of fullWeight
	found  fieldSet
}

// fieldSet is a set of fields, a bit for each.
type fieldSet uint8

func (s *store) termsOf(doc int32) []posting { return s.docTerms[s.starts[doc]:s.starts[doc+1]] }
