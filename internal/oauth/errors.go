package oauth

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Errors that callers tell apart. All others are of the network, or say in words what
// a server does that the protocols do not allow.
var (
	// ErrNoAuthorization says that a service names no way to be authorized.
	ErrNoAuthorization = errors.New("the service names no authorization server")
	// ErrNoRegistration says that a server takes no client that it does not know.
	ErrNoRegistration = errors.New("the authorization server registers no clients by itself")
	// ErrAnswer says that what came back from consent is not the answer to what was
	// asked: of another server, for another attempt, or made up.
	ErrAnswer = errors.New("the answer from consent is refused")
	// ErrGrantEnded says that a code or a refresh token holds no more: it was revoked,
	// has expired, or was used before.
	ErrGrantEnded = errors.New("the authorization server does not know the grant any more")
	// ErrClientUnknown says that the server does not know the client any more, or
	// refuses its secret.
	ErrClientUnknown = errors.New("the authorization server does not know the client any more")
	// ErrUnavailable says that the server could not answer now; the grant may hold.
	ErrUnavailable = errors.New("the authorization server gives no answer now")
)

// ServerError is an error that an authorization server answers with.
type ServerError struct {
	// Asked is what was asked for, such as a token.
	Asked string
	// Status is that of HTTP; 0 where the answer came by way of the person.
	Status int
	// Code is the server's own, such as access_denied, empty where it says none.
	Code string
	// Description is what it says in words, bounded and without secrets.
	Description string
	// kind is one of the errors above, or nil.
	kind error
}

// Error says what was asked and what the server answers.
func (e *ServerError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the authorization server refuses %s", e.Asked)
	if e.Status != 0 {
		fmt.Fprintf(&b, " (HTTP %d)", e.Status)
	}
	if e.Code != "" {
		b.WriteString(": " + e.Code)
	}
	if e.Description != "" {
		b.WriteString(": " + e.Description)
	}
	return b.String()
}

// Unwrap returns which of the errors that callers tell apart it is.
func (e *ServerError) Unwrap() error { return e.kind }

// Bounds of what is repeated of a server's words, in runes.
const (
	maxCode        = 64
	maxDescription = 300
)

// words makes text of a server fit to be shown, without the secrets in use.
func words(text string, most int, secrets ...string) string {
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[secret]")
		}
	}
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	text = strings.TrimSpace(text)
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
