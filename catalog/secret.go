package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Secrets is where tools get credentials from, and what takes them out of all
// that leaves a call. *[secrets.Vault] is one. It is safe for concurrent use.
//
// [secrets.Vault]: https://pkg.go.dev/github.com/heddle-dev/heddle/secrets#Vault
type Secrets interface {
	// Know makes Text and JSON find the values of secrets, whether or not they are
	// used here: another worker may have sent them to whoever answers now. One that
	// does not exist is no error.
	Know(ctx context.Context, scope Scope, refs []string) error
	// Use calls use with the value of a secret, at most twice: again only when use
	// says that the value is stale and a newer one could be had. The value is
	// overwritten when use returns. The error is that of use, or wraps
	// [ErrNoSecret], or says why the store cannot be read; it holds no value.
	Use(ctx context.Context, scope Scope, ref string, use func(value []byte) error) error
	// Hide makes Text and JSON find a value that came from elsewhere, such as an
	// access token. The value is copied.
	Hide(scope Scope, value []byte)
	// Text returns a text of the scope's tenant without secret values.
	Text(scope Scope, text string) string
	// JSON returns a JSON value without secret values. It stays valid JSON, and
	// what holds none stays as it is to the byte.
	JSON(scope Scope, value json.RawMessage) json.RawMessage
}

// ErrNoSecret says that there is no secret of a name within a scope.
var ErrNoSecret = errors.New("there is no such secret")

// The scopes of a secret.
const (
	SecretOfApp        = "app"
	SecretOfTenant     = "tenant"
	SecretOfUser       = "user"
	SecretOfConnection = "connection"
)

// MaxSecrets bounds the secrets that a tool declares.
const MaxSecrets = 32

func checkSecrets(refs []string) error {
	if len(refs) > MaxSecrets {
		return fmt.Errorf("it declares %d secrets, at most %d are allowed", len(refs), MaxSecrets)
	}
	for _, ref := range refs {
		if _, err := ParseSecretRef(ref); err != nil {
			return err
		}
	}
	return nil
}

// MaxSecretName bounds the name of a secret, and of a connection, in bytes.
const MaxSecretName = 128

// SecretRef names a secret to whoever may use it. It is written as
//
//	github.token               of the user, else of the tenant, else of the application
//	app:github.token           of the application alone; so too tenant: and user:
//	connection:crm:token       of the connection crm
type SecretRef struct {
	// Scope is one of the SecretOf constants, or empty for the narrowest that has
	// the secret.
	Scope string
	// Connection is the id of a connection, with that scope.
	Connection string
	Name       string
}

// ParseSecretRef reads a reference.
func ParseSecretRef(text string) (SecretRef, error) {
	refuse := func(format string, args ...any) (SecretRef, error) {
		return SecretRef{}, fmt.Errorf("secret %s: "+format, append([]any{quote(text)}, args...)...)
	}
	parts := strings.Split(text, ":")
	ref := SecretRef{Name: parts[len(parts)-1]}
	if len(parts) > 1 {
		ref.Scope = parts[0]
	}
	switch ref.Scope {
	case SecretOfApp, SecretOfTenant, SecretOfUser:
		if len(parts) > 2 {
			return refuse("has a colon too many; want %s:name", ref.Scope)
		}
	case SecretOfConnection:
		if len(parts) != 3 {
			return refuse("want connection:id:name")
		}
		ref.Connection = parts[1]
		if err := CheckSecretName(ref.Connection); err != nil {
			return refuse("connection: %w", err)
		}
	case "":
		if len(parts) > 1 {
			return refuse("begins with a colon; want name or scope:name")
		}
	default:
		return refuse("unknown scope %s; want app, tenant, user or connection", quote(ref.Scope))
	}
	if err := CheckSecretName(ref.Name); err != nil {
		return refuse("%w", err)
	}
	return ref, nil
}

// CheckSecretName says what is wrong with the name of a secret: a letter or digit,
// then letters, digits, . _ - and /, at most [MaxSecretName] bytes (ASCII).
func CheckSecretName(name string) error {
	switch {
	case name == "":
		return errors.New("the name is empty")
	case len(name) > MaxSecretName:
		return fmt.Errorf("the name is %d bytes long, at most %d are allowed", len(name), MaxSecretName)
	}
	for i, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("._-/", r)) {
			return fmt.Errorf("%q is not allowed in a name; use letters, digits, . _ - and /", r)
		}
	}
	return nil
}

// CallSecrets gives a tool the secrets that its descriptor declares, and no
// others. The zero value has none.
type CallSecrets struct {
	from     Secrets
	scope    Scope
	declared []string
}

// Use calls use with the value of a declared secret. The value is overwritten when
// use returns: keep no part of it, and put it into no error. An error of use is
// returned as it is; any other is an *[Error] that the tool may return, of a connection
// one that [Error.Reconnection] reads.
//
// A use that finds the value to be refused, such as by HTTP status 401, may return
// an error that wraps secrets.ErrStale: where the secret can be renewed, use is
// called once more.
func (s CallSecrets) Use(ctx context.Context, ref string, use func(value []byte) error) error {
	if !slices.Contains(s.declared, ref) {
		return &Error{
			Code: CodeSecretNotDeclared, Effect: EffectNone,
			Message: fmt.Sprintf("the tool does not declare the secret %s, and cannot use it", quote(ref)),
		}
	}
	if s.from == nil {
		return secretMissing(ref)
	}
	var failed error
	called := false
	err := s.from.Use(ctx, s.scope, ref, func(value []byte) error {
		called = true
		failed = use(value)
		return failed
	})
	switch {
	case err == nil, called && errors.Is(err, failed):
		return err
	case errors.Is(err, ErrNoSecret):
		return secretMissing(ref)
	}
	var typed *Error
	if errors.As(err, &typed) {
		return typed
	}
	return secretUnavailable(ref, err)
}

// Hide keeps a value that the tool has learned, such as an access token, out of
// results, errors and logs.
func (s CallSecrets) Hide(value []byte) {
	if s.from != nil {
		s.from.Hide(s.scope, value)
	}
}

func secretMissing(ref string) *Error {
	if r, err := ParseSecretRef(ref); err == nil && r.Scope == SecretOfConnection {
		return Reconnection{Name: r.Connection}.Error(CodeConnectionMissing,
			fmt.Sprintf("the tool needs the connection %s, and there is none", r.Connection))
	}
	return &Error{
		Code: CodeSecretMissing, Effect: EffectNone,
		Message: fmt.Sprintf("the tool needs the secret %s, and there is none", quote(ref)),
		Hint:    "a person must set it: starter secrets set",
	}
}

func secretUnavailable(ref string, err error) *Error {
	return &Error{
		Code: CodeSecretUnavailable, Effect: EffectNone, Retryable: true,
		Message: fmt.Sprintf("the secret %s cannot be read: %s", quote(ref), plain(err.Error(), maxMessage)),
	}
}
