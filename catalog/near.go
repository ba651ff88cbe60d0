package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/typo"
)

// maxNear bounds the suggestions for an unknown id.
const maxNear = 3

// near finds the ids that someone may have meant by an unknown one, best first.
func near(id string, ids []string) []string {
	type candidate struct {
		id       string
		distance int
	}
	wanted := fold(clip(id, 2*MaxID))
	var found []candidate
	for _, other := range ids {
		folded := fold(other)
		d := typo.Distance(wanted, folded)
		if last := folded[strings.LastIndexByte(folded, '.')+1:]; last == wanted {
			d = min(d, 1) // the namespace was left out
		}
		if d <= max(2, len(folded)/3) {
			found = append(found, candidate{other, d})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), strings.Compare(a.id, b.id))
	})
	var names []string
	for _, c := range found[:min(len(found), maxNear)] {
		names = append(names, c.id)
	}
	return names
}

// fold makes ids that differ in case and separators alone equal.
func fold(id string) string {
	return strings.NewReplacer("__", ".", "_", ".", "-", ".", "/", ".").Replace(strings.ToLower(id))
}
