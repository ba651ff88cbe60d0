package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/netguard"
)

// exchange is what is known of the HTTP requests that one call makes. Transports
// report less than what happened; the requests themselves are seen by the gate,
// which writes it down here.
type exchange struct {
	mu sync.Mutex
	// left is how many more requests may be made.
	left int
	// stop, if set, ends all that belongs to the exchange.
	stop func(error)
	seen
}

// seen is what was seen of an exchange so far.
type seen struct {
	// sent says that a request may have reached the server.
	sent bool
	// status and header are of the first request's answer.
	status int
	header http.Header
	// session says that the request carried a session.
	session bool
	// verdict is why the gate ended the exchange, if it did.
	verdict error
}

type exchangeKey struct{}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// exchangeOf finds the exchange of a request. What belongs to none is bounded by
// itself.
func exchangeOf(ctx context.Context) *exchange {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return x
	}
	return &exchange{left: 1}
}

// errTooManyRequests says that a server has caused more requests than one call may
// make.
var errTooManyRequests = errors.New("it causes more requests than one call may make")

// spend counts a request. It reports whether it is the first.
func (x *exchange) spend() (first bool, _ error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.left <= 0 {
		x.judge(errTooManyRequests)
		if x.stop != nil {
			x.stop(errTooManyRequests)
		}
		return false, errTooManyRequests
	}
	x.left--
	return x.status == 0 && !x.sent, nil
}

// judge keeps the first verdict. The caller holds the lock.
func (x *exchange) judge(err error) {
	if x.verdict == nil {
		x.verdict = err
	}
}

// failed writes down that a request has no answer.
func (x *exchange) failed(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.judge(err)
	var unsent *netguard.NotSentError
	if !errors.As(err, &unsent) {
		x.sent = true
	}
}

// answered writes down the head of an answer.
func (x *exchange) answered(first bool, response *http.Response, session bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sent = true
	if first {
		x.status, x.header, x.session = response.StatusCode, response.Header, session
	}
}

// snapshot is a copy to read from.
func (x *exchange) snapshot() seen {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.seen
}

// effect is what the exchange tells of the effect of a call that has no result.
func (s seen) effect() catalog.Effect {
	switch {
	case !s.sent:
		return catalog.EffectNone
	case s.status == http.StatusRequestTimeout, s.status == http.StatusConflict,
		s.status == http.StatusTooEarly, s.status == http.StatusTooManyRequests:
		return catalog.EffectUnknown
	case s.status >= 300 && s.status < 500:
		return catalog.EffectNone
	}
	return catalog.EffectUnknown
}

// protocolFault is the fault of a server that answers what no server may.
func (x *exchange) protocolFault(format string, args ...any) *fault {
	return &fault{
		code: CodeProtocol, message: "the server breaks the protocol: " + fmt.Sprintf(format, args...),
		effect: catalog.EffectUnknown,
	}
}

// restart forgets the answer of a first request that is made again.
func (x *exchange) restart() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sent, x.status, x.header = false, 0, nil
}
