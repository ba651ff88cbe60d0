package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/providers/mcp"
)

// modern makes the server one of version 2026-07-28.
func (f *fake) modern() {
	f.on("server/discover", func(w http.ResponseWriter, m message) {
		reply(w, m, `{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}`)
	})
}

func TestVersions(t *testing.T) {
	for name, c := range map[string]struct {
		script     func(f *fake)
		initialize int
		version    string
	}{
		"a server of old": {func(*fake) {}, 1, "2025-11-25"},
		"the newest":      {(*fake).modern, 0, "2026-07-28"},
		"one that says what it speaks": {func(f *fake) {
			f.on("server/discover", func(w http.ResponseWriter, m message) {
				reply(w, m, `{"supportedVersions":["2025-06-18"],"capabilities":{"tools":{}}}`)
			})
		}, 1, "2025-11-25"},
		"one that speaks an older version": {func(f *fake) {
			f.on("initialize", func(w http.ResponseWriter, m message) {
				reply(w, m, `{"protocolVersion":"2025-03-26","capabilities":{"tools":{}}}`)
			})
		}, 1, "2025-03-26"},
		"one that leaves the first question unanswered": {func(f *fake) {
			f.on("server/discover", func(_ http.ResponseWriter, m message) { <-m.gone })
		}, 1, "2025-11-25"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			c.script(f)
			newDesk(t, f.source()).want("far.echo", `{"text":"x"}`, `{"text":"x"}`)
			calls := f.received("tools/call")
			if got := calls[0].header.Get("Mcp-Protocol-Version"); got != c.version {
				t.Errorf("the call is in version %q, want %q", got, c.version)
			}
			// One session lists the tools, one of the tenant's own makes the call.
			if n := len(f.received("initialize")); n != 2*c.initialize {
				t.Errorf("initialize was sent %d times", n)
			}
		})
	}
	t.Run("one that speaks none", func(t *testing.T) {
		f := newFake(t)
		f.on("initialize", func(w http.ResponseWriter, m message) {
			reply(w, m, `{"protocolVersion":"2031-01-01","capabilities":{"tools":{}}}`)
		})
		if _, err := f.source().Tools(t.Context()); err == nil || !strings.Contains(err.Error(), `"2031-01-01"`) {
			t.Errorf("error is %v", err)
		}
	})
}

// TestNewestProtocol: what each request of version 2026-07-28 carries.
func TestNewestProtocol(t *testing.T) {
	f := newFake(t)
	f.modern()
	f.offer(`[{"name":"echo","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}},
		{"name":"bad","inputSchema":{"type":"object","properties":{"o":{"type":"object","x-mcp-header":"O"}}}}]`)
	s := f.source()
	newDesk(t, s).want("far.echo", `{"region":"süd"}`, `{"region":"süd"}`)
	m := f.received("tools/call")[0]
	for name, want := range map[string]string{
		"Mcp-Method": "tools/call", "Mcp-Name": "echo", "Mcp-Param-Region": "=?base64?c8O8ZA==?=", "Mcp-Session-Id": "",
	} {
		if got := m.header.Get(name); got != want {
			t.Errorf("header %s is %q, want %q", name, got, want)
		}
	}
	meta := m.param("_meta")
	for _, want := range []string{`"io.modelcontextprotocol/protocolVersion":"2026-07-28"`, `"io.modelcontextprotocol/clientCapabilities":{}`, `"dev.heddle/idempotency-key":"key-1"`} {
		if !strings.Contains(meta, want) {
			t.Errorf("_meta is %s, want %s in it", meta, want)
		}
	}
	if got := ids(t, s); !slices.Equal(got, []string{"far.echo"}) {
		t.Errorf("tools are %v", got)
	}
}

