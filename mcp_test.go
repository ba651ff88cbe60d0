package heddle

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/catalog"
)

// searcher is a server of the Model Context Protocol that has the tools of a search
// service, and remembers what it was sent.
type searcher struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
	tokens []string
}

func newSearcher(t *testing.T) *searcher {
	t.Helper()
	s := &searcher{}
	tools := json.RawMessage(`[{"name":"get","description":"Gets.","inputSchema":{"type":"object"}}]`)
	s.Server = mcpServer(t, tools, func(r *http.Request, body []byte) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.bodies = append(s.bodies, string(body))
		s.tokens = append(s.tokens, r.Header.Get("Authorization"))
	})
	return s
}

func (s *searcher) sent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}

// newApp builds an application of a configuration file, with a scripted model.
func newApp(t *testing.T, text string, options ...Option) *App {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("script.yaml", "turns: [{when: {contains: x}, steps: [{text: hello}]}]\n")
	write("heddle.yaml", "models: {m: {provider: scripted, script: script.yaml}}\n"+text)
	app, err := New(append(options, ConfigFile(filepath.Join(dir, "heddle.yaml")))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, stop := range app.closers {
			stop()
		}
	})
	return app
}

// play calls a tool as a thread of the agent does.
func (a *App) play(t *testing.T, agent, tool, input string) catalog.Outcome {
	t.Helper()
	scope := catalog.Scope{Tenant: "acme", User: "ann", Thread: "thread-7", Agent: agent, Tools: a.agents[agent].Tools}
	request := catalog.Request{Tool: tool, Input: json.RawMessage(input)}
	plan := a.broker.Plan(t.Context(), scope, request)
	if plan.Error != nil {
		return catalog.Outcome{Error: plan.Error}
	}
	return a.broker.Dispatch(t.Context(), scope, request, plan)
}

func TestWebOfAnAgent(t *testing.T) {
	s := newSearcher(t)
	host := strings.TrimPrefix(s.URL, "http://")
	app := newApp(t, `
web: {url: "`+s.URL+`", allow: ["`+host+`"]}
agents:
  curious: {model: m, instructions: x}
  quiet: {model: m, instructions: x, web: false}
`)
	if len(s.sent()) != 0 {
		t.Error("something is sent before a tool is used")
	}
	out := app.play(t, "curious", "web.search", `{"objective":"tea"}`)
	if out.Error != nil || string(out.Result) != `{"results":[]}` {
		t.Errorf("outcome is %s, %v", out.Result, out.Error)
	}
	first := session(t, s)
	app.play(t, "curious", "web.fetch", `{"urls":["https://tea.example/"]}`)
	if again := session(t, s); again != first {
		t.Errorf("one thread has the sessions %s and %s", first, again)
	}
	for _, body := range s.sent() {
		for _, secret := range []string{"acme", "ann", "thread-7"} {
			if strings.Contains(body, secret) {
				t.Errorf("the service is told %q: %s", secret, body)
			}
		}
	}
	if out := app.play(t, "quiet", "web.search", `{"objective":"tea"}`); out.Error == nil || out.Error.Code != catalog.CodeToolNotFound {
		t.Errorf("an agent without web: %+v", out)
	}
}

// session is the session id of the last call. Other requests may have come since: the
// client listens on one of its own.
func session(t *testing.T, s *searcher) string {
	t.Helper()
	for _, body := range slices.Backward(s.sent()) {
		var call struct {
			Params struct {
				Arguments struct {
					Session string `json:"session_id"`
				} `json:"arguments"`
			} `json:"params"`
		}
		if err := json.Unmarshal([]byte(body), &call); err == nil && call.Params.Arguments.Session != "" {
			return call.Params.Arguments.Session
		}
	}
	t.Fatalf("no session in %q", s.sent())
	return ""
}

func TestWebIsLeftOutOrReplaced(t *testing.T) {
	s := newSearcher(t)
	host := strings.TrimPrefix(s.URL, "http://")
	agents := "\nagents: {a: {model: m, instructions: x, tools: [\"web.*\"]}}\n"
	for name, app := range map[string]*App{
		"by the file":    newApp(t, "web: false"+agents),
		"by the program": newApp(t, agents, WithoutWeb()),
	} {
		if out := app.play(t, "a", "web.search", `{"objective":"x"}`); out.Error == nil || out.Error.Code != catalog.CodeToolNotFound {
			t.Errorf("%s: %+v", name, out)
		}
	}
	own := newApp(t, "mcp: {web: {url: \""+s.URL+"\", allow: [\""+host+"\"]}}"+agents)
	if out := own.play(t, "a", "web.search", `{"objective":"x"}`); out.Error == nil || out.Error.Code != catalog.CodeToolNotFound {
		t.Errorf("the built-in tool is there beside one's own source: %+v", out)
	}
	if out := own.play(t, "a", "web.get", `{}`); out.Error != nil {
		t.Errorf("one's own source: %v", out.Error)
	}
}

func TestMCP(t *testing.T) {
	s := newSearcher(t)
	host := strings.TrimPrefix(s.URL, "http://")
	t.Setenv("HEDDLE_SECRET_FAR_TOKEN", "a-secret-token")
	app := newApp(t, `
agents: {a: {model: m, instructions: x, tools: ["far.*"]}}
mcp:
  far:
    url: "`+s.URL+`"
    allow: ["`+host+`"]
    headers: {Authorization: {secret: far.token, prefix: "Bearer "}}
    tools: {get: read}
`, MCP(MCPOptions{Namespace: "other", URL: s.URL, Allow: []string{host}}))
	if len(s.sent()) != 0 {
		t.Error("something is sent before a tool is wanted")
	}
	if out := app.play(t, "a", "far.get", `{}`); out.Error != nil {
		t.Error(out.Error)
	}
	s.mu.Lock() // the client may listen still
	tokens := slices.Clone(s.tokens)
	s.mu.Unlock()
	for _, token := range tokens {
		if token != "Bearer a-secret-token" {
			t.Errorf("authorization is %q", token)
		}
	}
	scope := catalog.Scope{Tools: []string{"other.*"}}
	if tools, err := listed(t, app, scope, 1); err != nil || len(tools) != 1 || tools[0].Operation != catalog.Write {
		t.Errorf("tools are %+v, %v", tools, err)
	}
}

// listed lists so many tools. A source that takes more than a moment is left out of a
// list, until it has answered.
func listed(t *testing.T, app *App, scope catalog.Scope, n int) (tools []catalog.Descriptor, err error) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if tools, err = app.broker.Tools(t.Context(), scope); err != nil || len(tools) == n {
			break
		}
	}
	return tools, err
}

func TestMCPProblems(t *testing.T) {
	for text, want := range map[string]string{
		"mcp: {far: {url: 'http://plain.example/'}}":                     "mcp.far: mcp: far: http://plain.example is refused",
		"mcp: {far: {url: 'https://x.example/', tools: {get: allowed}}}": `"allowed" is no access`,
		"mcp: {far.off: {url: 'https://x.example/'}}":                    "namespace",
		"web: {url: 'http://plain.example/'}":                            "web: mcp: web",
	} {
		file := filepath.Join(t.TempDir(), "heddle.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := New(ConfigFile(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := New(MCP(MCPOptions{Namespace: "far"})); err == nil || !strings.Contains(err.Error(), "want either a URL or a command") {
		t.Errorf("error is %v", err)
	}
}
