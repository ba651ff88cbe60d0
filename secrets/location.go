package secrets

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/heddle-dev/heddle/internal/keyring"
)

// Kind is a kind of store.
type Kind string

// The kinds.
const (
	KindEnv      Kind = "env"
	KindFile     Kind = "file"
	KindSQLite   Kind = "sqlite"
	KindPostgres Kind = "postgres"
)

// Location says where a store is, and where the key comes from that enciphers it.
type Location struct {
	Kind Kind
	// Place is the prefix of the variables of an environment (empty: the usual one),
	// the path of a file or the URL of a PostgreSQL database.
	Place string
	// KeyEnv names the environment variable that holds the key, or KeyFile is a file
	// of its owner's alone that does: identities of age for a file, what [ParseKeyring]
	// reads for a database.
	KeyEnv, KeyFile string
	// Plain says that a file is not enciphered, and has no key.
	Plain bool
}

// Check says what is wrong with a location, before anything outside is looked at.
func (l Location) Check() error {
	keys := 0
	for _, key := range []string{l.KeyEnv, l.KeyFile} {
		if key != "" {
			keys++
		}
	}
	switch l.Kind {
	case KindEnv:
		if keys > 0 || l.Plain {
			return errors.New("the environment is not enciphered, and has no key")
		}
		return nil
	case KindFile:
		switch {
		case l.Plain && keys > 0:
			return errors.New("a plain file has no key")
		case !l.Plain && keys != 1:
			return errors.New("want one of key_env and key_file, or plain: true for a file that is not enciphered")
		}
	case KindSQLite, KindPostgres:
		if l.Plain || keys != 1 {
			return errors.New("want one of key_env and key_file; what lies in a database is enciphered always")
		}
	default:
		return fmt.Errorf("kind %q: want env, file, sqlite or postgres", l.Kind)
	}
	if l.Place == "" {
		return fmt.Errorf("the place of the store (%s) is empty", l.Kind)
	}
	return nil
}

// Open opens the store of a location. Its key, the password of a database and all values
// of an environment, which any code of the process can read, become known to the
// redactor. The error quotes none.
func Open(l Location, redactor *Redactor) (Store, error) {
	if err := l.Check(); err != nil {
		return nil, fmt.Errorf("secrets: %w", err)
	}
	if l.Kind == KindEnv {
		env := NewEnv(l.Place, os.Environ)
		env.hide(redactor)
		return env, nil
	}
	if l.Plain {
		return asStore(OpenFile(l.Place, nil))
	}
	key, err := l.key()
	if err != nil {
		return nil, fmt.Errorf("secrets: key of %s: %w", cmp.Or(l.shown(), string(l.Kind)), err)
	}
	defer wipe(key)
	HideKeys(redactor, key)
	if l.Kind == KindFile {
		identities, err := ParseIdentities(key)
		if err != nil {
			return nil, fmt.Errorf("secrets: key of %s: %w", l.Place, err)
		}
		return asStore(OpenFile(l.Place, identities))
	}
	keys, err := ParseKeyring(string(key))
	if err != nil {
		return nil, fmt.Errorf("secrets: key of %s: %w", cmp.Or(l.shown(), string(l.Kind)), err)
	}
	if l.Kind == KindSQLite {
		return asStore(OpenSQLite(l.Place, keys))
	}
	if address, err := url.Parse(l.Place); err == nil {
		if password, has := address.User.Password(); has {
			redactor.Hide("", []byte(password))
		}
	}
	return asStore(OpenPostgres(l.Place, keys))
}

// asStore keeps a nil pointer from becoming a store.
func asStore[S Store](store S, err error) (Store, error) {
	if err != nil {
		return nil, err
	}
	return store, nil
}

// shown is the place for people. The URL of a database may hold a password.
func (l Location) shown() string {
	if l.Kind == KindPostgres {
		return ""
	}
	return l.Place
}

// key reads the key.
func (l Location) key() ([]byte, error) { return ReadKey(l.KeyEnv, l.KeyFile) }

// ReadKey reads a key from a file that is its owner's alone or, where none is named,
// from an environment variable.
func ReadKey(env, file string) ([]byte, error) {
	if file != "" {
		return readPrivate(file)
	}
	key := os.Getenv(env)
	if strings.TrimSpace(key) == "" {
		return nil, fmt.Errorf("the environment variable %s is not set", env)
	}
	return []byte(key), nil
}

// HideKeys makes the keys of a text known, each with its id and without.
func HideKeys(redactor *Redactor, text []byte) {
	for _, one := range keyring.Fields(string(text)) {
		redactor.Hide("", []byte(one))
		if _, key, ok := strings.Cut(one, ":"); ok {
			redactor.Hide("", []byte(key))
		}
	}
}
