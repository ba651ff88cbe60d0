package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/netguard"
)

// The codes of this source's errors, beside those of the catalog. An answer with an
// HTTP status that is an error has the code http_ and the status, such as http_503.
const (
	// CodeUnreachable: the server could not be reached; nothing was sent.
	CodeUnreachable = "unreachable"
	// CodeRefused: the rules of the network forbid the address.
	CodeRefused = "address_refused"
	// CodeConnectionLost: the connection broke before the answer was there.
	CodeConnectionLost = "connection_lost"
	// CodeProtocol: the server answers what the protocol does not allow.
	CodeProtocol = "protocol_error"
	// CodeServer: the server refuses the request with an error of its own.
	CodeServer = "server_error"
	// CodeUnauthorized: the server wants a credential, or another one.
	CodeUnauthorized = "authorization_required"
	// CodeScope: the credential does not reach as far as the call.
	CodeScope = "insufficient_scope"
	// CodeSuspended: the server did not answer several times and is left alone for
	// a while; nothing was sent.
	CodeSuspended = "server_suspended"
	// CodeBusy: there are as many connections as there may be, all in use; nothing
	// was sent.
	CodeBusy = "server_busy"
	// CodeInputRequired: the server asks back and there is nobody to answer.
	CodeInputRequired = "input_required"
)

// fault is why a server gave no result.
type fault struct {
	code, message, hint string
	effect              catalog.Effect
	retryable           bool
	details             any
	// rpc is the code of the server's own error, status that of HTTP.
	rpc, status int
	data        any
	// asks, if set, is what a person is asked for want of a credential.
	asks *catalog.Elicitation
	// gone says that the session or the connection is over: another one may do.
	gone bool
	// sick says that the server did not do what a server that is well does.
	sick bool
}

// Error says the code and the message.
func (f *fault) Error() string { return f.code + ": " + f.message }

// public is the error as the model sees it.
func (f *fault) public() *catalog.Error {
	e := &catalog.Error{Code: f.code, Message: f.message, Hint: f.hint, Effect: f.effect, Retryable: f.retryable}
	if f.details != nil {
		if text, err := encode(f.details); err == nil {
			e.Details = text
		}
	}
	return e
}

// public is what becomes of any error of this package.
func public(err error) error {
	if err == nil {
		return nil
	}
	var f *fault
	if errors.As(err, &f) {
		if f.asks != nil {
			return f.asks
		}
		return f.public()
	}
	return err
}

// ended is the fault of a context that has ended before there was an answer.
func ended(ctx context.Context, effect catalog.Effect) *fault {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &fault{code: catalog.CodeTimeout, message: "the server did not answer in time", effect: effect, retryable: true}
	}
	return &fault{code: catalog.CodeCancelled, message: "the call was cancelled", effect: effect}
}

// explainHTTP makes a fault of an exchange without a result.
func explainHTTP(ctx context.Context, x *exchange, err error) error {
	seen := x.snapshot()
	effect := seen.effect()
	if f := verdictFault(seen.verdict, effect); f != nil {
		return f
	}
	if seen.status >= 300 {
		return statusFault(seen, err)
	}
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), errLost) {
		return ended(ctx, effect)
	}
	var timeout interface{ Timeout() bool }
	if errors.As(seen.verdict, &timeout) && timeout.Timeout() {
		return &fault{code: catalog.CodeTimeout, message: "the server did not answer in time", effect: effect, retryable: true, sick: true}
	}
	lost := errors.Is(context.Cause(ctx), errLost) || errors.Is(err, transport.ErrTransportClosed)
	if seen.status != 0 && seen.verdict == nil && !lost {
		return x.protocolFault("%s", plain(err.Error(), maxText))
	}
	f := &fault{code: CodeConnectionLost, message: "the connection to the server broke before it answered", effect: effect, retryable: true, gone: true, sick: true}
	if seen.verdict != nil {
		f.message += ": " + plain(seen.verdict.Error(), maxText)
	}
	return f
}

