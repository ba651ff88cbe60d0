package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/providers/mcp"
)

const (
	// mcpCalls is how many calls one measurement makes, one after the other.
	mcpCalls = 200
	// mcpAtOnce is how many it makes at one time.
	mcpAtOnce = 100
	// mcpKept is how many connections are kept for calls to come.
	mcpKept = 32
)

// mcpCall measures calls of tools of a server of the Model Context Protocol, over a
// connection that is there already, from the input to the checked output: a read; a
// write, planned and made; and a hundred reads at once. The baseline is the same call by
// mcp-go's client. Both speak the newest protocol that they know.
func mcpCall(ctx context.Context, report *Report) error {
	far := httptest.NewServer(mcpServer())
	defer far.Close()
	read, write, closeOurs, err := ourMCPCalls(far)
	if err != nil {
		return err
	}
	defer closeOurs()
	bare, closeBare, err := bareMCPCall(ctx, far.URL)
	if err != nil {
		return err
	}
	defer closeBare()
	for _, one := range []struct {
		name string
		ours func(context.Context) error
	}{{"mcp_call_us", read}, {"mcp_write_us", write}} {
		call, baseline, err := pairs(ctx, 9, repeated(one.ours), repeated(bare))
		if err != nil {
			return err
		}
		if err := report.Compare(one.name, micros(call)/mcpCalls, micros(baseline)/mcpCalls, "µs"); err != nil {
			return err
		}
	}
	call, baseline, err := pairs(ctx, 9, atOnce(read), atOnce(bare))
	if err != nil {
		return err
	}
	return report.Compare("mcp_100_calls_at_once_ms", micros(call)/1000, micros(baseline)/1000, "ms")
}

func repeated(call func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		for range mcpCalls {
			if err := call(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

func atOnce(call func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		errs := make(chan error, mcpAtOnce)
		var wg sync.WaitGroup
		for range mcpAtOnce {
			wg.Go(func() { errs <- call(ctx) })
		}
		wg.Wait()
		close(errs)
		for err := range errs {
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// ourMCPCalls are a call of a tool that reads, and one of a tool that writes: this is
// planned first, with what a person is shown who is asked.
func ourMCPCalls(far *httptest.Server) (read, write func(context.Context) error, stop func(), _ error) {
	source, err := mcp.New(mcp.Options{Namespace: "far", URL: far.URL, Allow: []string{far.Listener.Addr().String()}, Trusted: true})
	if err != nil {
		return nil, nil, nil, err
	}
	broker, err := catalog.New(source)
	if err != nil {
		return nil, nil, nil, err
	}
	scope := catalog.Scope{Tenant: "acme", Thread: "bench", Agent: "bench", Tools: []string{"far.*"}}
	input := json.RawMessage(`{"repo":"shop"}`)
	read = func(ctx context.Context) (err error) {
		broker.DispatchRead(ctx, scope, catalog.Request{Tool: "far.list", Input: input}, func(r catalog.Reading) {
			if outcome := r.Outcome; !r.Done || outcome.Error != nil || outcome.Warning != "" {
				err = fmt.Errorf("read: %w (%s)", outcome.Error, outcome.Warning)
			}
		})
		return err
	}
	write = func(ctx context.Context) error {
		request := catalog.Request{Tool: "far.add", Input: input}
		plan := broker.Plan(ctx, scope, request)
		if outcome := broker.Dispatch(ctx, scope, request, plan); outcome.Error != nil || outcome.Warning != "" {
			return fmt.Errorf("write: %w (%s)", outcome.Error, outcome.Warning)
		}
		return nil
	}
	return read, write, source.Close, nil
}

func bareMCPCall(ctx context.Context, url string) (call func(context.Context) error, stop func(), _ error) {
	// As many connections are kept as of ours, which is more than Go does by itself.
	kept := http.DefaultTransport.(*http.Transport).Clone()
	kept.MaxIdleConnsPerHost = mcpKept
	c, err := client.NewStreamableHttpClient(url, transport.WithHTTPBasicClient(&http.Client{Transport: kept}))
	if err != nil {
		return nil, nil, err
	}
	if err := c.Start(ctx); err != nil {
		return nil, nil, err
	}
	hello := protocol.InitializeRequest{}
	hello.Params.ProtocolVersion = protocol.LATEST_PROTOCOL_VERSION
	if _, err := c.Initialize(ctx, hello); err != nil {
		return nil, nil, err
	}
	request := protocol.CallToolRequest{}
	request.Params.Name = "list"
	request.Params.Arguments = json.RawMessage(`{"repo":"shop"}`)
	return func(ctx context.Context) error {
		_, err := c.CallTool(ctx, request)
		return err
	}, func() { _ = c.Close(); kept.CloseIdleConnections() }, nil
}

// mcpServer is mcp-go's own server, with a tool that reads and one that writes.
func mcpServer() http.Handler {
	s := server.NewMCPServer("bench", "1", server.WithToolCapabilities(false))
	answer := func(context.Context, protocol.CallToolRequest) (*protocol.CallToolResult, error) {
		return protocol.NewToolResultText(`[{"id":7,"title":"It is broken"}]`), nil
	}
	repo := protocol.WithString("repo", protocol.Required())
	s.AddTool(protocol.NewTool("list", protocol.WithDescription("Lists."), protocol.WithReadOnlyHintAnnotation(true), repo), answer)
	s.AddTool(protocol.NewTool("add", protocol.WithDescription("Adds."), protocol.WithReadOnlyHintAnnotation(false), repo), answer)
	return server.NewStreamableHTTPServer(s)
}
