package mcp

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"sync"

	"github.com/heddle-dev/heddle/catalog"
)

// Credentials gives what authenticates the requests to a server. It is asked when a
// connection is looked for, and again when the server refuses what it gave. Where
// there is none it returns the zero Credential, and the server decides; an error
// ends the call before anything is sent. One that is a *[catalog.Elicitation] asks the
// person in the thread, such as for their consent at a URL; the call is made again
// once they have answered.
type Credentials func(ctx context.Context, need Need) (Credential, error)

// Need says what a credential is wanted for.
type Need struct {
	// Scope is on whose behalf the call is made. It is empty for a listing.
	Scope catalog.Scope
	// Refused, if not nil, is the server's answer to what was given last.
	Refused *Refusal
}

// Refusal is how a server has refused a credential.
type Refusal struct {
	// Generation is that of the credential.
	Generation string
	// Status is 401 or 403, and Challenge what the server says beside it: the values
	// of WWW-Authenticate.
	Status    int
	Challenge []string
}

// Credential is what authenticates requests. It prints as nothing.
type Credential struct {
	// Headers are sent with each request.
	Headers map[string]string
	// Generation changes with the credential. Connections are never shared by two.
	Generation string
}

const hiddenCredential = "[credential]"

// String hides the credential.
func (Credential) String() string { return hiddenCredential }

// GoString hides the credential.
func (Credential) GoString() string { return hiddenCredential }

// LogValue hides the credential.
func (Credential) LogValue() slog.Value { return slog.StringValue(hiddenCredential) }

// MarshalJSON hides the credential.
func (Credential) MarshalJSON() ([]byte, error) { return encode(hiddenCredential) }

// static gives the same headers to all.
func static(headers map[string]string) Credentials {
	return func(context.Context, Need) (Credential, error) { return Credential{Headers: headers}, nil }
}

// both adds the headers that are the same for all to those of the credentials.
func both(headers map[string]string, credentials Credentials) Credentials {
	if credentials == nil {
		return static(headers)
	}
	return func(ctx context.Context, need Need) (Credential, error) {
		c, err := credentials(ctx, need)
		if err != nil {
			return Credential{}, err
		}
		for name, value := range c.Headers {
			if err := checkHeader(name, value); err != nil {
				return Credential{}, err
			}
		}
		all := maps.Clone(headers)
		if all == nil {
			all = map[string]string{}
		}
		maps.Copy(all, c.Headers)
		return Credential{Headers: all, Generation: c.Generation}, nil
	}
}

// maxRefusals bounds how often one connection asks for another credential in a row.
const maxRefusals = 3

// holder keeps the credential of one connection.
type holder struct {
	credentials Credentials
	scope       catalog.Scope

	mu         sync.Mutex
	credential Credential
	refusals   int
}

func (h *holder) current() Credential {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.credential
}

// replace asks for another credential than the one that was refused. It returns nil
// where there is none. Requests that are refused at once are answered one after the
// other: the later ones find what the first has got.
func (h *holder) replace(ctx context.Context, refused Credential, response *http.Response) (*Credential, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.credential.Generation != refused.Generation {
		c := h.credential
		return &c, nil
	}
	if h.refusals >= maxRefusals {
		return nil, nil
	}
	h.refusals++
	next, err := h.credentials(ctx, Need{Scope: h.scope, Refused: &Refusal{
		Generation: refused.Generation, Status: response.StatusCode, Challenge: response.Header.Values("WWW-Authenticate"),
	}})
	if err != nil {
		return nil, credentialFault(err)
	}
	if next.Generation == refused.Generation {
		return nil, nil
	}
	h.credential = next
	return &next, nil
}

// accepted says that the server has taken the credential.
func (h *holder) accepted() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refusals = 0
}

// credentialFault is the fault of a call for which no credential can be had.
func credentialFault(err error) *fault {
	var asks *catalog.Elicitation
	if errors.As(err, &asks) {
		return &fault{code: CodeInputRequired, message: asks.Message, effect: catalog.EffectNone, asks: asks}
	}
	var typed *catalog.Error
	if errors.As(err, &typed) {
		f := &fault{code: typed.Code, message: typed.Message, hint: typed.Hint, effect: catalog.EffectNone, retryable: typed.Retryable}
		if typed.Details != nil {
			f.details = typed.Details
		}
		return f
	}
	return &fault{
		code: CodeUnauthorized, effect: catalog.EffectNone, message: "there is no credential for the server: " + plain(err.Error(), maxText),
		hint: "a person must connect the server, or connect it again",
	}
}
