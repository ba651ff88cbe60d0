package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// wire is all that this package takes of a transport: raw JSON there and back.
type wire interface {
	// send sends a request and waits for its result. An error is a *fault, or that
	// of ctx.
	send(ctx context.Context, id int64, method string, params json.RawMessage, header http.Header) (json.RawMessage, error)
	// notify sends a notification.
	notify(ctx context.Context, method string, params map[string]any) error
	// speak sets the protocol version that requests are labelled with.
	speak(version string)
	// stateless reports whether ending a request's context is all that the newest
	// protocol wants for its cancellation.
	stateless() bool
	// broken is closed when the connection has come to its end by itself.
	broken() <-chan struct{}
	close()
}

// events are what a server says unasked. They are called one at a time and must not
// block.
type events struct {
	notification func(method string, params map[string]any)
	// request answers a request of the server, or returns nil for a method that
	// there is no answer to.
	request func(ctx context.Context, method string, params json.RawMessage) (any, *rpcError)
}

// rpcError is an error as JSON-RPC has it.
type rpcError struct {
	code    int
	message string
	data    any
}

// carrier is a [wire] over a transport of mcp-go.
type carrier struct {
	transport transport.Interface
	// explain makes a fault of what kept a request from being answered.
	explain func(ctx context.Context, x *exchange, err error) error
	// lost ends when the connection has come to its end by itself.
	lost context.Context
	// end is called by close, after the transport.
	end func()
	// process says that there is no HTTP below.
	process bool
}

// errLost ends what waits for an answer over a connection that is lost.
var errLost = errors.New("the connection is lost")

// quiet drops what a transport logs: what matters comes back as an error.
var quiet = slog.New(slog.DiscardHandler)

// listen has the transport hand on what the server says unasked.
func (c *carrier) listen(e events) {
	c.transport.SetNotificationHandler(func(n mcp.JSONRPCNotification) {
		e.notification(n.Method, n.Params.AdditionalFields)
	})
	if both, ok := c.transport.(transport.BidirectionalInterface); ok {
		both.SetRequestHandler(func(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
			params, err := encode(r.Params)
			if err != nil {
				return nil, err
			}
			result, refused := e.request(ctx, r.Method, params)
			if refused != nil {
				return transport.NewJSONRPCErrorResponse(r.ID, refused.code, refused.message, refused.data), nil
			}
			text, err := encode(result)
			if err != nil {
				return nil, err
			}
			return transport.NewJSONRPCResultResponse(r.ID, text), nil
		})
	}
}

func (c *carrier) send(ctx context.Context, id int64, method string, params json.RawMessage, header http.Header) (json.RawMessage, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// A transport need not notice by itself.
	defer context.AfterFunc(c.lost, func() { cancel(errLost) })()
	x := &exchange{left: maxRequests, stop: cancel}
	request := transport.JSONRPCRequest{JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(id), Method: method, Header: header}
	if params != nil {
		request.Params = params
	}
	response, err := c.transport.SendRequest(withExchange(ctx, x), request)
	if err != nil {
		return nil, c.explain(ctx, x, err)
	}
	if response.Error != nil {
		return nil, answeredError(x, response.Error)
	}
	if response.ID.String() != request.ID.String() {
		return nil, x.protocolFault("it answers another request than the one that was sent")
	}
	if len(response.Result) == 0 {
		return nil, x.protocolFault("its answer has neither a result nor an error")
	}
	return response.Result, nil
}

func (c *carrier) notify(ctx context.Context, method string, params map[string]any) error {
	x := &exchange{left: maxRequests}
	err := c.transport.SendNotification(withExchange(ctx, x), mcp.JSONRPCNotification{
		JSONRPC: mcp.JSONRPC_VERSION,
		Notification: mcp.Notification{
			Method: method, Params: mcp.NotificationParams{AdditionalFields: params},
		},
	})
	if err != nil {
		return c.explain(ctx, x, err)
	}
	return nil
}

func (c *carrier) speak(version string) {
	if h, ok := c.transport.(transport.HTTPConnection); ok {
		h.SetProtocolVersion(version)
	}
}

func (c *carrier) stateless() bool { return !c.process }

func (c *carrier) broken() <-chan struct{} { return c.lost.Done() }

func (c *carrier) close() {
	_ = c.transport.Close() // what cannot be closed is of no use any more either way
	c.end()
}
