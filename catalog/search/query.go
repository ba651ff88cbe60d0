package search

import "slices"

// Query says what is looked for.
type Query struct {
	// Texts say what tools are wanted for, or name them. Several texts are several
	// wants, and the best hit of each is among the first. At most [MaxQuery] bytes of
	// all together are read. Without a letter or digit in them, all tools are listed
	// in the order of their ids.
	Texts []string
	// Namespace and Operation, if set, are those of the tools to find.
	Namespace string
	Operation string
	// Limit is how many hits to return. 0: [DefaultLimit]; at most [MaxLimit].
	Limit int
	// Offset is how many hits to leave out: those that were seen already.
	Offset int
	// PerNamespace bounds how many hits of one namespace come before hits of others
	// that match at least half as well, among the first thirty. 0: no bound.
	PerNamespace int
}

// Bounds of a [Query].
const (
	MaxQuery     = 8 << 10
	DefaultLimit = 10
	MaxLimit     = 100
)

// Result is what a search found.
type Result struct {
	// Hits are the tools that match, best first. The hits of one page after another
	// are those of one long page.
	Hits []Hit `json:"hits"`
	// Total is how many tools match in any way, on this page and others.
	Total int `json:"total"`
	// Nearest are the ids of tools whose names resemble the query, if nothing
	// matches; at most three.
	Nearest []string `json:"nearest,omitempty"`
	// Namespaces are those there are, sorted, if nothing matches; at most fifty.
	Namespaces []string `json:"namespaces,omitempty"`
}

// Hit is a tool that was found.
type Hit struct {
	ID string `json:"id"`
	// Score says how much of the query the tool matches, from 0 to 1, which is the
	// exact name. It need not fall from hit to hit, since the order heeds names and
	// variety too.
	Score float64 `json:"score"`
	// Matched says which words of the query were found, in the query's order.
	Matched []Match `json:"matched,omitempty"`
}

// Match is why a tool was found.
type Match struct {
	// Word of the query, in lower case.
	Word string `json:"word"`
	// Related is set if the tool has not the word but one that is related to it, such
	// as another word for the same.
	Related bool `json:"related,omitempty"`
	// Fields are where it was found. The list is shared and not to be changed.
	Fields []string `json:"fields"`
}

// Search finds the visible tools that match a query.
func (x *Index) Search(q Query) Result {
	limit := min(max(q.Limit, 0), MaxLimit)
	if limit == 0 {
		limit = DefaultLimit
	}
	offset := min(max(q.Offset, 0), len(x.docs))

	s := x.scratch()
	defer x.scratches.Put(s)
	defer s.reset()
	s.request.read(x, q.Texts)
	if s.request.blank {
		return x.list(&q, offset, limit)
	}
	s.score(x, &q)
	ranked := s.rank(x, &q, offset+limit)
	result := Result{Total: len(s.matching)}
	for _, doc := range ranked[min(offset, len(ranked)):] {
		result.Hits = append(result.Hits, s.hit(x, doc))
	}
	if result.Total == 0 {
		result.Nearest = x.nearest(&q)
		result.Namespaces = x.namespaces(maxNamespaces)
	}
	return result
}

const maxNamespaces = 50

// filters reports whether there are documents that the query may not want.
func (x *Index) filters(q *Query) bool {
	return q.Namespace != "" || q.Operation != "" || x.scope != nil
}

// wants reports whether a document is visible and passes the query's filters.
func (x *Index) wants(q *Query, doc int32) bool {
	d := &x.docs[doc]
	return (q.Namespace == "" || d.namespace == q.Namespace) &&
		(q.Operation == "" || d.operation == q.Operation) && x.sees(doc)
}

// hit says what was found.
func (s *scratch) hit(x *Index, doc int32) Hit {
	hit := Hit{ID: x.docs[doc].id, Score: 1, Matched: s.links.matches(x, doc, s.request.concepts)}
	if !slices.Contains(s.named, doc) {
		hit.Score = min(1, float64(s.scores[doc]/s.perfect))
	}
	return hit
}

// list returns all documents that the query wants, in the order of their ids.
func (x *Index) list(q *Query, offset, limit int) Result {
	var docs []int32
	for i := range x.docs {
		if doc := int32(i); x.wants(q, doc) { //nolint:gosec // as in builder.add
			docs = append(docs, doc)
		}
	}
	slices.SortFunc(docs, x.byID)
	result := Result{Total: len(docs)}
	for _, doc := range docs[min(offset, len(docs)):min(offset+limit, len(docs))] {
		result.Hits = append(result.Hits, Hit{ID: x.docs[doc].id})
	}
	if result.Total == 0 {
		result.Namespaces = x.namespaces(maxNamespaces)
	}
	return result
}
