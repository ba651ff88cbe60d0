// Package authserver is an authorization server for tests, over real HTTP: metadata,
// dynamic registration, a page of consent, codes with PKCE, rotation of refresh tokens
// with detection of those that are used twice, revocation, and a guard for services
// that take its tokens. It knows nothing of the client that it is there to test.
package authserver