// verdictFault is the fault of an exchange that the gate has ended.
func verdictFault(verdict error, effect catalog.Effect) *fault {
	var (
		refused *netguard.RefusedError
		unsent  *netguard.NotSentError
		large   *netguard.TooLargeError
		typed   *fault
	)
	switch {
	case verdict == nil:
	case errors.As(verdict, &typed):
		return typed
	case errors.As(verdict, &refused):
		return &fault{code: CodeRefused, message: "the server cannot be asked: " + refused.Error(), effect: effect}
	case errors.As(verdict, &large):
		return &fault{
			code: catalog.CodeTooLarge, message: "the server's answer is too long: " + large.Error(), effect: effect,
			hint: "ask for less at once", sick: true,
		}
	case errors.Is(verdict, errTooManyRequests):
		return &fault{code: CodeProtocol, message: "the server is cut off: " + verdict.Error(), effect: effect, sick: true}
	case errors.As(verdict, &unsent) && !errors.Is(verdict, context.Canceled) && !errors.Is(verdict, context.DeadlineExceeded):
		return &fault{
			code: CodeUnreachable, message: "the server cannot be reached: " + plain(unsent.Error(), maxText),
			effect: catalog.EffectNone, retryable: true, sick: true, gone: true,
		}
	}
	return nil
}

// statusFault is the fault of an answer whose HTTP status is an error.
func statusFault(seen seen, err error) *fault {
	f := &fault{
		code: fmt.Sprintf("http_%d", seen.status), status: seen.status, effect: seen.effect(),
		message: strings.TrimSpace(fmt.Sprintf("the server answers %d %s", seen.status, http.StatusText(seen.status))),
	}
	said := ""
	if _, body, found := strings.Cut(err.Error(), fmt.Sprintf("status %d: ", seen.status)); found {
		said = plain(body, maxText)
	}
	if said != "" {
		f.message += ": " + said
	}
	challenge := strings.Join(seen.header.Values("WWW-Authenticate"), ", ")
	switch {
	case seen.status == http.StatusUnauthorized:
		f.code, f.hint = CodeUnauthorized, "a person must connect the server, or connect it again"
	case seen.status == http.StatusForbidden && strings.Contains(challenge, "insufficient_scope"):
		f.code, f.hint = CodeScope, "a person must allow more to the connection"
	case seen.status == http.StatusTooManyRequests, seen.status == http.StatusServiceUnavailable:
		f.retryable = true
		if after, err := strconv.Atoi(seen.header.Get("Retry-After")); err == nil && after > 0 {
			f.hint = fmt.Sprintf("the server asks to be left alone for %d s", min(after, 1<<20))
		}
	case seen.status < 400:
		f.hint = "the answer is a redirect, which is not followed"
	}
	f.sick = seen.status >= 500
	f.gone = seen.session && (seen.status == http.StatusNotFound || seen.status == http.StatusGone || sessionRefused(seen.status, said))
	return f
}

// sessionRefused reports whether an answer says that it does not know the session,
// as some servers do in words.
func sessionRefused(status int, said string) bool {
	return status == http.StatusBadRequest && strings.Contains(strings.ToLower(said), "session")
}

// Codes of JSON-RPC, and of the protocol, that say that nothing was done.
const (
	rpcMethodNotFound     = -32601
	rpcUnsupportedVersion = -32022
	rpcURLElicitation     = -32042
)

// answeredError is the fault of a server that answers with an error.
func answeredError(x *exchange, e *mcp.JSONRPCErrorDetails) *fault {
	seen := x.snapshot()
	f := &fault{
		code: CodeServer, rpc: e.Code, status: seen.status, data: e.Data, effect: catalog.EffectUnknown,
		message: fmt.Sprintf("the server refuses the request (%d)", e.Code),
	}
	if said := plain(e.Message, maxText); said != "" {
		f.message += ": " + said
	}
	switch {
	case e.Code <= -32600 && e.Code >= -32602, e.Code == -32700, e.Code == rpcUnsupportedVersion, e.Code == rpcURLElicitation:
		f.effect = catalog.EffectNone // it was not understood, so it was not done
	case seen.status >= 400 && seen.status < 500:
		f.effect = seen.effect()
	}
	if seen.status >= 400 {
		s := statusFault(seen, errors.New(""))
		f.gone = s.gone || seen.session && sessionRefused(seen.status, e.Message)
		f.sick = s.sick
		if s.code == CodeUnauthorized || s.code == CodeScope {
			f.code, f.hint = s.code, s.hint
		}
	}
	if e.Data != nil {
		if text, err := encode(e.Data); err == nil && len(text) <= 4<<10 {
			f.details = map[string]any{"code": e.Code, "data": e.Data}
		}
	}
	return f
}
