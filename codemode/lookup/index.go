package lookup

import (
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/search"
)

const (
	// maxIndexes bounds the indexes that are kept: one for each set of tools that
	// tenants have. Ten thousand tools take some 16 MB.
	maxIndexes = 8
	// maxViews bounds the narrowed indexes that are kept of each.
	maxViews = 64
)

// indexes keeps the indexes that were used last.
type indexes struct {
	mu sync.Mutex
	// recent has the one that was used last at its end.
	recent []*index
}

// index is an index of one set of tools, built on first use.
type index struct {
	version string
	build   func() *search.Index

	mu sync.Mutex
	// views are the index narrowed to modes and globs over ids.
	views map[string]*search.Index
}

// of is the index of what the scope may use among the tools of a snapshot.
func (x *indexes) of(snapshot *catalog.Snapshot, scope catalog.Scope) *search.Index {
	return x.get(snapshot).view(snapshot, scope)
}

func (x *indexes) get(snapshot *catalog.Snapshot) *index {
	x.mu.Lock()
	defer x.mu.Unlock()
	i := slices.IndexFunc(x.recent, func(known *index) bool { return known.version == snapshot.Version() })
	var found *index
	if i >= 0 {
		found = x.recent[i]
		x.recent = slices.Delete(x.recent, i, i+1)
	} else {
		found = &index{version: snapshot.Version(), views: map[string]*search.Index{}}
		found.build = sync.OnceValue(func() *search.Index { return search.Build(documents(snapshot)) })
		if len(x.recent) == maxIndexes {
			x.recent = slices.Delete(x.recent, 0, 1)
		}
	}
	x.recent = append(x.recent, found)
	return found
}

func (x *index) view(snapshot *catalog.Snapshot, scope catalog.Scope) *search.Index {
	whole := x.build()
	if slices.Contains(scope.Tools, "*") && scope.Mode == "" {
		return whole
	}
	key := scope.Mode + "\n" + strings.Join(scope.Tools, "\n")
	x.mu.Lock()
	defer x.mu.Unlock()
	view, known := x.views[key]
	if !known {
		if len(x.views) == maxViews {
			clear(x.views)
		}
		view = whole.Restrict(snapshot.Shows)
		x.views[key] = view
	}
	return view
}

// documents are the tools of a snapshot that can be used, as they are searched.
func documents(snapshot *catalog.Snapshot) []search.Document {
	all := make([]search.Document, 0, snapshot.Len())
	for i := range snapshot.Len() {
		d, err := snapshot.Sketch(i)
		if err != nil {
			slog.Warn("lookup: a tool is not found by search", "tool", snapshot.At(i).ID, "error", err)
			continue
		}
		all = append(all, document(d))
	}
	return all
}
