package search

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Build makes an index of documents, which it does not keep.
func Build(documents []Document) *Index {
	b := &builder{store: &store{
		lexicon: englishLexicon(), wordTerms: make(map[string]int32), termIDs: make(map[string]int32),
		starts: []uint32{0},
	}, nameIDs: make(map[string]int32)}
	for word := range stopWords {
		b.wordTerms[word] = noTerm
	}
	b.splitter.emit = b.word
	known := make(map[string]bool, len(documents))
	for i := range documents {
		if d := &documents[i]; !known[d.ID] {
			known[d.ID] = true
			b.add(d)
		}
	}
	b.finish()
	x := &Index{store: b.store, visible: len(b.docs), frequencies: make([]int32, len(b.terms))}
	for term := range b.terms {
		docs, _ := b.postings(int32(term))     //nolint:gosec // as in term
		x.frequencies[term] = int32(len(docs)) //nolint:gosec // as in add
	}
	return x
}

// builder fills a store.
type builder struct {
	*store
	// worth and found are what each term brings the document at hand and where it is
	// found; touched are the terms that it has.
	worth   []float32
	found   []fieldSet
	touched []int32
	// terms of the field at hand, and the word before.
	field    []int32
	previous []byte
	splitter splitter
	texts    []string
	// nameIDs has the first document of each name, folded.
	nameIDs map[string]int32
}

func (b *builder) add(d *Document) {
	doc := int32(len(b.docs)) //nolint:gosec // documents have to fit into memory
	name := cmp.Or(d.Name, d.ID)
	keys := []string{foldName(d.ID), foldName(name), foldName(d.Title)}
	if _, known := b.nameIDs[keys[1]]; !known {
		b.nameIDs[keys[1]] = doc
	}
	b.docs = append(b.docs, entry{
		id: d.ID, name: b.nameIDs[keys[1]], namespace: d.Namespace, operation: d.Operation,
	})
	if d.Deprecated {
		b.deprecated = append(b.deprecated, doc)
	}
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		if key != "" {
			b.names = append(b.names, nameKey{key, doc})
		}
	}
	b.read(Name, name)
	b.read(Title, d.Title)
	b.read(Namespace, d.Namespace)
	b.read(Description, d.Description)
	b.read(Tags, d.Tags...)
	b.texts = b.texts[:0]
	for _, p := range d.Parameters {
		b.texts = append(b.texts, p.Name)
	}
	b.read(ParameterNames, b.texts...)
	b.texts = b.texts[:0]
	for _, p := range d.Parameters {
		b.texts = append(append(b.texts, p.Description), p.Values...)
	}
	b.read(ParameterDescriptions, b.texts...)
	b.read(Outputs, d.Outputs...)
	b.settle()
}

// read adds the words of a field.
func (b *builder) read(f Field, texts ...string) {
	b.field = b.field[:0]
	room := MaxField
	for _, text := range texts {
		text = clip(text, room)
		room -= len(text)
		b.previous = b.previous[:0]
		b.splitter.split(text)
	}
	worth := fieldWeights[f].of(len(b.field))
	for _, term := range b.field {
		if b.found[term] == 0 {
			b.touched = append(b.touched, term)
		}
		b.found[term] |= 1 << f
		b.worth[term] += worth
	}
}

// word adds a word, and the one that it makes with the word before it in the same
// identifier if English knows that: GitHub is github too, web-page is webpage.
func (b *builder) word(word []byte, before separator) {
	b.addTerm(word)
	if before < spaced && len(b.previous) > 0 {
		b.previous = append(b.previous, word...)
		if _, known := b.lexicon.ids[string(b.previous)]; known {
			b.addTerm(b.previous)
		}
	}
	b.previous = append(b.previous[:0], word...)
}

func (b *builder) addTerm(word []byte) {
	if term := b.term(word); term != noTerm {
		b.field = append(b.field, term)
	}
}

// term is the id of a word's stem.
func (b *builder) term(word []byte) int32 {
	if term, known := b.wordTerms[string(word)]; known {
		return term
	}
	text := string(word)
	stemmed := stem(text)
	term, known := b.termIDs[stemmed]
	if !known {
		term = int32(len(b.terms)) //nolint:gosec // terms have to fit into memory
		b.terms = append(b.terms, stemmed)
		b.termIDs[stemmed] = term
		b.worth = append(b.worth, 0)
		b.found = append(b.found, 0)
	}
	b.wordTerms[text] = term
	return term
}

// settle stores the terms of the document at hand.
func (b *builder) settle() {
	slices.Sort(b.touched)
	for _, term := range b.touched {
		worth := float64(b.worth[term])
		weight := math.Round(worth / (worth + saturation) * fullWeight)
		b.docTerms = append(b.docTerms, posting{term, uint16(max(weight, 1)), b.found[term]})
		b.worth[term], b.found[term] = 0, 0
	}
	b.touched = b.touched[:0]
	b.starts = append(b.starts, uint32(len(b.docTerms))) //nolint:gosec // postings have to fit into memory
}

// finish makes what is looked up by term and by name.
func (b *builder) finish() {
	b.docTerms = slices.Clone(b.docTerms) // without the room to grow
	offsets := make([]uint32, len(b.terms)+1)
	for _, p := range b.docTerms {
		offsets[p.term+1]++
	}
	for term := range b.terms {
		offsets[term+1] += offsets[term]
	}
	b.offsets = offsets
	next := slices.Clone(offsets)
	b.postDocs = make([]int32, len(b.docTerms))
	b.postWeights = make([]uint16, len(b.docTerms))
	for doc := range b.docs {
		for _, p := range b.termsOf(int32(doc)) { //nolint:gosec // as in add
			b.postDocs[next[p.term]], b.postWeights[next[p.term]] = int32(doc), p.weight //nolint:gosec // as in add
			next[p.term]++
		}
	}
	byID := make([]int32, len(b.docs))
	for doc := range byID {
		byID[doc] = int32(doc) //nolint:gosec // as in add
	}
	slices.SortFunc(byID, func(x, y int32) int { return strings.Compare(b.docs[x].id, b.docs[y].id) })
	for order, doc := range byID {
		b.docs[doc].order = int32(order) //nolint:gosec // as in add
	}
	slices.SortFunc(b.names, func(a, b nameKey) int {
		return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(a.doc, b.doc))
	})
	b.lexTerms = make([]int32, len(b.lexicon.words))
	for i, word := range b.lexicon.words {
		b.lexTerms[i] = noTerm
		if term, known := b.termIDs[word]; known {
			b.lexTerms[i] = term
		}
	}
	b.sorted = make([]int32, len(b.terms))
	for term := range b.sorted {
		b.sorted[term] = int32(term) //nolint:gosec // as in term
	}
	slices.SortFunc(b.sorted, func(x, y int32) int { return strings.Compare(b.terms[x], b.terms[y]) })
	b.shapes = make([]shape, len(b.sorted))
	for i, term := range b.sorted {
		b.shapes[i] = shapeOf(b.terms[term])
	}
}

// foldName folds as much of a name as is compared.
func foldName(name string) string { return fold(clip(name, maxName)) }

// clip is the longest beginning of s of at most limit bytes that splits no
// character.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
