package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
)

// Codes of errors whose way out is a person who connects a service, or connects it
// again. Nothing was applied.
const (
	// CodeConnectionMissing: nobody has connected the service yet.
	CodeConnectionMissing = "connection_missing"
	// CodeConnectionExpired: what a person had allowed has run out, and cannot be renewed.
	CodeConnectionExpired = "connection_expired"
	// CodeConnectionRevoked: the service or its authorization server takes the credential
	// no more.
	CodeConnectionRevoked = "connection_revoked"
	// CodeInsufficientScope: the credential is sound and does not reach as far as the call.
	CodeInsufficientScope = "insufficient_scope"
)

// Reconnection is what a person needs to know to connect a service: the details of an
// [Error] with one of the codes above.
type Reconnection struct {
	// Name is that of the connection.
	Name string `json:"name"`
	// URL is the service, where it is known.
	URL string `json:"url,omitempty"`
	// Scopes are what the call needs beyond what was granted, where the service says.
	Scopes []string `json:"scopes,omitempty"`
	// Consent is the address at which the person can agree at once, where there is one.
	Consent string `json:"consent_url,omitempty"`
}

// Error makes the error of a connection. Message says what is wrong, without the way
// out, which is added.
func (r Reconnection) Error(code, message string) *Error {
	e := &Error{Code: code, Effect: EffectNone, Message: message}
	if details, err := json.Marshal(map[string]Reconnection{"connection": r}); err == nil {
		e.Details = details
	}
	service := r.URL
	if service == "" {
		service = "URL"
	}
	e.Hint = fmt.Sprintf("a person must connect it: starter connections add %s --name %s", service, r.Name)
	for _, scope := range r.Scopes {
		e.Hint += " --scope " + scope
	}
	if r.Consent != "" {
		e.Hint = "a person must agree at " + r.Consent
	}
	return e
}

// Reconnection returns what a person needs to know to mend the error, if it is one that
// connecting a service mends.
func (e *Error) Reconnection() (Reconnection, bool) {
	switch e.Code {
	case CodeConnectionMissing, CodeConnectionExpired, CodeConnectionRevoked, CodeInsufficientScope:
	default:
		return Reconnection{}, false
	}
	var details struct{ Connection Reconnection }
	if json.Unmarshal(e.Details, &details) != nil || details.Connection.Name == "" {
		return Reconnection{}, false
	}
	return details.Connection, true
}

// AskConsent makes the question that has a person connect what a call needs. Nil: there
// is none that could be asked, and the call fails with what it would have failed with.
type AskConsent func(ctx context.Context, scope Scope, r Reconnection) (*Elicitation, error)

// Reconnect has calls that lack a person's consent ask for it, where somebody can be
// asked. It must be called before the broker is used.
func (b *Broker) Reconnect(ask AskConsent) { b.askConsent = ask }

// unconnected is the outcome of a request that cannot be planned since a person's
// consent is missing, such as for a server of which nothing can be known before: it
// asks, where somebody can be asked.
func (b *Broker) unconnected(ctx context.Context, scope Scope, req Request, e *Error) Outcome {
	c := &call{
		tool: &Tool{Descriptor: Descriptor{ID: req.Tool}}, scope: scope, secrets: CallSecrets{from: b.secrets, scope: scope},
		askConsent: b.askConsent, canAsk: req.CanAsk, answer: req.Answer,
	}
	if q := c.reconnect(ctx, e); q != nil {
		return c.ask(q)
	}
	return Outcome{Error: e}
}

// reconnect is the question to ask in place of an error that a person's consent mends;
// nil if the error stands. A call that has asked before does not ask again: what was
// answered did not help.
func (c *call) reconnect(ctx context.Context, e *Error) *Elicitation {
	if e == nil || c.askConsent == nil || !c.canAsk || c.answer != nil {
		return nil
	}
	r, ok := e.Reconnection()
	if !ok {
		return nil
	}
	q, err := c.askConsent(ctx, c.scope, r)
	if err != nil {
		slog.WarnContext(ctx, "catalog: nobody can be asked for consent", "tool", c.tool.ID, "connection", r.Name, "error", c.secrets.text(err.Error()))
		return nil
	}
	return q
}
