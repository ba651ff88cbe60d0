package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/heddle-dev/heddle/catalog"
)

// link is a connection with a server that has agreed on a version of the protocol.
type link struct {
	wire wire
	// version is what was agreed on; modern says that it knows no sessions.
	version string
	modern  bool
	// serves are the capabilities of the server.
	serves map[string]json.RawMessage
	// answer answers the server's questions. Nil: it may ask none.
	answer Answer
	holder *holder
	// unsubscribe ends what listens for news.
	unsubscribe func()

	ids atomic.Int64

	mu       sync.Mutex
	progress map[int64]func(catalog.Progress)
	broken   bool
}

// identity is how a client introduces itself.
var identity = map[string]any{"name": "heddle", "version": "1"}

// capabilities are what this client offers to servers: nothing that it cannot
// deliver. Sampling and roots are never among them.
func (l *link) capabilities() map[string]any {
	if l.answer == nil {
		return map[string]any{}
	}
	return map[string]any{"elicitation": map[string]any{"form": map[string]any{"applyDefaults": true}}}
}

// offers reports whether the server has a capability.
func (l *link) offers(capability string) bool {
	text, ok := l.serves[capability]
	return ok && !isNull(text)
}

// request sends a request and waits for its result. A context that ends before is
// told to the server.
func (l *link) request(ctx context.Context, method string, params map[string]any, header http.Header) (json.RawMessage, error) {
	return l.send(ctx, l.ids.Add(1), method, params, header)
}

func (l *link) send(ctx context.Context, id int64, method string, params map[string]any, header http.Header) (json.RawMessage, error) {
	if err := ctx.Err(); err != nil {
		return nil, ended(ctx, catalog.EffectNone)
	}
	text, header, err := l.label(method, params, header)
	if err != nil {
		return nil, &fault{code: catalog.CodeInvalidInput, message: err.Error(), effect: catalog.EffectNone}
	}
	result, err := l.wire.send(ctx, id, method, text, header)
	if err != nil {
		if ctx.Err() != nil {
			l.cancel(id, method)
		}
		l.note(err)
		return nil, err
	}
	l.holder.accepted()
	return result, nil
}

// label adds what the newest protocol wants with each request.
func (l *link) label(method string, params map[string]any, header http.Header) (json.RawMessage, http.Header, error) {
	if !l.modern {
		if params == nil {
			return nil, header, nil
		}
		text, err := encode(params)
		return text, header, err
	}
	meta := map[string]any{mcp.MetaKeyProtocolVersion: l.version, mcp.MetaKeyClientInfo: identity, mcp.MetaKeyClientCapabilities: l.capabilities()}
	if own, ok := params["_meta"].(map[string]any); ok {
		maps.Copy(meta, own)
	}
	labelled := map[string]any{"_meta": meta}
	subject := map[string]any{}
	for name, value := range params {
		switch name {
		case "_meta":
			continue
		case "name", "uri": // what a header may repeat
			subject[name] = value
		}
		labelled[name] = value
	}
	text, err := encode(labelled)
	if err != nil {
		return nil, nil, err
	}
	named, err := encode(subject)
	if err != nil {
		return nil, nil, err
	}
	all := header.Clone()
	if all == nil {
		all = http.Header{}
	}
	for name, value := range mcp.StandardHeaders(l.version, mcp.MCPMethod(method), named) {
		all.Set(name, value)
	}
	return text, all, nil
}

// cancel tells the server that nobody waits for a request any more, where ending
// it does not say so already.
func (l *link) cancel(id int64, method string) {
	if method == methodInitialize || method == methodDiscover || l.modern && l.wire.stateless() {
		return
	}
	go func() {
		ctx, stop := context.WithTimeout(context.Background(), cancelTimeout)
		defer stop()
		// It is a courtesy: a server that does not take it goes on for nothing.
		_ = l.wire.notify(ctx, "notifications/cancelled", map[string]any{"requestId": id, "reason": "the call was cancelled"})
	}()
}

// note remembers an error after which the connection is of no use.
func (l *link) note(err error) {
	var f *fault
	if errors.As(err, &f) && f.gone {
		l.mu.Lock()
		l.broken = true
		l.mu.Unlock()
	}
}

