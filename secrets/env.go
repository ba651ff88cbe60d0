package secrets

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// Env is a store of the application's secrets in environment variables: that of
// github.token, with the prefix HEDDLE_SECRET_, is HEDDLE_SECRET_GITHUB_TOKEN. It
// cannot be changed.
type Env struct {
	prefix  string
	environ func() []string
}

// DefaultEnvPrefix begins the names of the variables that hold secrets.
const DefaultEnvPrefix = "HEDDLE_SECRET_"

// NewEnv returns a store of what the environment holds. Environ lists variables as
// os.Environ does.
func NewEnv(prefix string, environ func() []string) *Env {
	return &Env{prefix: cmp.Or(prefix, DefaultEnvPrefix), environ: environ}
}

// Name is env.
func (*Env) Name() string { return "env" }

// Variable is the name of the variable that holds a secret of the application.
func (e *Env) Variable(name string) string {
	return e.prefix + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		default:
			return '_'
		}
	}, name)
}

// Get reads a variable.
func (e *Env) Get(_ context.Context, key Key) (Item, error) {
	if key.Scope != App {
		return Item{}, ErrNotFound
	}
	variable := e.Variable(key.Name)
	for _, pair := range e.environ() {
		if name, value, _ := strings.Cut(pair, "="); name == variable && value != "" {
			if len(value) > MaxValue {
				return Item{}, fmt.Errorf("%s: %w", variable, checkValue([]byte(value)))
			}
			return Item{Value: []byte(value), Version: 1}, nil
		}
	}
	return Item{}, ErrNotFound
}

// Put is refused.
func (e *Env) Put(_ context.Context, key Key, _ Item) error {
	return fmt.Errorf("%w: set the variable %s instead", ErrReadOnly, e.Variable(key.Name))
}

// Delete is refused.
func (e *Env) Delete(_ context.Context, key Key) error {
	return fmt.Errorf("%w: unset the variable %s instead", ErrReadOnly, e.Variable(key.Name))
}

// hide makes all values known.
func (e *Env) hide(redactor *Redactor) {
	for _, pair := range e.environ() {
		if name, value, _ := strings.Cut(pair, "="); strings.HasPrefix(name, e.prefix) {
			redactor.Hide("", []byte(value))
		}
	}
}

// List names the variables that hold secrets, as names that lead to them.
func (e *Env) List(context.Context) ([]Entry, error) {
	var entries []Entry
	for _, pair := range e.environ() {
		name, value, _ := strings.Cut(pair, "=")
		rest, ours := strings.CutPrefix(name, e.prefix)
		if ours && rest != "" && value != "" {
			entries = append(entries, Entry{Key: Key{Scope: App, Name: strings.ToLower(rest)}, Store: e.Name()})
		}
	}
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Key.Name, b.Key.Name) })
	return entries, nil
}

// Rotate is nothing: the environment is not enciphered.
func (*Env) Rotate(context.Context) (int, error) { return 0, nil }

// Close does nothing.
func (*Env) Close() error { return nil }