// TestNewsOfTheNewestProtocol: a server of version 2026-07-28 that says so is asked to
// tell of changed tools, and the listing is made anew when it does; the end of the
// connection ends the subscription.
func TestNewsOfTheNewestProtocol(t *testing.T) {
	f := newFake(t)
	f.on("server/discover", func(w http.ResponseWriter, m message) {
		reply(w, m, `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}}`)
	})
	told, ended := make(chan string), make(chan struct{})
	f.on("subscriptions/listen", func(w http.ResponseWriter, m message) {
		defer close(ended)
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			select {
			case text := <-told:
				fmt.Fprintf(w, "data: %s\n\n", text)
			case <-time.After(10 * time.Millisecond):
				if _, err := fmt.Fprint(w, ": still there\n\n"); err != nil {
					return
				}
			}
			w.(http.Flusher).Flush()
		}
	})
	s := f.source()
	ids(t, s)
	eventually(t, "the client listens", func() bool { return len(f.received("subscriptions/listen")) == 1 })
	if got := f.received("subscriptions/listen")[0].param("notifications"); got != `{"toolsListChanged":true}` {
		t.Errorf("it is asked for %s", got)
	}
	f.offer(`[{"name":"new","inputSchema":{"type":"object"}}]`)
	if got := ids(t, s); !slices.Equal(got, []string{"far.echo"}) {
		t.Errorf("before it tells, the tools are %v", got)
	}
	told <- `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	eventually(t, "the new tools are seen", func() bool { return slices.Equal(ids(t, s), []string{"far.new"}) })
	s.Close()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("the subscription outlives the connection")
	}
}

func TestNothingIsDeclaredThatCannotBeDone(t *testing.T) {
	f := newFake(t)
	ids(t, f.source())
	if got := f.received("initialize")[0].param("capabilities"); got != `{}` {
		t.Errorf("capabilities are %s", got)
	}
}

func TestCancellation(t *testing.T) {
	f := newFake(t)
	d := newDesk(t, f.source())
	reached := make(chan message, 1)
	f.on("tools/call", func(_ http.ResponseWriter, m message) {
		reached <- m
		<-m.gone
	})
	ctx, cancel := context.WithCancel(t.Context())
	request := catalog.Request{Tool: "far.echo", Input: json.RawMessage(`{"text":"x"}`)}
	plan := d.broker.Plan(ctx, d.scope, request)
	done := make(chan catalog.Outcome, 1)
	go func() { done <- d.broker.Dispatch(ctx, d.scope, request, plan) }()
	m := <-reached
	cancel()
	if out := <-done; out.Error == nil || out.Error.Code != catalog.CodeCancelled || out.Error.Effect != catalog.EffectUnknown {
		t.Errorf("outcome is %+v", out)
	}
	eventually(t, "the server learns of it", func() bool {
		all := f.received("notifications/cancelled")
		return len(all) == 1 && all[0].param("requestId") == string(m.ID)
	})
}

func TestProgress(t *testing.T) {
	f := newFake(t)
	f.on("tools/call", func(w http.ResponseWriter, m message) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,\"progress\":1,\"total\":2,\"message\":\"half\"}}\n\n", m.ID)
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", m.ID)
	})
	var mu sync.Mutex
	var seen []catalog.Progress
	d := newDesk(t, f.source())
	request := catalog.Request{Tool: "far.echo", Input: json.RawMessage(`{"text":"x"}`), Progress: func(p catalog.Progress) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, p)
	}}
	if out := d.broker.Dispatch(t.Context(), d.scope, request, d.broker.Plan(t.Context(), d.scope, request)); out.Error != nil {
		t.Error(out.Error)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(seen) != 1 || seen[0] != (catalog.Progress{Done: 1, Total: 2, Message: "half"}) {
		t.Errorf("progress is %+v", seen)
	}
}

// TestLogging: what a server logs is for the worker's log, as one line of text.
func TestLogging(t *testing.T) {
	var log strings.Builder
	var mu sync.Mutex
	usual := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(writer(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return log.Write(p)
	}), &slog.HandlerOptions{Level: slog.LevelDebug})))
	defer slog.SetDefault(usual)
	f := newFake(t)
	f.on("tools/call", func(w http.ResponseWriter, m message) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","data":{"disk":"\u001b[2Jfull\n"}}}`+"\n\n")
		fmt.Fprintf(w, `data: {"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":{}}}`+"\n\n", m.ID)
	})
	newDesk(t, f.source()).want("far.echo", `{"text":"x"}`, `{}`)
	mu.Lock()
	defer mu.Unlock()
	if got := log.String(); !strings.Contains(got, "level=DEBUG") || !strings.Contains(got, "source=far level=warning") || !strings.Contains(got, "full") || strings.Contains(got, "\x1b") {
		t.Errorf("the log holds %q", got)
	}
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// TestQuestions: with somebody to answer, a server may ask, in the way of its
// version; the defaults of the question stand for what is left out.
func TestQuestions(t *testing.T) {
	schema := `{"type":"object","properties":{"size":{"type":"string","default":"L"},"name":{"type":"string"}}}`
	answer := func(_ context.Context, q mcp.Question) (mcp.Reply, error) {
		if q.Message != "Which?" {
			t.Errorf("the question is %q", q.Message)
		}
		return mcp.Reply{Action: "accept", Content: json.RawMessage(`{"name":"Ann"}`)}, nil
	}
	f := newFake(t)
	f.modern()
	f.on("tools/call", func(w http.ResponseWriter, m message) {
		if m.param("requestState") == "" {
			reply(w, m, `{"resultType":"input_required","requestState":"s1","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"Which?","requestedSchema":`+schema+`}}}}`)
			return
		}
		reply(w, m, `{"content":[],"structuredContent":{"state":`+m.param("requestState")+`,"got":`+m.param("inputResponses")+`}}`)
	})
	newDesk(t, f.source(func(o *mcp.Options) { o.Answer = answer })).
		want("far.echo", `{"text":"x"}`, `{"state":"s1","got":{"q":{"action":"accept","content":{"name":"Ann","size":"L"}}}}`)
	newDesk(t, f.source()).wantError("far.echo", `{"text":"x"}`, mcp.CodeInputRequired, catalog.EffectNone)
}

