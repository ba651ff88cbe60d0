package mcp

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/heddle-dev/heddle/catalog"
)

// poolKey says who may share a connection: calls of one tenant with one credential.
type poolKey struct{ tenant, generation string }

// pool keeps the connections of a source.
type pool struct {
	idle time.Duration
	most int

	mu      sync.Mutex
	entries map[poolKey]*pooled
	closed  bool
	// moving counts the connections that are being made or closed. A connection may be
	// given back while close waits, so it is counted under the lock.
	moving int
	// still is told when moving becomes 0.
	still sync.Cond
}

func newPool(idle time.Duration, most int) *pool {
	p := &pool{idle: idle, most: most, entries: map[poolKey]*pooled{}}
	p.still.L = &p.mu
	return p
}

// pooled is a connection, or the attempt at one.
type pooled struct {
	key   poolKey
	ready chan struct{}
	link  *link
	err   error
	users int
	// since is when the last user left.
	since time.Time
	timer *time.Timer
	// dropped says that it is no longer handed out and closes with its last user.
	dropped bool
}

var errClosed = errors.New("the source is closed")

// get returns a connection and what to call when done with it. One that has to be
// made first is made for all who wait for it: none of them can cut it short for the
// others.
func (p *pool) get(ctx context.Context, key poolKey, dial func(context.Context) (*link, error)) (*link, func(), error) {
	e, err := p.join(ctx, key, dial)
	if err != nil {
		return nil, nil, err
	}
	select {
	case <-e.ready:
	case <-ctx.Done():
		p.leave(e)
		return nil, nil, ended(ctx, catalog.EffectNone)
	}
	if e.err != nil {
		p.leave(e)
		return nil, nil, e.err
	}
	return e.link, func() { p.leave(e) }, nil
}

// join finds the entry of a key, or begins one.
func (p *pool) join(ctx context.Context, key poolKey, dial func(context.Context) (*link, error)) (*pooled, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	if e := p.entries[key]; e != nil {
		if !e.spent() {
			e.users++
			e.timer.Stop()
			return e, nil
		}
		p.drop(e)
	}
	if len(p.entries) >= p.most && !p.evict() {
		return nil, &fault{
			code: CodeBusy, message: "all connections to the server are in use", effect: catalog.EffectNone, retryable: true,
		}
	}
	e := &pooled{key: key, ready: make(chan struct{}), users: 1}
	e.timer = time.AfterFunc(p.idle, func() { p.expire(e) })
	e.timer.Stop()
	p.entries[key] = e
	p.moving++
	go func() {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), connectTimeout)
		defer stop()
		link, err := dial(ctx)
		p.mu.Lock()
		defer p.mu.Unlock()
		e.link, e.err = link, err
		close(e.ready)
		if err != nil {
			p.drop(e)
		} else if e.users == 0 {
			p.rest(e)
		}
		p.moved()
	}()
	return e, nil
}

// moved says that a connection is made or closed. The caller holds the lock.
func (p *pool) moved() {
	if p.moving--; p.moving == 0 {
		p.still.Broadcast()
	}
}

// spent reports whether the connection was made and is of no use any more.
func (e *pooled) spent() bool {
	select {
	case <-e.ready:
		return e.err != nil || !e.link.usable()
	default:
		return false
	}
}

// made reports whether there is a connection to close.
func (e *pooled) made() bool {
	select {
	case <-e.ready:
		return e.err == nil
	default:
		return false
	}
}

// leave gives a connection back.
func (p *pool) leave(e *pooled) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.users--; e.users == 0 && e.made() {
		p.rest(e)
	}
}

// rest puts a connection that nobody uses aside, or ends it. The caller holds the
// lock, as for all that follows.
func (p *pool) rest(e *pooled) {
	switch {
	case e.dropped || p.closed:
		p.end(e)
	case !e.link.usable():
		p.drop(e)
	default:
		e.since = time.Now()
		e.timer.Reset(p.idle)
	}
}

// expire ends a connection that nobody has used for long.
func (p *pool) expire(e *pooled) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.users == 0 && e.made() && !e.dropped {
		p.drop(e)
	}
}

// drop hands an entry out no more.
func (p *pool) drop(e *pooled) {
	if e.dropped {
		return
	}
	e.dropped = true
	if p.entries[e.key] == e {
		delete(p.entries, e.key)
	}
	if e.users == 0 && e.made() {
		p.end(e)
	}
}

func (p *pool) end(e *pooled) {
	e.timer.Stop()
	p.moving++
	e.link.closeSoon(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.moved()
	})
}

// evict makes room by ending the connection that has been idle for longest.
func (p *pool) evict() bool {
	var oldest *pooled
	for _, e := range p.entries {
		if e.users == 0 && e.made() && (oldest == nil || e.since.Before(oldest.since)) {
			oldest = e
		}
	}
	if oldest != nil {
		p.drop(oldest)
	}
	return oldest != nil
}

// close ends all connections that nobody uses, and the others with their last user.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, e := range p.entries {
		p.drop(e)
	}
	for p.moving > 0 {
		p.still.Wait()
	}
}
