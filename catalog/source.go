package catalog

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// maxShelves bounds the listings that are kept of one source: one for each who
// sees another.
const maxShelves = 1000

// source guards the broker against a source that fails, panics, hangs or lies.
type source struct {
	Source
	// remote and the others are the source as such, or nil.
	remote    Remote
	lasting   Lasting
	versioned Versioned
	scoped    Scoped
	candid    Candid
	// remembering is nil for a scoped source: what it knows is somebody's.
	remembering Remembering
	// others are the namespaces that are a source's own.
	others map[string]bool

	mu      sync.Mutex
	shelves map[string]*shelf
}

func newSource(s Source) *source {
	guarded := &source{Source: s, shelves: map[string]*shelf{}}
	guarded.versioned, _ = s.(Versioned)
	guarded.lasting, _ = s.(Lasting)
	guarded.scoped, _ = s.(Scoped)
	guarded.remote, _ = s.(Remote)
	guarded.candid, _ = s.(Candid)
	if guarded.scoped == nil {
		guarded.remembering, _ = s.(Remembering)
	}
	return guarded
}

// atHand reports whether the source may be asked at any time, on nobody's behalf.
func (s *source) atHand() bool { return s.remote == nil && s.scoped == nil }

// mayHave reports whether a tool of the namespace may be the source's.
func (s *source) mayHave(namespace string) bool {
	if s.remote != nil {
		return s.remote.Namespace() == namespace
	}
	return s.scoped == nil || !s.others[namespace]
}

func (s *source) freshness() time.Duration {
	if s.lasting == nil {
		return 0
	}
	return s.lasting.Freshness()
}

// wanted reports whether the scope may use tools of the source.
func (s *source) wanted(scope Scope) bool {
	return s.remote == nil || scope.reaches(s.remote.Namespace())
}

// Elsewhere names the remote sources that the scope may have tools of.
func (b *Broker) Elsewhere(scope Scope) []string {
	var names []string
	for _, s := range b.sources {
		if s.remote != nil && s.wanted(scope) {
			names = append(names, s.Name())
		}
	}
	return names
}

// Whereabouts says of the sources that may have a tool whether one of them must be
// asked elsewhere, and whether one must be asked on somebody's behalf.
func (b *Broker) Whereabouts(id string) (elsewhere, scoped bool) {
	for _, s := range b.sources {
		if s.mayHave(namespaceOf(id)) {
			elsewhere = elsewhere || s.remote != nil
			scoped = scoped || s.scoped != nil
		}
	}
	return elsewhere, scoped
}

// Here is a broker of the sources alone that need not be asked elsewhere.
func (b *Broker) Here() *Broker {
	here := &Broker{secrets: b.secrets, policy: b.policy, modes: b.modes, gates: b.gates, auditor: b.auditor}
	for _, s := range b.sources {
		if s.atHand() {
			here.sources = append(here.sources, s)
		}
	}
	return here
}

// place says where a tool is from, for people.
func (s *source) place(tool *Tool) string {
	return fmt.Sprintf("%s (source %s)", cmp.Or(plain(tool.Source, 200), "unknown place"), quote(s.Name()))
}

// get returns what the source lists for a scope: the listing, which is nil if it
// never could be read, and why the newest attempt failed.
func (s *source) get(ctx context.Context, scope Scope, wait patience) (*listing, error) {
	shelf, err := s.shelf(scope)
	if err != nil {
		return nil, err
	}
	return shelf.get(ctx, wait)
}

// shelf finds where the listing for a scope is kept.
func (s *source) shelf(scope Scope) (*shelf, error) {
	key, err := s.key(scope)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.shelves[key]
	if found == nil {
		if len(s.shelves) >= maxShelves {
			s.dropOldest()
		}
		found = &shelf{source: s, scope: scope}
		s.shelves[key] = found
	}
	found.used = time.Now()
	return found, nil
}

// key names those who share a listing.
func (s *source) key(scope Scope) (key string, err error) {
	if s.scoped != nil {
		err = s.safely(func() { key = scope.Tenant + "\x00" + s.scoped.ListingKey(scope) })
	}
	return key, err
}

// connection names what a scope reaches by the source, where that is its own.
func (s *source) connection(scope Scope) string {
	key, err := s.key(scope)
	if err != nil || key == "" {
		return ""
	}
	return s.Name() + "\x00" + key
}

func (s *source) dropOldest() {
	oldest := ""
	for key, shelf := range s.shelves {
		if first, known := s.shelves[oldest]; !known || shelf.used.Before(first.used) {
			oldest = key
		}
	}
	delete(s.shelves, oldest)
}

// shortfall is what the source itself says of what it listed.
func (s *source) shortfall(scope Scope) (leftOut []string, stale error) {
	if s.candid == nil {
		return nil, nil
	}
	if err := s.safely(func() { leftOut, stale = s.candid.Shortfall(scope) }); err != nil {
		return nil, err
	}
	return leftOut, stale
}

// safely runs a source's own code.
func (s *source) safely(do func()) (err error) {
	returned := false
	defer func() {
		if !returned {
			logPanic("catalog: a source of tools panicked", s.Name(), recover())
			err = errPanicked
		}
	}()
	do()
	returned = true
	return nil
}

// report logs what was left out of a listing.
func (s *source) report(l *listing) {
	const shown = 20
	for _, fault := range l.faults[:min(len(l.faults), shown)] {
		slog.Warn("catalog: a tool is left out", "source", s.Name(), "error", fault)
	}
	if more := len(l.faults) - shown; more > 0 {
		slog.Warn("catalog: more tools are left out", "source", s.Name(), "tools", more)
	}
}
