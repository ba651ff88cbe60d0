package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	protocol "github.com/mark3labs/mcp-go/mcp"

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
// mcp-go's client.
func mcpCall(ctx context.Context, report *Report) error {
	server := httptest.NewServer(http.HandlerFunc(serveMCP))
	defer server.Close()
	read, write, closeOurs, err := ourMCPCalls(server)
	if err != nil {
		return err
	}
	defer closeOurs()
	bare, closeBare, err := bareMCPCall(ctx, server.URL)
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
func ourMCPCalls(server *httptest.Server) (read, write func(context.Context) error, stop func(), _ error) {
	source, err := mcp.New(mcp.Options{Namespace: "far", URL: server.URL, Allow: []string{server.Listener.Addr().String()}, Trusted: true})
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
	hello.Params.ProtocolVersion = protocol.LATEST_LEGACY_PROTOCOL_VERSION
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

// serveMCP is a server with one tool.
func serveMCP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	const schema = `{"type":"object","properties":{"repo":{"type":"string"}},"required":["repo"]}`
	result, known := map[string]string{
		"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}`,
		"tools/list": `{"tools":[{"name":"list","description":"Lists.","annotations":{"readOnlyHint":true},"inputSchema":` + schema + `},` +
			`{"name":"add","description":"Adds.","inputSchema":` + schema + `}]}`,
		"tools/call": `{"content":[{"type":"text","text":"[{\"id\":7,\"title\":\"It is broken\"}]"}]}`,
	}[m.Method]
	switch {
	case known:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":`+result+`}`)
	case len(m.ID) == 0:
		w.WriteHeader(http.StatusAccepted)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}
