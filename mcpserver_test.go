package heddle

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// mcpServer is a server of the Model Context Protocol that has some tools, of which
// each finds nothing. It tells seen, if that is set, of what it is sent.
func mcpServer(t *testing.T, tools json.RawMessage, seen func(r *http.Request, body []byte)) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if seen != nil {
			seen(r, body)
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		_ = json.Unmarshal(body, &m)
		result := ""
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`
		case "tools/list":
			result = `{"tools":` + string(tools) + `}`
		case "tools/call":
			result = `{"content":[{"type":"text","text":"{\"results\":[]}"}]}`
		case "server/discover", "":
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		default:
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":`+result+`}`)
	}))
	t.Cleanup(server.Close)
	return server
}
