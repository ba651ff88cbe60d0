package secrets

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/catalog"
)

// Scope says whose a secret is.
type Scope string

// The scopes.
const (
	App        Scope = catalog.SecretOfApp
	Tenant     Scope = catalog.SecretOfTenant
	User       Scope = catalog.SecretOfUser
	Connection Scope = catalog.SecretOfConnection
)

// Key names a secret.
type Key struct {
	Scope Scope `json:"scope"`
	// Tenant is set in all scopes but [App].
	Tenant string `json:"tenant,omitempty"`
	// Owner is the user or the connection, in these scopes.
	Owner string `json:"owner,omitempty"`
	Name  string `json:"name"`
}

// maxOwner bounds a tenant's and a user's name, in bytes.
const maxOwner = 256

// MaxValue bounds the value of a secret, in bytes.
const MaxValue = 64 << 10

// Check says what is wrong with a key.
func (k Key) Check() error {
	if err := catalog.CheckSecretName(k.Name); err != nil {
		return fmt.Errorf("secret: %w", err)
	}
	needsTenant, needsOwner := true, false
	switch k.Scope {
	case App:
		needsTenant = false
	case Tenant:
	case User, Connection:
		needsOwner = true
	default:
		return fmt.Errorf("secret %s: scope %q: want app, tenant, user or connection", k.Name, k.Scope)
	}
	if err := checkOwner(k.Name, "tenant", k.Tenant, needsTenant); err != nil {
		return err
	}
	if err := checkOwner(k.Name, string(k.Scope), k.Owner, needsOwner); err != nil {
		return err
	}
	if k.Scope == Connection {
		if err := catalog.CheckSecretName(k.Owner); err != nil {
			return fmt.Errorf("secret %s: connection: %w", k.Name, err)
		}
	}
	return nil
}

func checkOwner(name, what, owner string, needed bool) error {
	switch {
	case needed && owner == "":
		return fmt.Errorf("secret %s: names no %s", name, what)
	case !needed && owner != "":
		return fmt.Errorf("secret %s: is not of a single owner, and names %q", name, owner)
	case len(owner) > maxOwner:
		return fmt.Errorf("secret %s: %s is %d bytes long, at most %d are allowed", name, what, len(owner), maxOwner)
	case !utf8.ValidString(owner) || strings.ContainsFunc(owner, unicode.IsControl):
		return fmt.Errorf("secret %s: %s holds a control character or is not valid UTF-8", name, what)
	}
	return nil
}

// String names the secret for people, such as tenant acme: github.token.
func (k Key) String() string {
	switch k.Scope {
	case App:
		return "app: " + k.Name
	case Tenant:
		return fmt.Sprintf("tenant %s: %s", k.Tenant, k.Name)
	default:
		return fmt.Sprintf("tenant %s, %s %s: %s", k.Tenant, k.Scope, k.Owner, k.Name)
	}
}

// checkValue says what is wrong with a value, without a word of it.
func checkValue(value []byte) error {
	switch {
	case len(value) == 0:
		return errors.New("the value is empty")
	case len(value) > MaxValue:
		return fmt.Errorf("the value is %d bytes long, at most %d are allowed", len(value), MaxValue)
	}
	return nil
}

// keysOf are the keys that a reference stands for within a scope, the narrowest
// first.
func keysOf(scope catalog.Scope, ref catalog.SecretRef) []Key {
	app := Key{Scope: App, Name: ref.Name}
	tenant := Key{Scope: Tenant, Tenant: scope.Tenant, Name: ref.Name}
	user := Key{Scope: User, Tenant: scope.Tenant, Owner: scope.User, Name: ref.Name}
	var keys []Key
	switch Scope(ref.Scope) {
	case App:
		keys = []Key{app}
	case Tenant:
		keys = []Key{tenant}
	case User:
		keys = []Key{user}
	case Connection:
		keys = []Key{ConnectionKey(scope.Tenant, "", ref.Connection, ref.Name)}
		if scope.User != "" {
			keys = append([]Key{ConnectionKey(scope.Tenant, scope.User, ref.Connection, ref.Name)}, keys...)
		}
	default:
		keys = []Key{user, tenant, app}
	}
	sound := keys[:0]
	for _, key := range keys {
		if key.Check() == nil { // a thread without a user has no user's secrets
			sound = append(sound, key)
		}
	}
	return sound
}
