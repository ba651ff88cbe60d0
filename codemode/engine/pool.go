package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/heddle-dev/heddle/codemode/internal/wire"
)

// growth is by how much memory a child may have grown and still be used again, in
// bytes.
const growth = 64 << 20

// pool keeps children. A slot is the right to have one at work.
type pool struct {
	options Options
	slots   chan struct{}
	closed  context.Context // ends when the pool is closed
	end     context.CancelFunc
	filling sync.WaitGroup

	mu      sync.Mutex
	fresh   []*child // ready, nobody's yet
	idle    []*child // somebody's, the longest unused first
	all     map[*child]bool
	pending int // children being started for fresh
}

// newPool starts the first child itself, to see that it can, and the others in
// the background.
func newPool(options Options) (*pool, error) {
	p := &pool{options: options, all: map[*child]bool{}, slots: make(chan struct{}, options.Concurrency)}
	p.closed, p.end = context.WithCancel(context.Background())
	first, err := p.spawn(p.closed)
	if err != nil {
		p.end()
		return nil, err
	}
	p.fresh = append(p.fresh, first)
	p.fill()
	return p, nil
}

// acquire waits for a slot and gives a child that is the tenant's or nobody's.
func (p *pool) acquire(ctx context.Context, tenant string) (*child, error) {
	select {
	case <-p.closed.Done():
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	case p.slots <- struct{}{}:
	}
	c := p.take(tenant)
	if c == nil {
		spawned, err := p.spawn(ctx)
		if err != nil {
			<-p.slots
			return nil, err
		}
		c = spawned
	}
	c.tenant = tenant
	p.fill()
	return c, nil
}

// take finds a child for a tenant: one that has served the tenant before, else a
// fresh one. When it gives none or a fresh one, an idle one may have to go.
func (p *pool) take(tenant string) *child {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.idle) - 1; i >= 0; i-- {
		if c := p.idle[i]; c.tenant == tenant && c.alive() {
			p.idle = slices.Delete(p.idle, i, i+1)
			return c
		}
	}
	p.trim()
	for len(p.fresh) > 0 {
		c := p.fresh[0]
		p.fresh = p.fresh[1:]
		if c.alive() {
			return c
		}
	}
	return nil
}

// release takes a child back and keeps it for its tenant, unless it is worn.
func (p *pool) release(c *child) {
	keep := c.closeExecution() && !p.worn(c)
	p.mu.Lock()
	if keep = keep && !p.isClosed(); keep {
		p.idle = append(p.idle, c)
		<-p.slots
		p.trim()
	}
	p.mu.Unlock()
	if !keep {
		c.discard()
		<-p.slots
	}
}

// trim ends the longest unused of the idle children that are more than there are
// free slots: they would never all be used.
func (p *pool) trim() {
	for len(p.idle) > 0 && len(p.idle) > cap(p.slots)-len(p.slots) {
		go p.idle[0].discard()
		p.idle = p.idle[1:]
	}
}

// worn reports whether a child has served its time.
func (p *pool) worn(c *child) bool {
	if !c.alive() || c.served >= p.options.Reuse {
		return true
	}
	used, ok := usageOf(c.pid)
	return ok && (used.memory > c.idle+growth || used.cpu > maxLifeCPU/2)
}

// spawn starts a child that close will find.
func (p *pool) spawn(ctx context.Context) (*child, error) {
	c, err := spawn(ctx, &p.options)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isClosed() {
		c.discard()
		return nil, ErrClosed
	}
	p.all[c] = true
	go func() {
		<-c.done
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.all, c)
	}()
	return c, nil
}

// fill starts fresh children in the background until there are enough.
func (p *pool) fill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.fresh)+p.pending < p.options.Warm && !p.isClosed() {
		p.pending++
		p.filling.Go(func() {
			c, err := p.spawn(p.closed)
			p.mu.Lock()
			defer p.mu.Unlock()
			p.pending--
			switch {
			case err == nil:
				p.fresh = append(p.fresh, c)
			case !p.isClosed():
				p.options.Logger.Warn("no warm sandbox", "error", err)
			}
		})
	}
}

func (p *pool) isClosed() bool { return p.closed.Err() != nil }

// close ends all children and waits until they are gone.
func (p *pool) close() {
	p.mu.Lock()
	p.end()
	var left []*child
	for c := range p.all {
		left = append(left, c)
	}
	p.fresh, p.idle = nil, nil
	p.mu.Unlock()
	p.filling.Wait()
	for _, c := range left {
		c.discard()
	}
}

// closeExecution drops what the child ran. It reports whether it could.
func (c *child) closeExecution() bool {
	frame, err := wire.Frame(wire.Request{Close: true})
	if err != nil || !c.alive() {
		return false
	}
	_ = c.stdin.SetWriteDeadline(time.Now().Add(time.Second))
	defer func() { _ = c.stdin.SetWriteDeadline(time.Time{}) }()
	_, err = c.stdin.Write(frame)
	return err == nil
}
