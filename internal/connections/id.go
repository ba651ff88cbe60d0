package connections

import (
	"errors"
	"fmt"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/secrets"
)

// ID names a connection.
type ID struct {
	Tenant string `json:"tenant"`
	// User is whose own connection it is. Empty: it is for all of the tenant.
	User string `json:"user,omitempty"`
	// Name is what references say, as in connection:NAME:token.
	Name string `json:"name"`
}

// maxName bounds the name of a connection, in bytes.
const maxName = 64

// Check says what is wrong with an ID.
func (id ID) Check() error {
	if err := catalog.CheckSecretName(id.Name); err != nil {
		return fmt.Errorf("name of the connection: %w", err)
	}
	if len(id.Name) > maxName {
		return fmt.Errorf("name of the connection: it is %d bytes long, at most %d are allowed", len(id.Name), maxName)
	}
	if id.Tenant == "" {
		return errors.New("tenant: a connection belongs to one, and none is given")
	}
	return id.key(tokenPart).Check()
}

// String names the connection for people.
func (id ID) String() string {
	if id.User == "" {
		return fmt.Sprintf("%s of tenant %s", id.Name, id.Tenant)
	}
	return fmt.Sprintf("%s of %s at tenant %s", id.Name, id.User, id.Tenant)
}

// The secrets of a connection.
const (
	tokenPart = "token"
	grantPart = "grant"
)

func (id ID) key(part string) secrets.Key {
	return secrets.ConnectionKey(id.Tenant, id.User, id.Name, part)
}

// idOf returns the connection that a secret is a part of.
func idOf(key secrets.Key) (id ID, part string, ok bool) {
	user, name, part, ok := key.Connection()
	return ID{key.Tenant, user, name}, part, ok
}
