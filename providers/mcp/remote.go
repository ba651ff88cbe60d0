package mcp

import (
	"context"
	"fmt"
	"net/url"

	"github.com/mark3labs/mcp-go/client/transport"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/netguard"
)

// maxRequest bounds one HTTP request, which may be a stream that is listened to:
// longer than any call.
const maxRequest = catalog.MaxTimeout + closeTimeout

// dialHTTP begins a connection over streamable HTTP. Nothing is sent yet.
func dialHTTP(client *netguard.Client, server *url.URL, h *holder, message int64, e events) (wire, error) {
	t, err := transport.NewStreamableHTTP(
		server.String(),
		transport.WithHTTPBasicClient(newHTTPClient(newGate(client, server, h, message))),
		transport.WithHTTPLogger(quiet),
		// Without it a server of an older version could not say that its tools have
		// changed; with newer ones it does nothing.
		//lint:ignore SA1019 the older versions are spoken too
		transport.WithContinuousListening(),
	)
	if err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	// The stream that is listened on, and the answers to what comes over it, share
	// one bound for as long as the connection lasts.
	life, cancel := context.WithCancel(withExchange(context.Background(), &exchange{left: maxListens}))
	c := &carrier{transport: t, explain: explainHTTP, lost: context.Background(), end: cancel}
	c.listen(e)
	if err := t.Start(life); err != nil {
		cancel()
		return nil, fmt.Errorf("mcp: %w", err)
	}
	return c, nil
}

// dialSSE begins a connection over HTTP with server-sent events, as servers of
// 2024-11-05 speak it. All answers come over one stream.
func dialSSE(ctx context.Context, client *netguard.Client, server *url.URL, h *holder, message int64, e events) (wire, error) {
	t, err := transport.NewSSE(
		server.String(),
		transport.WithHTTPClient(newHTTPClient(newGate(client, server, h, message))),
		transport.WithSSELogger(quiet),
		transport.WithEndpointTimeout(connectTimeout),
		transport.WithResponseTimeout(maxRequest),
	)
	if err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	stream := &exchange{left: maxRequests}
	life, cancel := context.WithCancel(withExchange(context.Background(), stream))
	lost, lose := context.WithCancel(context.Background())
	c := &carrier{transport: t, lost: lost, end: cancel}
	t.SetConnectionLostHandler(func(error) { lose() })
	c.explain = func(ctx context.Context, x *exchange, err error) error {
		if lost.Err() != nil {
			// Why an answer does not come is known where the stream was read.
			x.mu.Lock()
			x.judge(stream.snapshot().verdict)
			x.mu.Unlock()
		}
		return explainHTTP(ctx, x, err)
	}
	c.listen(e)
	stop := context.AfterFunc(ctx, cancel)
	err = t.Start(life)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		c.close()
		return nil, explainHTTP(ctx, stream, err)
	}
	return c, nil
}
