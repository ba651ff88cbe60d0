package keyring

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

const (
	// KeySize is the length of a key, in bytes.
	KeySize = 32
	// maxID bounds the id of a key, in bytes.
	maxID = 128
)

// Ring holds keys, the newest first.
type Ring struct{ keys []*Key }

// Key enciphers and deciphers.
type Key struct {
	// ID names the key beside what it has enciphered.
	ID  string
	gcm cipher.AEAD
}

// Fields are the keys of a text, between commas and white space. A line that begins
// with # is a comment.
func Fields(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			all = append(all, strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(", \t\r\n", c) })...)
		}
	}
	return all
}

// Parse reads keys, the newest first: each as id:key with a key of 32 bytes in base64,
// separated by commas or white space. A line that begins with # is a comment. An error
// quotes no key.
func Parse(text string) (*Ring, error) {
	r := &Ring{}
	for i, field := range Fields(text) {
		id, encoded, ok := strings.Cut(field, ":")
		if !ok {
			return nil, fmt.Errorf("key number %d: want id:key", i+1)
		}
		if err := checkID(id); err != nil {
			return nil, fmt.Errorf("key number %d: id: %w", i+1, err)
		}
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || len(key) != KeySize {
			return nil, fmt.Errorf("key %s: want %d bytes in base64; make one with: openssl rand -base64 %d", id, KeySize, KeySize)
		}
		if r.Find(id) != nil {
			return nil, fmt.Errorf("key %s: is there twice", id)
		}
		one, err := New(id, key)
		clear(key)
		if err != nil {
			return nil, err
		}
		r.keys = append(r.keys, one)
	}
	if len(r.keys) == 0 {
		return nil, errors.New("there is no key; want id:key")
	}
	return r, nil
}

func checkID(id string) error {
	if id == "" {
		return errors.New("the name is empty")
	}
	if len(id) > maxID {
		return fmt.Errorf("the name is %d bytes long, at most %d are allowed", len(id), maxID)
	}
	for i, r := range id {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("._-/", r)) {
			return fmt.Errorf("%q is not allowed in a name; use letters, digits, . _ - and /", r)
		}
	}
	return nil
}

// New makes a key of its 32 bytes. The caller may wipe them then.
func New(id string, key []byte) (*Key, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	return &Key{id, gcm}, err
}

// Newest is the key that enciphers.
func (r *Ring) Newest() *Key { return r.keys[0] }

// Find returns the key of an id, or nil.
func (r *Ring) Find(id string) *Key {
	for _, key := range r.keys {
		if key.ID == id {
			return key
		}
	}
	return nil
}

// IDs are the ids of the keys, the newest first.
func (r *Ring) IDs() []string {
	ids := make([]string, len(r.keys))
	for i, key := range r.keys {
		ids[i] = key.ID
	}
	return ids
}

// Seal enciphers a text. The binding names what it belongs to: it opens with no other.
func (k *Key) Seal(binding string, text []byte) []byte {
	nonce := make([]byte, k.gcm.NonceSize(), k.gcm.NonceSize()+len(text)+k.gcm.Overhead())
	_, _ = rand.Read(nonce) // never fails
	return k.gcm.Seal(nonce, nonce, text, []byte(binding))
}

// ErrTampered says that a text does not open.
var ErrTampered = errors.New("it does not open: it was altered, or the key of that id is another")

// Open deciphers what Seal has made with the same binding. The error is [ErrTampered].
func (k *Key) Open(binding string, text []byte) ([]byte, error) {
	if len(text) < k.gcm.NonceSize() {
		return nil, ErrTampered
	}
	plain, err := k.gcm.Open(nil, text[:k.gcm.NonceSize()], text[k.gcm.NonceSize():], []byte(binding))
	if err != nil {
		return nil, ErrTampered
	}
	return plain, nil
}
