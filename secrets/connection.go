package secrets

import "strings"

// ownConnection begins the names of the secrets of a user's own connections.
const ownConnection = "connection/"

// ConnectionKey names a secret of a connection: of a tenant's, or, where a user is
// given, of the one that is that user's own and that nobody else of the tenant uses.
func ConnectionKey(tenant, user, connection, name string) Key {
	if user == "" {
		return Key{Scope: Connection, Tenant: tenant, Owner: connection, Name: name}
	}
	return Key{Scope: User, Tenant: tenant, Owner: user, Name: ownConnection + connection + "/" + name}
}

// Connection returns whose connection the secret is of, and which one it is. User is
// empty for a tenant's. It reports false for a secret that is of none.
func (k Key) Connection() (user, connection, name string, ok bool) {
	if k.Scope == Connection {
		return "", k.Owner, k.Name, true
	}
	rest, own := strings.CutPrefix(k.Name, ownConnection)
	slash := strings.LastIndexByte(rest, '/')
	if k.Scope != User || !own || slash <= 0 {
		return "", "", "", false
	}
	return k.Owner, rest[:slash], rest[slash+1:], true
}