func TestResourcesAndPrompts(t *testing.T) {
	f := newFake(t)
	f.on("initialize", func(w http.ResponseWriter, m message) {
		reply(w, m, `{"protocolVersion":"2025-11-25","capabilities":{"resources":{},"prompts":{}}}`)
	})
	f.on("resources/list", func(w http.ResponseWriter, m message) { reply(w, m, `{"resources":[{"uri":"a:1","name":"one"}]}`) })
	f.on("resources/read", func(w http.ResponseWriter, m message) {
		reply(w, m, `{"contents":[{"uri":`+m.param("uri")+`,"mimeType":"text/plain","text":"body"}]}`)
	})
	f.on("prompts/list", func(w http.ResponseWriter, m message) { reply(w, m, `{"prompts":[{"name":"p"}]}`) })
	f.on("prompts/get", func(w http.ResponseWriter, m message) {
		reply(w, m, `{"messages":[{"role":"user","content":{"type":"text","text":"do it"}}]}`)
	})
	s := f.source()
	if got, want := ids(t, s), []string{"far.list_resources", "far.read_resource", "far.list_prompts", "far.get_prompt"}; !slices.Equal(got, want) {
		t.Fatalf("tools are %v, want %v", got, want)
	}
	d := newDesk(t, s)
	d.want("far.list_resources", `{}`, `{"resources":[{"uri":"a:1","name":"one"}],"templates":[]}`)
	d.want("far.read_resource", `{"uri":"a:1"}`, `{"content_type":"text/plain","text":"body","type":"resource","uri":"a:1"}`)
	d.want("far.list_prompts", `{}`, `{"prompts":[{"name":"p"}]}`)
	d.want("far.get_prompt", `{"name":"p"}`, `{"description":"","messages":[{"content":"do it","role":"user"}]}`)
	for _, id := range ids(t, s) {
		if tool(t, s, id).Operation != catalog.Read {
			t.Errorf("%s is no read", id)
		}
	}
}

func TestPermissions(t *testing.T) {
	f := newFake(t)
	f.offer("[" + strings.Join([]string{stub("get_a"), stub("get_b"), stub("drop_all"), stub("send")}, ",") + "]")
	s := f.source(func(o *mcp.Options) {
		o.Permissions = []mcp.Permission{{"*", mcp.AccessHidden}, {"get_*", mcp.AccessRead}, {"get_b", mcp.AccessAsk}, {"send", mcp.AccessWrite}}
	})
	if got, want := ids(t, s), []string{"far.get_a", "far.get_b", "far.send"}; !slices.Equal(got, want) {
		t.Fatalf("tools are %v, want %v", got, want)
	}
	for id, want := range map[string]catalog.Descriptor{
		"far.get_a": {Operation: catalog.Read}, "far.get_b": {Operation: catalog.Write, Approval: catalog.ApprovalAlways},
		"far.send": {Operation: catalog.Write},
	} {
		if got := tool(t, s, id); got.Operation != want.Operation || got.Approval != want.Approval {
			t.Errorf("%s is a %s with approval %q", id, got.Operation, got.Approval)
		}
	}
	_, err := f.source(func(o *mcp.Options) { o.Permissions = []mcp.Permission{{"get_x*", mcp.AccessRead}} }).Tools(t.Context())
	if err == nil || !strings.Contains(err.Error(), `"get_x*"`) || !strings.Contains(err.Error(), "get_a") {
		t.Errorf("error is %v", err)
	}
	if _, err := mcp.New(mcp.Options{Namespace: "far", URL: f.URL, Permissions: []mcp.Permission{{"x", "allow"}}}); err == nil {
		t.Error("an access that is none is taken")
	}
}

