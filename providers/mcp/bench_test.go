package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/providers/mcp"
)

// BenchmarkCall calls a tool of a server over a connection that is there already: with
// mcp-go's client alone, as a source, and through the broker, a read and a write that a
// person is asked about.
func BenchmarkCall(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(serveCalls))
	b.Cleanup(server.Close)
	run := func(name string, call func(context.Context) error) {
		b.Run(name, func(b *testing.B) {
			if err := call(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := call(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("bare", bareCall(b, server.URL))
	source, err := mcp.New(mcp.Options{
		Namespace: "far", URL: server.URL, Allow: []string{server.Listener.Addr().String()},
		Trusted: true,
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(source.Close)
	input := json.RawMessage(`{"repo":"shop"}`)
	run("source", func(ctx context.Context) error {
		_, err := source.Call(ctx, "list", catalog.Call{Input: input})
		return err
	})
	broker, err := catalog.New(source)
	if err != nil {
		b.Fatal(err)
	}
	scope := catalog.Scope{Tenant: "acme", Thread: "bench", Agent: "bench", Tools: []string{"far.*"}}
	run("read", func(ctx context.Context) error {
		var err error
		broker.DispatchRead(ctx, scope, catalog.Request{Tool: "far.list", Input: input}, func(r catalog.Reading) {
			if r.Outcome.Error != nil {
				err = r.Outcome.Error
			}
			if !r.Done {
				b.Fatal("it is no read")
			}
		})
		return err
	})
	run("write", func(ctx context.Context) error {
		request := catalog.Request{Tool: "far.add", Input: input}
		if outcome := broker.Dispatch(ctx, scope, request, broker.Plan(ctx, scope, request)); outcome.Error != nil {
			return outcome.Error
		}
		return nil
	})
}

func bareCall(b testing.TB, url string) func(context.Context) error {
	b.Helper()
	c, err := client.NewStreamableHttpClient(url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	if err := c.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	hello := protocol.InitializeRequest{}
	hello.Params.ProtocolVersion = protocol.LATEST_LEGACY_PROTOCOL_VERSION
	if _, err := c.Initialize(b.Context(), hello); err != nil {
		b.Fatal(err)
	}
	request := protocol.CallToolRequest{}
	request.Params.Name = "list"
	request.Params.Arguments = json.RawMessage(`{"repo":"shop"}`)
	return func(ctx context.Context) error {
		_, err := c.CallTool(ctx, request)
		return err
	}
}

func serveCalls(w http.ResponseWriter, r *http.Request) {
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
		"tools/list": `{"tools":[{"name":"list","description":"Lists.","inputSchema":` + schema + `,"annotations":{"readOnlyHint":true}},` +
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
