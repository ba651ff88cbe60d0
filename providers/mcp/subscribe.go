package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// listenAgain is how long after the end of a subscription the next one is made.
const listenAgain = 30 * time.Second

// subscribe listens, for as long as the connection lasts, for the news that the
// server's tools have changed. Older servers tell so on the stream that a session has
// anyway; newer ones to those alone who have asked. That a server does not tell costs
// nothing but time: it is asked for its tools now and then.
func (l *link) subscribe() (stop func()) {
	var tools struct {
		ListChanged bool `json:"listChanged"`
	}
	if !l.modern || json.Unmarshal(l.serves["tools"], &tools) != nil || !tools.ListChanged {
		return func() {}
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		for range maxListens {
			if l.listen(ctx) {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(listenAgain):
			}
		}
	}()
	return stop
}

// listen makes one subscription and waits for its end. It reports whether another one
// is of no use. What becomes of it says nothing of the connection.
func (l *link) listen(ctx context.Context) (over bool) {
	method := string(mcp.MethodSubscriptionsListen)
	params, header, err := l.label(method, map[string]any{"notifications": mcp.SubscriptionFilter{ToolsListChanged: true}}, nil)
	if err != nil {
		return true
	}
	_, err = l.wire.send(ctx, l.ids.Add(1), method, params, header)
	var refused *fault
	return ctx.Err() != nil || errors.As(err, &refused) && refused.rpc != 0
}
