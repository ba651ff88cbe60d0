// Package search finds tools by what they are for.
//
// [Build] makes an [Index] of [Document] values, one for each tool, and
// [Index.Search] ranks them by a [Query]: words as a person or a model writes
// them, or the names of tools. An index never changes and is safe for concurrent
// use; when the tools change, build another one, which takes a hundred
// milliseconds for ten thousand tools.
//
//	index := search.Build(documents)
//	visible := index.Restrict(func(id string) bool { return scope.Allows(id) })
//	result := visible.Search(search.Query{Texts: []string{"refund an order"}})
//
// # Who sees what
//
// [Index.Restrict] narrows an index to the tools that somebody may use. The result
// is to the last bit what an index of those tools alone would give: what is hidden
// shows neither in hits nor in counts, scores, suggestions or namespaces.
//
// # How it ranks
//
//   - Text is split into words, identifiers too (words.go), and English words are
//     reduced to their stems. Scripts without spaces are indexed by pairs of
//     characters.
//   - Each word of the query brings a document what it is worth (BM25F: rare words
//     more, words in the name more, words of long texts less; weights.go).
//   - A word that few or no documents have also finds what is related to it: words
//     that mean the same or belong to the same topic, by a small English table
//     (lexicon.go), words that begin with it, and words it may be a misspelling of
//     (typo.go).
//   - A request for several things is answered in all its parts: each sentence of
//     the query has a say (score.go), its best hit is among the first, and there one
//     that brings something new goes before one that repeats (rank.go).
//   - A tool whose exact id or name was given comes first (exact.go).
//
// Nothing is learned, downloaded or asked of a service, and the same query always
// has the same answer. Equal scores are ordered by id.
//
// The package knows nothing of catalogs; the package evaluate measures it on sets
// of tools and queries.
package search
