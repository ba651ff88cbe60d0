package catalog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// listTimeout bounds how long a source may take to list its tools.
const listTimeout = 10 * time.Second

// After a listing that failed the next one is tried after retryFirst, and after
// twice as long each time, up to retryMost.
const (
	retryFirst = time.Second
	retryMost  = time.Minute
)

var (
	// errSlow: the source has not listed its tools yet.
	errSlow = errors.New("it has not answered yet")
	// errStuck: an earlier listing of the source has not come back.
	errStuck    = errors.New("it does not answer")
	errPanicked = errors.New("it panicked; the worker's log has the details")
)

// patience is how long a caller waits for a source: again if there is an old
// listing that can be used instead, first if there is none.
type patience struct{ first, again time.Duration }

var (
	// forOne is for a call: without the source it fails.
	forOne = patience{listTimeout, time.Second}
	// forAll is for a list of many sources: it goes on without the slow ones.
	forAll = patience{2 * time.Second, time.Second}
	// forStart is for New.
	forStart = patience{listTimeout, listTimeout}
)

// shelf keeps what a source lists for those who share a listing. At most one
// listing runs at a time: a source that hangs costs one goroutine and, once, a
// wait.
type shelf struct {
	source *source
	// scope is on whose behalf the source is asked.
	scope Scope
	used  time.Time // guarded by the source

	mu sync.Mutex
	// running is the listing under way, if any.
	running *attempt
	// current is the newest listing, asked for at asked with the source at version.
	current *listing
	asked   time.Time
	version string
	// failure is why the newest attempt has no listing; the next is not before retry.
	failure  error
	failures int
	retry    time.Time
}

// attempt is a listing under way.
type attempt struct {
	done    chan struct{}
	began   time.Time
	version string
	listing *listing
	err     error
}

// peek is the listing at hand, be it old, or nil.
func (s *shelf) peek() *listing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

func (s *shelf) get(ctx context.Context, wait patience) (*listing, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	version, err := s.versionNow()
	if err != nil {
		s.note(err)
		return s.fallback(err)
	}
	if known := s.remembered(version); known != nil {
		return known, nil
	}
	s.mu.Lock()
	if s.fresh(version) {
		defer s.mu.Unlock()
		return s.current, nil
	}
	if s.running == nil && time.Now().Before(s.retry) {
		defer s.mu.Unlock()
		return s.current, s.failure
	}
	a := s.join(ctx, version)
	if s.current != nil && s.version == version && s.source.freshness() > 0 {
		defer s.mu.Unlock() // it is only old: nobody waits for the next one
		return s.current, s.failure
	}
	limit, old := wait.first, s.current
	if old != nil {
		limit = wait.again
	}
	s.mu.Unlock()
	timer := time.NewTimer(time.Until(a.began.Add(min(limit, listTimeout))))
	defer timer.Stop()
	select {
	case <-a.done:
		if a.err != nil {
			return old, a.err
		}
		return a.listing, nil
	case <-ctx.Done():
		return old, ctx.Err()
	case <-timer.C:
		if time.Since(a.began) >= listTimeout {
			s.note(errStuck)
			return old, errStuck
		}
		return s.fallback(errSlow)
	}
}

// fallback is the listing at hand and why there is no newer one: what was wrong
// last, or, where there is none at all, err. One that is merely old is no fault.
func (s *shelf) fallback(err error) (*listing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure != nil || s.current != nil {
		return s.current, s.failure
	}
	return nil, err
}

// fresh reports whether the listing at hand need not be asked for again.
func (s *shelf) fresh(version string) bool {
	return s.current != nil && s.version == version && time.Since(s.asked) < s.source.freshness()
}

// remembered is the listing at hand where the source itself knows that it would list
// the same now, else nil.
func (s *shelf) remembered(version string) *listing {
	if s.source.remembering == nil {
		return nil
	}
	s.mu.Lock()
	current, sound := s.current, s.failure == nil && s.version == version
	s.mu.Unlock()
	if current == nil || !sound || len(current.parts) > 0 {
		return nil
	}
	var tools []Tool
	known := false
	err := s.source.safely(func() { tools, known = s.source.remembering.Remembered() })
	if err != nil || !known || !current.same(tools) {
		return nil
	}
	return current
}

func (s *shelf) versionNow() (version string, err error) {
	if s.source.versioned != nil {
		err = s.source.safely(func() { version = s.source.versioned.Version() })
	}
	return version, err
}

// join starts a listing, or finds the one under way.
func (s *shelf) join(ctx context.Context, version string) *attempt {
	if s.running == nil {
		s.running = &attempt{done: make(chan struct{}), began: time.Now(), version: version}
		// One caller's cancellation must not fail the others who wait too.
		go s.run(context.WithoutCancel(ctx), s.running)
	}
	return s.running
}

func (s *shelf) run(ctx context.Context, a *attempt) {
	ctx, cancel := context.WithDeadline(ctx, a.began.Add(listTimeout))
	defer cancel()
	var tools []Tool
	var err error
	// A source may even end its goroutine: the attempt ends all the same.
	fault := errPanicked
	defer func() { s.settle(a, tools, errors.Join(fault, err)) }()
	fault = s.source.safely(func() {
		if s.source.scoped != nil {
			tools, err = s.source.scoped.ToolsFor(ctx, s.scope)
		} else {
			tools, err = s.source.Tools(ctx)
		}
	})
}

// settle ends an attempt.
func (s *shelf) settle(a *attempt, tools []Tool, err error) {
	var partial *PartialError
	var parts []Unavailable
	if errors.As(err, &partial) {
		parts, err = partial.Parts, nil
	}
	s.mu.Lock()
	before := s.current
	s.mu.Unlock()
	if a.err = err; err == nil {
		if a.listing = before; !before.same(tools) || len(parts)+len(before.parts) > 0 {
			a.listing = newListing(s.source, tools, parts)
			if before == nil || fmt.Sprint(before.faults) != fmt.Sprint(a.listing.faults) {
				s.source.report(a.listing)
			}
		}
	}
	s.note(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = nil
	if err == nil {
		s.current, s.asked, s.version = a.listing, a.began, a.version
	}
	close(a.done)
}

// note remembers how an attempt went, and logs a source that fails or works again:
// once, and not with every call.
func (s *shelf) note(err error) {
	s.mu.Lock()
	before := s.failure
	if s.failure = err; err == nil {
		s.failures, s.retry = 0, time.Time{}
	} else {
		s.retry = time.Now().Add(min(retryFirst<<min(s.failures, 10), retryMost))
		s.failures++
	}
	s.mu.Unlock()
	switch {
	case before == nil && err != nil:
		slog.Warn("catalog: a source of tools cannot be read", "source", s.source.Name(), "error", err)
	case before != nil && err == nil:
		slog.Info("catalog: a source of tools can be read again", "source", s.source.Name())
	}
}
