package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/heddle-dev/heddle/catalog"
)

// maxPeople bounds for how many people at once a source keeps what a server offers them.
const maxPeople = 1000

// Connected is the tools of one server that each tenant, and each user who wants to,
// connects by itself: what there is, is asked with the connection of whoever asks, and
// shared with nobody else. It is safe for concurrent use.
type Connected struct {
	options Options
	server  *url.URL

	mu     sync.Mutex
	people map[person]*visited
}

// person is on whose behalf a server is asked.
type person struct{ tenant, user string }

// visited is the source of one person.
type visited struct {
	*Source
	used time.Time
}

var (
	_ catalog.Scoped = (*Connected)(nil)
	_ catalog.Remote = (*Connected)(nil)
)

// NewConnected returns the source of a server, whose options name a connection. It asks
// nothing yet; the error names the option that cannot be.
func NewConnected(o Options) (*Connected, error) {
	if o.Connection == "" {
		return nil, fmt.Errorf("mcp: %s: names no connection", o.Namespace)
	}
	s, err := New(o)
	if err != nil {
		return nil, err
	}
	s.Close()
	return &Connected{options: o, server: s.server, people: map[person]*visited{}}, nil
}

// Name is the namespace.
func (c *Connected) Name() string { return c.options.Namespace }

// Namespace begins the id of each tool.
func (c *Connected) Namespace() string { return c.options.Namespace }

// Tools are none: who has no tenant has no connection.
func (*Connected) Tools(context.Context) ([]catalog.Tool, error) { return nil, nil }

// ListingKey is the user: a user may have a connection of their own.
func (*Connected) ListingKey(scope catalog.Scope) string { return scope.User }

// ToolsFor lists what the server offers with the connection of a scope. Without one it
// offers nothing that could be listed.
func (c *Connected) ToolsFor(ctx context.Context, scope catalog.Scope) ([]catalog.Tool, error) {
	who := person{scope.Tenant, scope.User}
	s, err := c.of(who)
	if err != nil {
		return nil, err
	}
	// Whether there is a connection is looked at each time, so that one that is made
	// has its tools at once, and one that is gone has none.
	_, err = s.credentials(ctx, Need{})
	if err == nil {
		var tools []catalog.Tool
		if tools, err = s.Tools(ctx); err == nil {
			return tools, nil
		}
	}
	var typed *catalog.Error
	if !errors.As(err, &typed) {
		return nil, err
	}
	if _, mendable := typed.Reconnection(); !mendable {
		return nil, err
	}
	return nil, &catalog.PartialError{Parts: []catalog.Unavailable{{Source: c.Name(), Reason: typed.Message + "; " + typed.Hint, Cause: typed}}}
}

// Shortfall is that of the source of a person, as [Source.Shortfall] says.
func (c *Connected) Shortfall(scope catalog.Scope) (leftOut []string, stale error) {
	c.mu.Lock()
	one := c.people[person{scope.Tenant, scope.User}]
	c.mu.Unlock()
	if one == nil {
		return nil, nil
	}
	return one.Shortfall(scope)
}

// of returns the source of a person, and makes room for it.
func (c *Connected) of(who person) (*Source, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one := c.people[who]; one != nil {
		one.used = time.Now()
		return one.Source, nil
	}
	if len(c.people) >= maxPeople {
		var oldest person
		for p, one := range c.people {
			if old := c.people[oldest]; old == nil || one.used.Before(old.used) {
				oldest = p
			}
		}
		c.people[oldest].Close()
		delete(c.people, oldest)
	}
	s, err := New(c.options)
	if err != nil {
		return nil, err
	}
	s.credentials = pinned(s.credentials, who)
	c.people[who] = &visited{s, time.Now()}
	return s, nil
}

// pinned asks for the credentials of one person also for a listing, which is nobody's.
func pinned(credentials Credentials, who person) Credentials {
	return func(ctx context.Context, need Need) (Credential, error) {
		if need.Scope.Tenant == "" {
			need.Scope = catalog.Scope{Tenant: who.tenant, User: who.user}
		}
		return credentials(ctx, need)
	}
}

// Close ends all connections, as [Source.Close] does.
func (c *Connected) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.people {
		one.Close()
	}
}
