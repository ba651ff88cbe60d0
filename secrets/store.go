package secrets

import (
	"context"
	"errors"
	"time"

	"github.com/heddle-dev/heddle/catalog"
)

// Store keeps secrets. It is safe for concurrent use, by several processes where the
// place allows it. No error of a store holds a value.
type Store interface {
	// Name names the store for people.
	Name() string
	// Get returns a secret. The value is the caller's, who overwrites it. The error
	// wraps [ErrNotFound] where there is none.
	Get(ctx context.Context, key Key) (Item, error)
	// Put stores a secret and gives it a new version. Where the item has a version it
	// replaces that one alone: if there is another, the error wraps [ErrChanged]. The
	// value is not kept. The error wraps [ErrReadOnly] where nothing can be stored.
	Put(ctx context.Context, key Key, item Item) error
	// Delete removes a secret. The error wraps [ErrNotFound] where there is none.
	Delete(ctx context.Context, key Key) error
	// List says which secrets there are, ordered by key.
	List(ctx context.Context) ([]Entry, error)
	// Rotate enciphers everything anew with the newest key, and returns how many
	// secrets were not before.
	Rotate(ctx context.Context) (int, error)
	// Close releases what the store holds.
	Close() error
}

// Item is a secret as a store keeps it.
type Item struct {
	Value []byte
	// Expires is when the value becomes useless. Zero: never.
	Expires time.Time
	// Version counts up with each change, from 1.
	Version int64
}

// Entry is what may be known of a secret by those who may not know its value.
type Entry struct {
	Key
	// Store is the name of the store.
	Store   string    `json:"store"`
	Expires time.Time `json:"expires,omitzero"`
	Updated time.Time `json:"updated,omitzero"`
	// KeyID names the key that the value is enciphered with, where there is one.
	KeyID string `json:"key_id,omitempty"`
}

// Errors of stores and vaults.
var (
	ErrNotFound = catalog.ErrNoSecret
	ErrChanged  = errors.New("the secret has been changed meanwhile")
	ErrReadOnly = errors.New("secrets cannot be changed here")
	// ErrStale says, as the error of a use, that the value was refused, and that a
	// renewed one may not be.
	ErrStale = errors.New("the secret is stale")
)

// wipe overwrites a value.
func wipe(value []byte) { clear(value) }
