package search

import (
	"cmp"
	"slices"
	"strings"
)

const (
	// maxNearest bounds the suggestions for a query that nothing matches.
	maxNearest = 3
	// leastAlike is the share of letters, taken by threes, that a suggestion has in
	// common with the query.
	leastAlike = .4
)

// nearest are the ids of the visible tools whose names are most like the query.
func (x *Index) nearest(q *Query) []string {
	wanted := trigrams(fold(clip(strings.Join(q.Texts, " "), maxName)))
	if len(wanted) == 0 {
		return nil
	}
	type candidate struct {
		id    string
		alike float64
	}
	alike := make(map[int32]float64)
	for _, key := range x.names {
		if x.sees(key.doc) {
			alike[key.doc] = max(alike[key.doc], dice(wanted, trigrams(key.name)))
		}
	}
	var found []candidate
	for doc, alike := range alike {
		if alike >= leastAlike {
			found = append(found, candidate{x.docs[doc].id, alike})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.alike, a.alike), strings.Compare(a.id, b.id))
	})
	var ids []string
	for _, c := range found[:min(len(found), maxNearest)] {
		ids = append(ids, c.id)
	}
	return ids
}

// trigrams are the runs of three bytes in a folded name, sorted and each once.
func trigrams(name string) []uint32 {
	var grams []uint32
	for i := range max(0, len(name)-2) {
		grams = append(grams, uint32(name[i])<<16|uint32(name[i+1])<<8|uint32(name[i+2]))
	}
	slices.Sort(grams)
	return slices.Compact(grams)
}

// dice is the share that two sorted sets have in common, from 0 to 1.
func dice(a, b []uint32) float64 {
	total, common := len(a)+len(b), 0
	for len(a) > 0 && len(b) > 0 {
		switch cmp.Compare(a[0], b[0]) {
		case 0:
			common++
			a, b = a[1:], b[1:]
		case -1:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	if total == 0 {
		return 0
	}
	return 2 * float64(common) / float64(total)
}
