package catalog

import (
	"cmp"
	"errors"
	"time"
)

// Condition is what is known of a source without asking it.
type Condition struct {
	// Source is the source's name.
	Source string
	// Unavailable says what of it cannot be read: the source itself, or parts of it.
	Unavailable []Unavailable
	// LeftOut says which of the tools that it lists cannot be used, and why.
	LeftOut []string
}

// Conditions say how the sources of a scope's tools have answered when they were last
// asked, in the order of the sources. Nothing is asked for it; a source that this
// broker never asked for the scope is not among them.
func (b *Broker) Conditions(scope Scope) []Condition {
	listings := make([]*listing, len(b.sources))
	var all []Condition
	var places []int // in sources
	for i, s := range b.sources {
		if !s.wanted(scope) {
			continue
		}
		l, failure, asked := s.known(scope)
		if listings[i] = l; !asked {
			continue
		}
		c := Condition{Source: s.Name()}
		leftOut, stale := s.shortfall(scope)
		failure = cmp.Or(failure, stale)
		for _, why := range leftOut {
			c.LeftOut = append(c.LeftOut, b.reason(scope, errors.New(why)))
		}
		if failure != nil {
			c.Unavailable = append(c.Unavailable, Unavailable{Source: s.Name(), Reason: b.reason(scope, failure)})
		}
		c.Unavailable = append(c.Unavailable, b.missingParts(scope, l)...)
		all, places = append(all, c), append(places, i)
	}
	clashes := b.views.of(b.sources, listings).clashes
	for n, i := range places {
		if listings[i] == nil {
			continue
		}
		for _, fault := range listings[i].faults {
			all[n].LeftOut = append(all[n].LeftOut, b.reason(scope, fault))
		}
		for _, fault := range clashes[i] {
			all[n].LeftOut = append(all[n].LeftOut, b.reason(scope, fault))
		}
	}
	return all
}

// missingParts are the parts that a listing lacks and that the scope may use tools of.
func (b *Broker) missingParts(scope Scope, l *listing) []Unavailable {
	if l == nil {
		return nil
	}
	var missing []Unavailable
	for _, part := range l.parts {
		if scope.reaches(part.Source) {
			missing = append(missing, Unavailable{
				Source: plain(part.Source, MaxID), Reason: b.reason(scope, errors.New(part.Reason)), Cause: part.Cause,
			})
		}
	}
	return missing
}

// known is what a source listed last for a scope, and why the newest attempt failed;
// asked is false if there was none yet.
func (s *source) known(scope Scope) (l *listing, failure error, asked bool) {
	key, err := s.key(scope)
	if err != nil {
		return nil, err, true
	}
	s.mu.Lock()
	shelf := s.shelves[key]
	s.mu.Unlock()
	if shelf == nil {
		return nil, nil, false
	}
	shelf.mu.Lock()
	defer shelf.mu.Unlock()
	failure = shelf.failure
	if shelf.current == nil && failure == nil {
		if shelf.running == nil || time.Since(shelf.running.began) < forAll.first {
			return nil, nil, false
		}
		failure = errSlow
	}
	return shelf.current, failure, true
}