// TestConnections: a tenant has its own, keeps it while it is used, and has another
// one when the credential is another.
func TestConnections(t *testing.T) {
	f := newFake(t)
	var mu sync.Mutex
	generation := "1"
	s := f.source(func(o *mcp.Options) {
		o.Credentials = func(_ context.Context, need mcp.Need) (mcp.Credential, error) {
			mu.Lock()
			defer mu.Unlock()
			return mcp.Credential{Headers: map[string]string{"Authorization": "Bearer " + need.Scope.Tenant + generation}, Generation: generation}, nil
		}
	})
	d := newDesk(t, s)
	sessions := map[string]bool{}
	for _, c := range []struct{ tenant, generation string }{{"acme", "1"}, {"acme", "1"}, {"other", "1"}, {"acme", "2"}} {
		mu.Lock()
		generation = c.generation
		mu.Unlock()
		d.scope.Tenant = c.tenant
		d.want("far.echo", `{"text":"x"}`, `{"text":"x"}`)
		calls := f.received("tools/call")
		last := calls[len(calls)-1].header
		if got, want := last.Get("Authorization"), "Bearer "+c.tenant+c.generation; got != want {
			t.Errorf("authorization is %q, want %q", got, want)
		}
		sessions[last.Get("Mcp-Session-Id")+c.tenant+c.generation] = true
	}
	if len(sessions) != 3 {
		t.Errorf("sessions are %v, want three", sessions)
	}
}

// TestIdleConnectionEnds: a connection that nobody uses is not kept for ever.
func TestIdleConnectionEnds(t *testing.T) {
	f := newFake(t)
	d := newDesk(t, f.source(func(o *mcp.Options) { o.Idle = 300 * time.Millisecond }))
	d.want("far.echo", `{"text":"x"}`, `{"text":"x"}`)
	eventually(t, "both sessions end", func() bool { return f.sessionsEnded() == 2 })
	d.want("far.echo", `{"text":"x"}`, `{"text":"x"}`)
	if n := len(f.received("initialize")); n != 3 {
		t.Errorf("%d sessions were begun, want one for the listing and two for the calls", n)
	}
}

// TestCloseWithACallUnderWay: the end of a source does not wait for a call; the call has
// its result, and its connection ends with it.
func TestCloseWithACallUnderWay(t *testing.T) {
	f := newFake(t)
	s := f.source()
	d := newDesk(t, s)
	reached, hold := make(chan struct{}), make(chan struct{})
	f.on("tools/call", func(w http.ResponseWriter, m message) {
		close(reached)
		<-hold
		f.answer(w, m)
	})
	var call sync.WaitGroup
	call.Go(func() { d.want("far.echo", `{"text":"x"}`, `{"text":"x"}`) })
	<-reached
	s.Close()
	eventually(t, "the session of the listing ends, and no other", func() bool { return f.sessionsEnded() == 1 })
	close(hold)
	call.Wait()
	eventually(t, "the session of the call ends", func() bool { return f.sessionsEnded() == 2 })
}

func TestConnectionsAreBounded(t *testing.T) {
	f := newFake(t)
	s := f.source(func(o *mcp.Options) { o.MaxConnections = 2 })
	d := newDesk(t, s)
	for _, tenant := range []string{"a", "b", "c", "d"} { // each takes the place of one that is idle
		d.scope.Tenant = tenant
		d.want("far.echo", `{"text":"x"}`, `{"text":"x"}`)
	}
	hold := make(chan struct{})
	reached := make(chan struct{}, 2)
	f.on("tools/call", func(w http.ResponseWriter, m message) {
		reached <- struct{}{}
		<-hold
		f.answer(w, m)
	})
	var wg sync.WaitGroup
	for _, tenant := range []string{"a", "b"} {
		scope := d.scope
		scope.Tenant = tenant
		wg.Go(func() { (&desk{t, d.broker, scope}).want("far.echo", `{"text":"x"}`, `{"text":"x"}`) })
	}
	<-reached
	<-reached
	d.scope.Tenant = "c"
	d.wantError("far.echo", `{"text":"x"}`, mcp.CodeBusy, catalog.EffectNone)
	close(hold)
	wg.Wait()
}

