package secrets

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/heddle-dev/heddle/catalog"
)

// keySize is the length of a key of AES-256, in bytes.
const keySize = 32

// Keyring holds the keys that wrap the keys of secrets: the newest wraps, all can
// unwrap.
type Keyring struct {
	keys []wrappingKey // the newest first
}

type wrappingKey struct {
	id  string
	gcm cipher.AEAD
}

// keyFields are the keys of a text, between commas and white space. A line that begins
// with # is a comment.
func keyFields(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			all = append(all, strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(", \t\r\n", c) })...)
		}
	}
	return all
}

// ParseKeyring reads keys, the newest first: each as id:key with a key of 32 bytes in
// base64, separated by commas or white space. A line that begins with # is a comment.
// An error quotes no key.
func ParseKeyring(text string) (*Keyring, error) {
	r := &Keyring{}
	for i, field := range keyFields(text) {
		id, encoded, ok := strings.Cut(field, ":")
		if !ok {
			return nil, fmt.Errorf("key number %d: want id:key", i+1)
		}
		if err := catalog.CheckSecretName(id); err != nil {
			return nil, fmt.Errorf("key number %d: id: %w", i+1, err)
		}
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || len(key) != keySize {
			return nil, fmt.Errorf("key %s: want %d bytes in base64; make one with: openssl rand -base64 %d", id, keySize, keySize)
		}
		if r.find(id) != nil {
			return nil, fmt.Errorf("key %s: is there twice", id)
		}
		gcm, err := newGCM(key)
		wipe(key)
		if err != nil {
			return nil, err
		}
		r.keys = append(r.keys, wrappingKey{id, gcm})
	}
	if len(r.keys) == 0 {
		return nil, errors.New("there is no key; want id:key")
	}
	return r, nil
}

func newGCM(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func (r *Keyring) find(id string) *wrappingKey {
	for i := range r.keys {
		if r.keys[i].id == id {
			return &r.keys[i]
		}
	}
	return nil
}

// sealed is a value enciphered with a key of its own, and that key wrapped.
type sealed struct {
	keyID   string
	wrapped []byte
	value   []byte
}

// seal enciphers a value, with a key that the newest wraps. The binding names what it
// belongs to: it opens nowhere else.
func (r *Keyring) seal(binding string, value []byte) (sealed, error) {
	key := make([]byte, keySize)
	defer wipe(key)
	if _, err := rand.Read(key); err != nil {
		return sealed{}, err
	}
	gcm, err := newGCM(key)
	if err != nil {
		return sealed{}, err
	}
	newest := r.keys[0]
	return sealed{newest.id, encipher(newest.gcm, newest.id+"\n"+binding, key), encipher(gcm, binding, value)}, nil
}

func (r *Keyring) open(binding string, s sealed) ([]byte, error) {
	wrapping := r.find(s.keyID)
	if wrapping == nil {
		return nil, fmt.Errorf("it is enciphered with the key %s, which is not given", s.keyID)
	}
	key, err := decipher(wrapping.gcm, s.keyID+"\n"+binding, s.wrapped)
	if err != nil {
		return nil, err
	}
	defer wipe(key)
	gcm, err := newGCM(key)
	if err != nil {
		return nil, err
	}
	return decipher(gcm, binding, s.value)
}

// encipher puts a random nonce before what it enciphers.
func encipher(gcm cipher.AEAD, binding string, text []byte) []byte {
	nonce := make([]byte, gcm.NonceSize(), gcm.NonceSize()+len(text)+gcm.Overhead())
	_, _ = rand.Read(nonce) // never fails
	return gcm.Seal(nonce, nonce, text, []byte(binding))
}

var errTampered = errors.New("it does not open: it was altered, or the key of that id is another")

func decipher(gcm cipher.AEAD, binding string, text []byte) ([]byte, error) {
	if len(text) < gcm.NonceSize() {
		return nil, errTampered
	}
	plain, err := gcm.Open(nil, text[:gcm.NonceSize()], text[gcm.NonceSize():], []byte(binding))
	if err != nil {
		return nil, errTampered
	}
	return plain, nil
}
