package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/child"
	"github.com/heddle-dev/heddle/providers/mcp"
)

// message is a message of JSON-RPC as the fake server reads it.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Error  json.RawMessage `json:"error"`
	header http.Header
	// from is the other end of the connection.
	from string
	// gone is closed when the client waits for no answer any more.
	gone <-chan struct{}
}

func (m message) param(name string) string {
	var params map[string]json.RawMessage
	_ = json.Unmarshal(m.Params, &params)
	return string(params[name])
}

// fake is a server of the protocol that a test scripts: each method has a function
// that answers.
type fake struct {
	*httptest.Server
	t testing.TB

	mu   sync.Mutex
	seen []message
	// connections are the other ends of those that were made.
	connections map[string]bool
	handlers    map[string]func(w http.ResponseWriter, m message)
	// tools is what tools/list answers.
	tools string
	// sessions numbers the sessions; forgotten are those that the server has lost.
	sessions  int
	forgotten map[string]bool
	// ended counts the sessions that the client has ended.
	ended int
	// listener takes what is sent on the stream that a client listens on.
	listener chan string
}

// newFake starts a server of one tool, echo, which answers its input as structured
// content. It speaks version 2025-11-25.
func newFake(t testing.TB) *fake {
	f := &fake{
		t: t, handlers: map[string]func(http.ResponseWriter, message){}, forgotten: map[string]bool{}, listener: make(chan string),
		connections: map[string]bool{},
		tools:       `[{"name":"echo","description":"Says what it hears.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}]`,
	}
	f.Server = httptest.NewUnstartedServer(f)
	// Nobody else gets its port by chance once it has ended.
	ports, err := child.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Listener.Close()
	if f.Listener, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", ports[0])); err != nil {
		t.Fatal(err)
	}
	f.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateNew {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.connections[c.RemoteAddr().String()] = true
		}
	}
	f.Start()
	t.Cleanup(func() {
		f.CloseClientConnections()
		f.Close()
	})
	return f
}

// on scripts a method.
func (f *fake) on(method string, handle func(w http.ResponseWriter, m message)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handlers[method] = handle
}

// offer sets what tools/list answers.
func (f *fake) offer(tools string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tools = tools
}

// forget loses all sessions.
func (f *fake) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.sessions {
		f.forgotten[fmt.Sprint("S", i+1)] = true
	}
}

// sessionsEnded is how many sessions the client has ended.
func (f *fake) sessionsEnded() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended
}

// received lists what the server was sent by a method.
func (f *fake) received(method string) []message {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.seen), func(m message) bool { return m.Method != method })
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	session := r.Header.Get("Mcp-Session-Id")
	f.mu.Lock()
	lost := f.forgotten[session]
	f.mu.Unlock()
	if lost {
		http.Error(w, "no such session", http.StatusNotFound)
		return
	}
	switch r.Method {
	case http.MethodGet:
		f.mu.Lock()
		resume := f.handlers["resume"]
		f.mu.Unlock()
		if resume != nil && r.Header.Get("Last-Event-ID") != "" {
			resume(w, message{header: r.Header})
			return
		}
		f.listen(w, r)
		return
	case http.MethodDelete:
		f.mu.Lock()
		f.ended++
		f.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
		return
	}
	body, _ := io.ReadAll(r.Body)
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	m.header, m.from, m.gone = r.Header, r.RemoteAddr, r.Context().Done()
	f.mu.Lock()
	f.seen = append(f.seen, m)
	handle := f.handlers[m.Method]
	f.mu.Unlock()
	if handle == nil {
		handle = f.answer
	}
	handle(w, m)
}

