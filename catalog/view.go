package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// maxViews bounds the views that are kept: one for each set of listings.
const maxViews = 64

// view is what several listings have together. It never changes.
type view struct {
	key string
	// version is the same for views that read alike.
	version string
	// tools are ordered by id, each once.
	tools []*Tool
	// namespaces are theirs, sorted.
	namespaces []string
	// clashes are why tools of each source are left out beside those of others.
	clashes map[int][]error
}

// find is the tool of an id, or nil.
func (v *view) find(id string) *Tool { return findTool(v.tools, id) }

// views keeps the views that were used last.
type views struct {
	mu     sync.Mutex
	recent []*view // the one that was used last at its end
}

// of merges listings, in the order of their sources: of tools with one id the
// first counts. Listings that are nil have no tools. Listings that read alike are
// merged once: a source that makes its tools anew each time costs no more. A view is
// looked into and never called from.
func (v *views) of(sources []*source, listings []*listing) *view {
	var key strings.Builder
	for _, l := range listings {
		if l != nil {
			key.WriteString(l.content + ",")
		} else {
			key.WriteByte(',')
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	i := slices.IndexFunc(v.recent, func(known *view) bool { return known.key == key.String() })
	var found *view
	if i >= 0 {
		found = v.recent[i]
		v.recent = slices.Delete(v.recent, i, i+1)
	} else {
		found = merge(sources, listings)
		found.key = key.String()
		if len(v.recent) == maxViews {
			v.recent = slices.Delete(v.recent, 0, 1)
		}
	}
	v.recent = append(v.recent, found)
	return found
}

func merge(sources []*source, listings []*listing) *view {
	merged := &view{clashes: map[int][]error{}}
	leaveOut := func(source int, fault error) {
		slog.Warn("catalog: a tool is left out", "source", sources[source].Name(), "error", fault)
		merged.clashes[source] = append(merged.clashes[source], fault)
	}
	owners := map[string]string{}
	hash := sha256.New()
	for i, l := range listings {
		if l == nil {
			continue
		}
		fmt.Fprintln(hash, l.content)
		for _, tool := range l.tools {
			if !sources[i].mayHave(tool.Namespace()) {
				leaveOut(i, fmt.Errorf("%s: tool %s is of a namespace that is another source's", sources[i].place(tool), tool.ID))
				continue
			}
			if owner, twice := owners[tool.ID]; twice {
				leaveOut(i, usedTwice(tool.ID, owner, sources[i].place(tool)))
				continue
			}
			owners[tool.ID] = sources[i].place(tool)
			merged.tools = append(merged.tools, tool)
		}
	}
	slices.SortFunc(merged.tools, func(a, b *Tool) int { return strings.Compare(a.ID, b.ID) })
	for _, tool := range merged.tools {
		if namespace := tool.Namespace(); !slices.Contains(merged.namespaces[max(len(merged.namespaces)-1, 0):], namespace) {
			merged.namespaces = append(merged.namespaces, namespace)
		}
	}
	slices.Sort(merged.namespaces)
	merged.namespaces = slices.Compact(merged.namespaces)
	merged.version = hex.EncodeToString(hash.Sum(nil))
	return merged
}

// view asks all sources at once of which a scope may use tools for what they list,
// whatever of it that is, and says what cannot be read. The error is that of ctx.
func (b *Broker) view(ctx context.Context, scope Scope) (*view, []Unavailable, error) {
	listings, errs := make([]*listing, len(b.sources)), make([]error, len(b.sources))
	var wg sync.WaitGroup
	for i, s := range b.sources {
		if s.wanted(scope) {
			wg.Go(func() {
				if listings[i], errs[i] = s.get(ctx, scope, forAll); errs[i] == nil {
					_, errs[i] = s.shortfall(scope)
				}
			})
		}
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("catalog: list tools: %w", err)
	}
	var missing []Unavailable
	for i, s := range b.sources {
		if errs[i] != nil {
			missing = append(missing, Unavailable{Source: s.Name(), Reason: b.reason(scope, errs[i])})
		}
		missing = append(missing, b.missingParts(scope, listings[i])...)
	}
	slices.SortStableFunc(missing, func(a, b Unavailable) int { return strings.Compare(a.Source, b.Source) })
	return b.views.of(b.sources, listings), missing, nil
}

// maxReason bounds the reason of an [Unavailable], in bytes.
const maxReason = 300

// reason words why a source cannot be read, without secrets.
func (b *Broker) reason(scope Scope, err error) string {
	return plain(CallSecrets{from: b.secrets, scope: scope}.text(err.Error()), maxReason)
}
