package authserver

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// NewMCP starts a server whose service speaks the Model Context Protocol. It has the
// tools read_it, which only reads, change_it and write_it, each of which says what it
// did. The last wants the scope write.
func NewMCP(t testing.TB) *Server {
	t.Helper()
	tools := mcp.NewServer(&mcp.Implementation{Name: "crm", Version: "1"}, nil)
	for _, name := range []string{"read_it", "change_it", "write_it"} {
		hints := &mcp.ToolAnnotations{ReadOnlyHint: name != "change_it"}
		mcp.AddTool(tools, &mcp.Tool{Name: name, Annotations: hints}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, map[string]string, error) {
			return nil, map[string]string{"did": name}, nil
		})
	}
	protocol := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, &mcp.StreamableHTTPOptions{Stateless: true})
	s := New(t)
	s.Resource = s.URL + "/mcp"
	s.Handle("/mcp", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		scope := "read"
		if bytes.Contains(body, []byte(`"write_it"`)) {
			scope = "write"
		}
		s.Guard(scope, protocol).ServeHTTP(w, r)
	}))
	return s
}