// answer is what a server that is well answers.
func (f *fake) answer(w http.ResponseWriter, m message) {
	f.mu.Lock()
	tools := f.tools
	f.mu.Unlock()
	switch {
	case m.Method == "initialize":
		f.mu.Lock()
		f.sessions++
		w.Header().Set("Mcp-Session-Id", fmt.Sprint("S", f.sessions))
		f.mu.Unlock()
		reply(w, m, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"fake","version":"1"}}`)
	case m.Method == "tools/list":
		reply(w, m, `{"tools":`+tools+`}`)
	case m.Method == "tools/call":
		reply(w, m, `{"content":[],"structuredContent":`+m.param("arguments")+`}`)
	case len(m.ID) == 0 || m.Method == "":
		w.WriteHeader(http.StatusAccepted)
	default:
		refuse(w, m, -32601, "there is no "+m.Method)
	}
}

// listen holds the stream that a client listens on.
func (f *fake) listen(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.(http.Flusher).Flush()
	for {
		select {
		case text := <-f.listener:
			fmt.Fprintf(w, "data: %s\n\n", text)
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

func reply(w http.ResponseWriter, m message, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

func refuse(w http.ResponseWriter, m message, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, m.ID, code, text)
}

// host is where the server is, as an operator allows it.
func (f *fake) host() string {
	u, err := url.Parse(f.URL)
	if err != nil {
		f.t.Fatal(err)
	}
	return u.Host
}

// source is a source of the server.
func (f *fake) source(change ...func(*mcp.Options)) *mcp.Source {
	f.t.Helper()
	o := mcp.Options{Namespace: "far", URL: f.URL, Allow: []string{f.host()}}
	for _, c := range change {
		c(&o)
	}
	return open(f.t, o)
}

func open(t testing.TB, o mcp.Options) *mcp.Source {
	t.Helper()
	s, err := mcp.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// desk calls the tools of a source as a thread does.
type desk struct {
	t      testing.TB
	broker *catalog.Broker
	scope  catalog.Scope
}

func newDesk(t testing.TB, s catalog.Source) *desk {
	t.Helper()
	broker, err := catalog.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return &desk{t, broker, catalog.Scope{Tenant: "acme", Thread: "1", Agent: "a", Tools: []string{"*"}}}
}

// call plans a call and carries it out.
func (d *desk) call(tool, input string) catalog.Outcome {
	d.t.Helper()
	ctx := d.t.Context()
	request := catalog.Request{Tool: tool, Input: json.RawMessage(input), IdempotencyKey: "key-1"}
	plan := d.broker.Plan(ctx, d.scope, request)
	if plan.Error != nil {
		return catalog.Outcome{Error: plan.Error}
	}
	return d.broker.Dispatch(ctx, d.scope, request, plan)
}

// want checks a result.
func (d *desk) want(tool, input, result string) {
	d.t.Helper()
	out := d.call(tool, input)
	if out.Error != nil {
		d.t.Errorf("%s(%s): %v", tool, input, out.Error)
		return
	}
	if string(out.Result) != result {
		d.t.Errorf("%s(%s) = %s, want %s", tool, input, out.Result, result)
	}
	if out.Warning != "" {
		d.t.Errorf("%s(%s): %s", tool, input, out.Warning)
	}
}

// wantError checks an error's code.
func (d *desk) wantError(tool, input, code string, effect catalog.Effect) *catalog.Error {
	d.t.Helper()
	out := d.call(tool, input)
	if out.Error == nil || out.Error.Code != code || out.Error.Effect != effect {
		d.t.Errorf("%s(%s) = %s, %+v; want the error %s with effect %q", tool, input, out.Result, out.Error, code, effect)
		return &catalog.Error{}
	}
	return out.Error
}

// ids lists the ids of a source's tools.
func ids(t testing.TB, s *mcp.Source) []string {
	t.Helper()
	tools, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := make([]string, len(tools))
	for i, tool := range tools {
		all[i] = tool.ID
	}
	return all
}

// patience is how long a test waits for what must happen, on a busy machine too.
const patience = 3 * time.Minute

// eventually waits for something that cannot announce itself.
func eventually(t testing.TB, what string, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if happened() {
			return
		}
	}
	t.Errorf("it does not happen: %s", what)
}
