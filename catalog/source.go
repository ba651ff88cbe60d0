package catalog

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
)

// Remote is a [Source] whose tools lie elsewhere. Nothing is asked of it before
// somebody wants tools that may be among its own.
type Remote interface {
	Source
	// Namespace is the first segment of the ids of all its tools.
	Namespace() string
}

// holds reports whether a tool of the id may be among the source's.
func (s *source) holds(id string) bool {
	r, remote := s.Source.(Remote)
	return !remote || strings.HasPrefix(id, r.Namespace()+".")
}

// reaches reports whether the scope may have tools of the source.
func (s Scope) reaches(of *source) bool {
	r, remote := of.Source.(Remote)
	return !remote || slices.ContainsFunc(s.Tools, func(glob string) bool {
		return glob == "*" || strings.HasPrefix(glob, r.Namespace()+".")
	})
}

// Elsewhere names the remote sources that the scope may have tools of.
func (b *Broker) Elsewhere(scope Scope) []string {
	var names []string
	for _, s := range b.sources {
		if _, remote := s.Source.(Remote); remote && scope.reaches(s) {
			names = append(names, s.Name())
		}
	}
	return names
}

// Here is a broker of the sources alone that need not be asked elsewhere.
func (b *Broker) Here() *Broker {
	here := &Broker{secrets: b.secrets, policy: b.policy, modes: b.modes}
	for _, s := range b.sources {
		if _, remote := s.Source.(Remote); !remote {
			here.sources = append(here.sources, s)
		}
	}
	return here
}

// listTimeout bounds how long a source may take to list its tools.
const listTimeout = 10 * time.Second

// errStuck: an earlier listing of the source has not come back.
var errStuck = errors.New("it does not answer")

// source guards the broker against a source that fails, panics or hangs. At
// most one listing runs at a time: a source that hangs costs one goroutine and
// one wait, not one per call.
type source struct {
	Source

	mu sync.Mutex
	// running is the listing under way, if any.
	running *listing
	// last is the newest listing that succeeded.
	last []Tool
	// listed says that there was one.
	listed bool
	// failing says that the newest attempt failed, so that a failure is logged
	// once and not with every call.
	failing bool
}

type listing struct {
	done    chan struct{}
	expires time.Time
	tools   []Tool
	err     error
}

// list returns the source's tools as they are now.
func (s *source) list(ctx context.Context) ([]Tool, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l := s.join(ctx)
	timer := time.NewTimer(time.Until(l.expires))
	defer timer.Stop()
	select {
	case <-l.done:
		s.note(l.err)
		return l.tools, l.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
		s.note(errStuck)
		return nil, errStuck
	}
}

// note logs that the source has failed, or works again.
func (s *source) note(err error) {
	s.mu.Lock()
	changed := s.failing != (err != nil)
	s.failing = err != nil
	s.mu.Unlock()
	switch {
	case changed && err != nil:
		slog.Warn("catalog: a source of tools cannot be read", "source", s.Name(), "error", err)
	case changed:
		slog.Info("catalog: a source of tools can be read again", "source", s.Name())
	}
}

// join starts a listing, or finds the one under way.
func (s *source) join(ctx context.Context) *listing {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		s.running = &listing{done: make(chan struct{}), expires: time.Now().Add(listTimeout)}
		// One caller's cancellation must not fail the others who wait too.
		go s.run(context.WithoutCancel(ctx), s.running)
	}
	return s.running
}

func (s *source) run(ctx context.Context, l *listing) {
	ctx, cancel := context.WithDeadline(ctx, l.expires)
	defer cancel()
	returned := false
	defer func() {
		if !returned {
			slog.ErrorContext(ctx, "catalog: a source of tools panicked", "source", s.Name(), "panic", recover(), "stack", string(debug.Stack()))
			l.err = errors.New("it panicked; the worker's log has the details")
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running = nil
		if l.err == nil {
			s.last, s.listed = l.tools, true
		}
		close(l.done)
	}()
	l.tools, l.err = s.Tools(ctx)
	returned = true
}

// had reports whether the source's newest listing has the tool, and known
// whether there was one.
func (s *source) had(id string) (had, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return find(s.last, id) != nil, s.listed
}

func find(tools []Tool, id string) *Tool {
	for i := range tools {
		if tools[i].ID == id {
			return &tools[i]
		}
	}
	return nil
}
