package threads

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/heddle-dev/heddle"
	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/internal/testkit"
)

// asServer makes this program a server over stdio that leaves its traces in the
// folder named.
const asServer = "HEDDLE_TEST_MCP_SERVER"

func TestMain(m *testing.M) {
	if folder := os.Getenv(asServer); folder != "" {
		if err := newShop(folder).Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		return
	}
	testkit.Main(m, func() { heddle.Main(heddle.Model("none", silent{})) })
}

// silent is a model that is never asked: the turns run snippets.
type silent struct{}

func (silent) Generate(context.Context, activities.ModelRequest, func(activities.ModelDelta)) (activities.ModelResponse, error) {
	return activities.ModelResponse{}, errors.New("a model was asked")
}

// newShop is a server on the protocol's Go SDK. It notes in its folder what it does.
func newShop(folder string) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "order", InputSchema: json.RawMessage(`{"type":"object"}`)}, order(folder))
	server.AddTool(&mcp.Tool{Name: "wait", InputSchema: json.RawMessage(`{"type":"object"}`)}, wait(folder))
	server.AddTool(&mcp.Tool{Name: "family", InputSchema: json.RawMessage(`{"type":"object"}`)}, family)
	return server
}

// order asks where to, in a form, and then has the user pay on a page.
func order(folder string) mcp.ToolHandler {
	return func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if len(req.Params.InputResponses) == 0 {
			return &mcp.CallToolResult{RequestState: "order-17", InputRequests: mcp.InputRequestMap{
				"address": &mcp.ElicitParams{
					Mode: "form", Message: "Where to?",
					RequestedSchema: json.RawMessage(`{"type":"object","properties":{"email":{"type":"string","format":"email"},"copies":{"type":"integer","default":1}},"required":["email"]}`),
				},
				"pay": &mcp.ElicitParams{Mode: "url", Message: "Pay.", URL: "https://pay.example/17", ElicitationID: "17"},
			}}, nil
		}
		told, err := json.Marshal(req.Params.InputResponses)
		if err != nil {
			return nil, err
		}
		note(folder, "ordered")
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{
			Text: fmt.Sprintf(`{"state":%q,"told":%s}`, req.Params.RequestState, told),
		}}}, nil
	}
}

// wait tells of its progress until it is cancelled.
func wait(folder string) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		note(folder, "waiting")
		for n := 1; ; n++ {
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ // nobody need be listening
				ProgressToken: req.Params.GetProgressToken(), Progress: float64(n), Total: 1000, Message: "rows",
			})
			select {
			case <-ctx.Done():
				note(folder, "cancelled")
				return nil, ctx.Err()
			case <-time.After(100 * time.Millisecond):
			}
			if noted(folder, "over") { // else the end of the test would wait for it
				return &mcp.CallToolResult{}, nil
			}
		}
	}
}

// family starts a process that would outlive the server, and names both.
func family(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	child := exec.Command("sleep", "1000")
	if err := child.Start(); err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{
		Text: fmt.Sprintf(`{"server":%d,"child":%d}`, os.Getpid(), child.Process.Pid),
	}}}, nil
}

func note(folder, what string) { _ = os.WriteFile(folder+"/"+what, nil, 0o600) }

func noted(folder, what string) bool {
	_, err := os.Stat(folder + "/" + what)
	return err == nil
}

// shop is the configuration of such a server over a transport, and its folder.
func shop(t *testing.T, transport string) (config, folder string) {
	t.Helper()
	folder = t.TempDir()
	if transport == "stdio" {
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("{command: [%q], env: {%s: %q}, tools: {'*': read, order: write}}", program, asServer, folder), folder
	}
	server := newShop(folder)
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true}))
	t.Cleanup(func() {
		note(folder, "over")
		web.CloseClientConnections()
		web.Close()
	})
	return fmt.Sprintf("{url: %q, allow: [%q], tools: {'*': read, order: write}}", web.URL, web.Listener.Addr()), folder
}