// usable reports whether the connection may be used again.
func (l *link) usable() bool {
	select {
	case <-l.wire.broken():
		return false
	default:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.broken
}

// The methods of the protocol that begin a connection.
const (
	methodInitialize = "initialize"
	methodDiscover   = "server/discover"
)

// handshake agrees on a version of the protocol. A server that is known to be old
// is not asked what it can do, as it may leave that question unanswered.
func (l *link) handshake(ctx context.Context, old bool) error {
	version := mcp.LATEST_LEGACY_PROTOCOL_VERSION
	if !old {
		agreed, err := l.discover(ctx)
		if err != nil {
			return err
		}
		if l.modern {
			return nil
		}
		if agreed != "" {
			version = agreed
		}
	}
	return l.initialize(ctx, version)
}

// discover asks a server what it can do. It returns the version to begin a session
// with where the server speaks none that knows no sessions.
func (l *link) discover(ctx context.Context) (legacy string, _ error) {
	ctx, stop := context.WithTimeout(ctx, probeTimeout)
	defer stop()
	l.version, l.modern = mcp.LATEST_PROTOCOL_VERSION, true
	supported := []string(nil)
	for range 2 {
		l.wire.speak(l.version)
		result, err := l.request(ctx, methodDiscover, nil, nil)
		if err == nil {
			var answer struct {
				SupportedVersions []string                   `json:"supportedVersions"`
				Capabilities      map[string]json.RawMessage `json:"capabilities"`
			}
			if json.Unmarshal(result, &answer) != nil {
				break // what it means nobody can tell
			}
			supported = answer.SupportedVersions
			if best := mcp.NegotiateMutuallySupportedVersion(supported); mcp.IsModernProtocol(best) {
				l.version, l.serves = best, answer.Capabilities
				l.wire.speak(best)
				return "", nil
			}
			break
		}
		var f *fault
		if !errors.As(err, &f) {
			return "", err
		}
		if f.rpc == rpcUnsupportedVersion {
			supported = supportedVersions(f.data)
			if best := mcp.NegotiateMutuallySupportedVersion(supported); mcp.IsModernProtocol(best) {
				l.version = best
				continue
			}
			break
		}
		if fatal(f) {
			return "", err
		}
		break
	}
	l.version, l.modern = "", false
	l.wire.speak("")
	return mcp.NegotiateMutuallySupportedVersion(supported), nil
}

// fatal reports whether a fault says that no other question would be answered.
func fatal(f *fault) bool {
	switch f.code {
	case CodeUnauthorized, CodeScope, CodeRefused, CodeUnreachable, catalog.CodeTooLarge, catalog.CodeCancelled:
		return true
	}
	return false
}

// supportedVersions reads the versions beside the error of a version that a server
// does not speak.
func supportedVersions(data any) []string {
	text, err := encode(data)
	if err != nil {
		return nil
	}
	var said struct {
		Supported []string `json:"supported"`
	}
	if json.Unmarshal(text, &said) != nil {
		return nil
	}
	return said.Supported
}

// initialize begins a session.
func (l *link) initialize(ctx context.Context, version string) error {
	result, err := l.request(ctx, methodInitialize, map[string]any{
		"protocolVersion": version, "clientInfo": identity, "capabilities": l.capabilities(),
	}, nil)
	if err != nil {
		return err
	}
	var answer struct {
		ProtocolVersion string                     `json:"protocolVersion"`
		Capabilities    map[string]json.RawMessage `json:"capabilities"`
	}
	if err := json.Unmarshal(result, &answer); err != nil {
		return &fault{code: CodeProtocol, message: "the server breaks the protocol: its answer to initialize cannot be read", sick: true}
	}
	if !mcp.IsValidProtocolVersion(answer.ProtocolVersion) || mcp.IsModernProtocol(answer.ProtocolVersion) {
		return &fault{code: CodeProtocol, message: "the server begins a session in version " + quote(answer.ProtocolVersion) + " of the protocol, which is not spoken here"}
	}
	l.version, l.serves = answer.ProtocolVersion, answer.Capabilities
	l.wire.speak(l.version)
	return l.wire.notify(ctx, "notifications/initialized", nil)
}

// followed calls act with a request's id, under which the server's news of its
// progress go to follow.
func (l *link) followed(follow func(catalog.Progress), act func(id int64) (json.RawMessage, error)) (json.RawMessage, error) {
	id := l.ids.Add(1)
	if follow == nil {
		return act(id)
	}
	l.mu.Lock()
	l.progress[id] = follow
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.progress, id)
		l.mu.Unlock()
	}()
	return act(id)
}

// progressed hands news of a call's progress on.
func (l *link) progressed(params map[string]any) {
	token, ok := params["progressToken"].(float64)
	if !ok {
		return
	}
	l.mu.Lock()
	follow := l.progress[int64(token)]
	l.mu.Unlock()
	if follow == nil {
		return
	}
	done, _ := params["progress"].(float64)
	total, _ := params["total"].(float64)
	message, _ := params["message"].(string)
	follow(catalog.Progress{Done: done, Total: total, Message: plain(message, maxTitle)})
}

// closeSoon ends the connection without anybody waiting for it.
func (l *link) closeSoon(done func()) {
	go func() {
		defer done()
		began := make(chan struct{})
		l.unsubscribe()
		go func() {
			defer close(began)
			l.wire.close()
		}()
		timer := time.NewTimer(2 * closeTimeout)
		defer timer.Stop()
		select {
		case <-began:
		case <-timer.C:
		}
	}()
}
