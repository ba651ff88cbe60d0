package openapi

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heddle-dev/heddle/internal/netguard"
)

const (
	// freshFor is how long a remote specification is used before its server is
	// asked whether it has changed, and retryAfterFailure how long after a failure.
	freshFor          = 15 * time.Minute
	retryAfterFailure = time.Minute
	// refreshTimeout bounds how long a caller waits for that answer.
	refreshTimeout = 5 * time.Second
)

// Specs keeps specifications for all sources that name the same location: those
// of other tenants too, as there are no credentials in one. The zero value is
// ready for use.
type Specs struct {
	mu      sync.Mutex
	entries map[string]*specEntry
	// now is the clock, for tests.
	now func() time.Time
}

type specEntry struct {
	// turn is held by whoever loads.
	turn chan struct{}
	spec *Spec
	next time.Time
	// failure is why the specification could not be read anew, or nil.
	failure atomic.Pointer[error]
}

// stale says why the specification is the one that was read before, or nil.
func (e *specEntry) stale() error {
	if why := e.failure.Load(); why != nil {
		return *why
	}
	return nil
}

// get returns the specification at a location, of which entry is what is kept.
func (s *Specs) get(ctx context.Context, entry *specEntry, from Location, client *netguard.Client) (*Spec, error) {
	select {
	case entry.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-entry.turn }()
	if entry.spec == nil {
		spec, err := Load(ctx, from, client)
		if err != nil {
			return nil, err
		}
		entry.spec, entry.next = spec, s.time().Add(freshFor)
		return spec, nil
	}
	if from.URL == "" || s.time().Before(entry.next) {
		return entry.spec, nil
	}
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	spec, err := load(ctx, from, client, entry.spec.fresh)
	switch {
	case err == nil:
		entry.spec, entry.next = spec, s.time().Add(freshFor)
		entry.failure.Store(nil)
	case errors.Is(err, errUnchanged):
		entry.next = s.time().Add(freshFor)
		entry.failure.Store(nil)
	default:
		entry.next = s.time().Add(retryAfterFailure)
		entry.failure.Store(&err)
		slog.WarnContext(ctx, "openapi: a specification could not be read anew; the last one holds", "location", from.String(), "error", err)
	}
	return entry.spec, nil
}

// remembered is what get would return where it would read nothing anew, else nil.
func (s *Specs) remembered(entry *specEntry, from Location) *Spec {
	select {
	case entry.turn <- struct{}{}:
	default:
		return nil // somebody reads it now
	}
	defer func() { <-entry.turn }()
	if entry.spec != nil && (from.URL == "" || s.time().Before(entry.next)) {
		return entry.spec
	}
	return nil
}

func (s *Specs) time() time.Time {
	if s.now != nil {
		return s.now()
	}
	return time.Now()
}

// entry finds what is kept of a location. That takes a digest of given bytes, so
// whoever asks often keeps it.
func (s *Specs) entry(from Location) *specEntry {
	key := fmt.Sprintf("%q %q %q %x", from.File, from.Root, from.URL, sha256.Sum256(from.Bytes))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entries == nil {
		s.entries = map[string]*specEntry{}
	}
	entry := s.entries[key]
	if entry == nil {
		entry = &specEntry{turn: make(chan struct{}, 1)}
		s.entries[key] = entry
	}
	return entry
}
