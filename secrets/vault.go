package secrets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/catalog"
)

// renewBefore is how long before its end a value counts as expired.
const renewBefore = 30 * time.Second

// Renew makes a new value of an expired or refused one, such as an access token by
// its refresh token. A zero time means that the new value does not expire. Neither
// slice may be kept. An error wraps [ErrNotFound] where the secret is none that it
// renews.
type Renew func(ctx context.Context, key Key, old []byte) (value []byte, expires time.Time, err error)

// Vault gives out secrets. It is safe for concurrent use.
type Vault struct {
	stores   []Store
	redactor *Redactor
	renewals []Renew
	flights  flights
}

var _ catalog.Secrets = (*Vault)(nil)

// NewVault returns a vault over stores, which are asked in order. Renew may be nil.
func NewVault(redactor *Redactor, renew Renew, stores ...Store) *Vault {
	v := &Vault{stores: stores, redactor: redactor}
	v.AddRenewal(renew)
	return v
}

// AddRenewal adds what renews some secrets, behind those there are: the first that
// does not answer [ErrNotFound] decides. A nil one is none. It may be called before
// the first use of the vault only.
func (v *Vault) AddRenewal(renew Renew) {
	if renew != nil {
		v.renewals = append(v.renewals, renew)
	}
}

// renew asks the renewals in order.
func (v *Vault) renew(ctx context.Context, key Key, old []byte) ([]byte, time.Time, error) {
	for _, renew := range v.renewals {
		value, expires, err := renew(ctx, key, old)
		if !errors.Is(err, ErrNotFound) {
			return value, expires, err
		}
	}
	return nil, time.Time{}, ErrNotFound
}

// Redactor finds the values in use.
func (v *Vault) Redactor() *Redactor { return v.redactor }

// Know makes the values of secrets known to the redactor.
func (v *Vault) Know(ctx context.Context, scope catalog.Scope, refs []string) error {
	for _, text := range refs {
		ref, err := catalog.ParseSecretRef(text)
		if err != nil {
			return err
		}
		for _, key := range keysOf(scope, ref) {
			_, item, err := v.get(ctx, key)
			switch {
			case errors.Is(err, ErrNotFound):
			case err != nil:
				return err
			default:
				v.redactor.Hide(key.Tenant, item.Value)
				wipe(item.Value)
			}
		}
	}
	return nil
}

// Use calls use with the value that a reference stands for within a scope.
func (v *Vault) Use(ctx context.Context, scope catalog.Scope, text string, use func(value []byte) error) error {
	ref, err := catalog.ParseSecretRef(text)
	if err != nil {
		return err
	}
	for _, key := range keysOf(scope, ref) {
		store, item, err := v.get(ctx, key)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		return v.use(ctx, store, key, item, use)
	}
	return fmt.Errorf("secret %s: %w", text, catalog.ErrNoSecret)
}

func (v *Vault) use(ctx context.Context, store Store, key Key, item Item, use func([]byte) error) error {
	renewed := false
	if len(v.renewals) > 0 && !item.Expires.IsZero() && time.Until(item.Expires) < renewBefore {
		fresh, err := v.renewed(ctx, store, key, item.Version)
		switch {
		case err == nil:
			wipe(item.Value)
			item, renewed = fresh, true
		case !errors.Is(err, ErrNotFound):
			wipe(item.Value)
			return err
		}
	}
	err := v.lend(key, item.Value, use)
	if len(v.renewals) == 0 || renewed || !errors.Is(err, ErrStale) {
		return err
	}
	fresh, renewErr := v.renewed(ctx, store, key, item.Version)
	if errors.Is(renewErr, ErrNotFound) {
		return err
	}
	if renewErr != nil {
		return renewErr
	}
	return v.lend(key, fresh.Value, use)
}

// lend calls use with a value and overwrites it.
func (v *Vault) lend(key Key, value []byte, use func([]byte) error) error {
	defer wipe(value)
	v.redactor.Hide(key.Tenant, value)
	return use(value)
}

// get asks the stores in order.
func (v *Vault) get(ctx context.Context, key Key) (Store, Item, error) {
	for _, store := range v.stores {
		item, err := store.Get(ctx, key)
		switch {
		case errors.Is(err, ErrNotFound):
		case err != nil:
			return nil, Item{}, fmt.Errorf("secret %s: store %s: %w", key.Name, store.Name(), err)
		default:
			return store, item, nil
		}
	}
	return nil, Item{}, fmt.Errorf("secret %s: %w", key.Name, ErrNotFound)
}

// Hide makes a value of the scope's tenant known to the redactor.
func (v *Vault) Hide(scope catalog.Scope, value []byte) { v.redactor.Hide(scope.Tenant, value) }

// Text returns a text of the scope's tenant without secret values.
func (v *Vault) Text(scope catalog.Scope, text string) string {
	return v.redactor.Text(scope.Tenant, text)
}

// JSON returns a JSON value of the scope's tenant without secret values.
func (v *Vault) JSON(scope catalog.Scope, value json.RawMessage) json.RawMessage {
	return v.redactor.JSON(scope.Tenant, value)
}

// Close closes the stores.
func (v *Vault) Close() error {
	var errs []error
	for _, store := range v.stores {
		errs = append(errs, store.Close())
	}
	return errors.Join(errs...)
}
