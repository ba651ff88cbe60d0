package config_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/config"
)

func TestMCP(t *testing.T) {
	env := func(name string) (string, bool) { return "value-of-" + name, true }
	c, err := config.Parse("heddle.yaml", []byte(`
mcp:
  github:
    url: https://mcp.example.com/${PART}
    transport: sse
    headers:
      X-Region: eu
      Authorization: {secret: github.token, prefix: "Bearer "}
    trusted: true
    timeout: 20s
    allow: [localhost:1]
    tools: {"*": hidden, "get_*": read}
  files:
    command: [serve, /data]
    env: {TOKEN: "${X}"}
web: {url: https://search.example.com/mcp}
agents:
  quiet: {model: m, instructions: x, web: false}
`), env)
	if err != nil {
		t.Fatal(err)
	}
	want := []config.MCP{
		{
			Name: "github", URL: "https://mcp.example.com/value-of-PART", SSE: true, Trusted: true, Timeout: 20 * time.Second,
			Headers: map[string]string{"X-Region": "eu"}, Allow: []string{"localhost:1"},
			SecretHeaders: map[string]config.SecretHeader{"Authorization": {Secret: "github.token", Prefix: "Bearer "}},
			Tools:         []config.ToolAccess{{Tool: "*", Access: "hidden"}, {Tool: "get_*", Access: "read"}},
		},
		{
			Name: "files", Command: []string{"serve", "/data"}, Env: []string{"TOKEN=value-of-X"},
			Headers: map[string]string{}, SecretHeaders: map[string]config.SecretHeader{},
		},
	}
	if !reflect.DeepEqual(c.MCP, want) {
		t.Errorf("servers are %+v, want %+v", c.MCP, want)
	}
	if c.Web.Off || c.Web.URL != "https://search.example.com/mcp" || !c.Agents[0].NoWeb {
		t.Errorf("web is %+v, the agent's %t", c.Web, c.Agents[0].NoWeb)
	}
}

func TestMCPProblems(t *testing.T) {
	for text, want := range map[string]string{
		"mcp: {a: {}}":                                    "mcp.a: want either url or command",
		"mcp: {a: {url: x, command: [y]}}":                "mcp.a: want either url or command",
		"mcp: {a: {url: x, transport: pigeon}}":           "mcp.a.transport: want http or sse",
		"mcp: {a: {url: x, trusted: maybe}}":              "mcp.a.trusted: want true or false",
		"mcp: {a: {url: x, headers: {H: {secret: '?'}}}}": "mcp.a.headers.H.secret: secret \"?\"",
		"mcp: {a: {url: x, headers: {H: {prefix: a}}}}":   "mcp.a.headers.H: the field secret is missing",
		"web: 7": "web: want true or false",
	} {
		_, err := config.Parse("f", []byte(text), func(string) (string, bool) { return "", false })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if c, err := config.Parse("f", []byte("web: false"), nil); err != nil || !c.Web.Off {
		t.Errorf("web: false is %+v, %v", c, err)
	}
}
