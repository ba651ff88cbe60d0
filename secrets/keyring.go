package secrets

import (
	"crypto/rand"
	"fmt"

	"github.com/heddle-dev/heddle/internal/keyring"
)

// Keyring holds the keys that wrap the keys of secrets: the newest wraps, all can
// unwrap.
type Keyring struct{ keys *keyring.Ring }

// ParseKeyring reads keys, the newest first: each as id:key with a key of 32 bytes in
// base64, separated by commas or white space. A line that begins with # is a comment.
// An error quotes no key.
func ParseKeyring(text string) (*Keyring, error) {
	keys, err := keyring.Parse(text)
	if err != nil {
		return nil, err
	}
	return &Keyring{keys}, nil
}

// newest is the id of the key that wraps.
func (r *Keyring) newest() string { return r.keys.Newest().ID }

// sealed is a value enciphered with a key of its own, and that key wrapped.
type sealed struct {
	keyID   string
	wrapped []byte
	value   []byte
}

// seal enciphers a value, with a key that the newest wraps. The binding names what it
// belongs to: it opens nowhere else.
func (r *Keyring) seal(binding string, value []byte) (sealed, error) {
	raw := make([]byte, keyring.KeySize)
	defer wipe(raw)
	if _, err := rand.Read(raw); err != nil {
		return sealed{}, err
	}
	key, err := keyring.New("", raw)
	if err != nil {
		return sealed{}, err
	}
	wrapping := r.keys.Newest()
	return sealed{wrapping.ID, wrapping.Seal(wrapping.ID+"\n"+binding, raw), key.Seal(binding, value)}, nil
}

func (r *Keyring) open(binding string, s sealed) ([]byte, error) {
	wrapping := r.keys.Find(s.keyID)
	if wrapping == nil {
		return nil, fmt.Errorf("it is enciphered with the key %s, which is not given", s.keyID)
	}
	raw, err := wrapping.Open(s.keyID+"\n"+binding, s.wrapped)
	if err != nil {
		return nil, err
	}
	defer wipe(raw)
	key, err := keyring.New("", raw)
	if err != nil {
		return nil, err
	}
	return key.Open(binding, s.value)
}
