package secrets

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Put stores a secret where it lies already, else in the first store that can be
// changed; see [Store]. The value becomes known to the redactor.
func (v *Vault) Put(ctx context.Context, key Key, item Item) error {
	if err := errors.Join(key.Check(), checkValue(item.Value)); err != nil {
		return err
	}
	v.redactor.Hide(key.Tenant, item.Value)
	store, old, err := v.get(ctx, key)
	wipe(old.Value)
	if err == nil {
		return putIn(ctx, store, key, item)
	}
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	refused := ErrReadOnly
	for _, store := range v.stores {
		if err := putIn(ctx, store, key, item); !errors.Is(err, ErrReadOnly) {
			return err
		} else if key.Scope == App { // it names what to do instead
			refused = err
		}
	}
	return fmt.Errorf("there is no store that can be changed: %w", refused)
}

func putIn(ctx context.Context, store Store, key Key, item Item) error {
	if err := store.Put(ctx, key, item); err != nil {
		return fmt.Errorf("secret %s: store %s: %w", key.Name, store.Name(), err)
	}
	return nil
}

// Delete removes a secret from the first store that has it. The error wraps
// [ErrNotFound] where none has.
func (v *Vault) Delete(ctx context.Context, key Key) error {
	store, old, err := v.get(ctx, key)
	wipe(old.Value)
	if err != nil {
		return err
	}
	if err := store.Delete(ctx, key); err != nil {
		return fmt.Errorf("secret %s: store %s: %w", key.Name, store.Name(), err)
	}
	return nil
}

// List says which secrets there are in all stores, ordered by key. One that a store
// hides from those behind it is there more than once; the first is the one in use.
func (v *Vault) List(ctx context.Context) ([]Entry, error) {
	var all []Entry
	for _, store := range v.stores {
		entries, err := store.List(ctx)
		if err != nil {
			return nil, fmt.Errorf("store %s: %w", store.Name(), err)
		}
		all = append(all, entries...)
	}
	slices.SortStableFunc(all, compareEntries)
	return all, nil
}