// TestRefusedCredential: a server that refuses a credential is asked once more with
// another one, if there is one; a secret is in no error.
func TestRefusedCredential(t *testing.T) {
	f := newFake(t)
	f.on("tools/call", func(w http.ResponseWriter, m message) {
		if m.header.Get("Authorization") != "Bearer fresh-token" {
			w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		f.answer(w, m)
	})
	refreshed := func(_ context.Context, need mcp.Need) (mcp.Credential, error) {
		if need.Refused != nil {
			return mcp.Credential{Headers: map[string]string{"Authorization": "Bearer fresh-token"}, Generation: "2"}, nil
		}
		return mcp.Credential{Headers: map[string]string{"Authorization": "Bearer stale-token"}, Generation: "1"}, nil
	}
	newDesk(t, f.source(func(o *mcp.Options) { o.Credentials = refreshed })).want("far.echo", `{"text":"x"}`, `{"text":"x"}`)
	d := newDesk(t, f.source(func(o *mcp.Options) { o.Headers = map[string]string{"Authorization": "Bearer stale-token"} }))
	if err := d.wantError("far.echo", `{"text":"x"}`, mcp.CodeUnauthorized, catalog.EffectNone); strings.Contains(err.Error(), "stale-token") {
		t.Errorf("the error holds the secret: %v", err)
	}
	for _, name := range []string{"Mcp-Session-Id", "Host", "accept", "bad name", ""} {
		if _, err := mcp.New(mcp.Options{Namespace: "far", URL: f.URL, Allow: []string{f.host()}, Headers: map[string]string{name: "x"}}); err == nil {
			t.Errorf("the header %q is taken", name)
		}
	}
}

// TestServerSentEvents: a server of 2024-11-05 answers over one stream.
func TestServerSentEvents(t *testing.T) {
	f := newFake(t)
	stream := make(chan string, 16)
	plain := f.Config.Handler
	f.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "event: endpoint\ndata: /post\n\n")
			w.(http.Flusher).Flush()
			for {
				select {
				case text := <-stream:
					if text == "" {
						return
					}
					fmt.Fprintf(w, "data: %s\n\n", text)
					w.(http.Flusher).Flush()
				case <-r.Context().Done():
					return
				}
			}
		}
		answered := &answer{header: http.Header{}}
		plain.ServeHTTP(answered, r)
		if len(answered.body) > 0 {
			stream <- string(answered.body)
		}
		w.WriteHeader(http.StatusAccepted)
	})
	f.on("initialize", func(w http.ResponseWriter, m message) {
		reply(w, m, `{"protocolVersion":"2024-11-05","capabilities":{"tools":{}}}`)
	})
	d := newDesk(t, f.source(func(o *mcp.Options) { o.SSE = true }))
	d.scope.Tenant = "" // one stream for the listing and the calls
	d.want("far.echo", `{"text":"x"}`, `{"text":"x"}`)
	f.on("tools/call", func(http.ResponseWriter, message) { stream <- "" })
	d.wantError("far.echo", `{"text":"x"}`, mcp.CodeConnectionLost, catalog.EffectUnknown)
}

// answer keeps what a handler writes.
type answer struct {
	header http.Header
	body   []byte
}

func (a *answer) Header() http.Header { return a.header }
func (a *answer) WriteHeader(int)     {}
func (a *answer) Write(b []byte) (int, error) {
	a.body = append(a.body, b...)
	return len(b), nil
}

// TestManyAtOnce: a hundred calls of one server share one session.
func TestManyAtOnce(t *testing.T) {
	f := newFake(t)
	d := newDesk(t, f.source())
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			text := fmt.Sprintf(`{"text":"%d"}`, i)
			d.want("far.echo", text, text)
		})
	}
	wg.Wait()
	if n := len(f.received("initialize")); n != 2 {
		t.Errorf("%d sessions were begun, want one for the listing and one for the calls", n)
	}
}
