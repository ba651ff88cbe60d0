package secrets

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// flights sees to it that a secret is renewed once for all who wait for it: many
// servers void a refresh token that is used twice.
type flights struct {
	mu sync.Mutex
	// turns hold, for a secret that is being renewed, whose turn it is.
	turns map[Key]*flight
}

type flight struct {
	turn    chan struct{}
	waiting int
}

// take waits for the turn to renew a secret.
func (f *flights) take(ctx context.Context, key Key) (release func(), err error) {
	f.mu.Lock()
	if f.turns == nil {
		f.turns = map[Key]*flight{}
	}
	one := f.turns[key]
	if one == nil {
		one = &flight{turn: make(chan struct{}, 1)}
		f.turns[key] = one
	}
	one.waiting++
	f.mu.Unlock()
	leave := func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if one.waiting--; one.waiting == 0 {
			delete(f.turns, key)
		}
	}
	select {
	case one.turn <- struct{}{}:
		return func() { <-one.turn; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

// renewed returns a value that is newer than a version: what another caller or
// worker has stored meanwhile, else what Renew makes.
func (v *Vault) renewed(ctx context.Context, store Store, key Key, version int64) (Item, error) {
	release, err := v.flights.take(ctx, key)
	if err != nil {
		return Item{}, err
	}
	defer release()
	item, err := store.Get(ctx, key)
	if err != nil || item.Version != version {
		return item, err
	}
	defer wipe(item.Value)
	value, expires, err := v.renew(ctx, key, item.Value)
	if err != nil {
		return Item{}, fmt.Errorf("secret %s: renew: %w", key.Name, err)
	}
	v.redactor.Hide(key.Tenant, value)
	fresh := Item{Value: value, Expires: expires, Version: version}
	err = store.Put(ctx, key, fresh)
	switch {
	case err == nil:
		fresh.Version++
		return fresh, nil
	case errors.Is(err, ErrChanged): // another worker was first, and its value holds
		wipe(value)
		return store.Get(ctx, key)
	default:
		wipe(value)
		return Item{}, fmt.Errorf("secret %s: store the renewed value: %w", key.Name, err)
	}
}
