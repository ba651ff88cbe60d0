package mcp_test

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/catalogtest"
	"github.com/heddle-dev/heddle/providers/mcp"
)

// hijack goes on with the connection of a call itself.
func hijack(t *testing.T, then func(net.Conn)) func(*fake) {
	return func(f *fake) {
		f.on("tools/call", func(w http.ResponseWriter, _ message) {
			connection, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer connection.Close()
			then(connection)
		})
	}
}

// answers scripts the call.
func answers(do func(http.ResponseWriter, message)) func(*fake) {
	return func(f *fake) { f.on("tools/call", do) }
}

func statusOf(code int) func(*fake) {
	return answers(func(w http.ResponseWriter, _ message) { w.WriteHeader(code) })
}

func refusal(code int) func(*fake) {
	return answers(func(w http.ResponseWriter, m message) { refuse(w, m, code, "no") })
}

// deaf waits until the client has ended the connection.
func deaf(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// closed ends the server.
func closed(f *fake) {
	f.CloseClientConnections()
	f.Close()
}

// Each row of the table in docs/effects.md happens, to a write at a real server over
// streamable HTTP.
func TestEffectsOfMCP(t *testing.T) {
	rows := catalogtest.EffectRows(t, "MCP over streamable HTTP")
	tests := map[string][]func(*fake){
		"the connection is refused":              {closed},
		"the connection breaks after the send":   {hijack(t, func(net.Conn) {}), hijack(t, func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) })},
		"no answer comes in time":                {hijack(t, deaf)},
		"408, 409, 425 or 429":                   {statusOf(408), statusOf(409), statusOf(425), statusOf(429)},
		"another 4xx":                            {statusOf(400), statusOf(401), statusOf(403), statusOf(405), statusOf(422)},
		"5xx":                                    {statusOf(500), statusOf(502), statusOf(503), statusOf(504)},
		"a redirect, which is not followed":      {statusOf(302), statusOf(307)},
		"error -32700, -32600, -32601 or -32602": {refusal(-32700), refusal(-32600), refusal(-32601), refusal(-32602)},
		"another error of JSON-RPC":              {refusal(-32603), refusal(-32000), refusal(1)},
		"the result says isError": {answers(func(w http.ResponseWriter, m message) {
			reply(w, m, `{"content":[{"type":"text","text":"no"}],"isError":true}`)
		})},
		"a result that is none of the protocol": {answers(func(w http.ResponseWriter, m message) { reply(w, m, `7`) })},
		"an answer that is no JSON":             {answers(func(w http.ResponseWriter, _ message) { _, _ = io.WriteString(w, "{") })},
		"the server has changed the tool since it was planned": {func(f *fake) {
			f.on("tools/call", func(w http.ResponseWriter, m message) {
				f.offer(strings.Replace(f.tools, "Says what", "Deletes what", 1))
				w.WriteHeader(http.StatusNotFound) // the session is over; what is offered in another is looked at first
			})
		}},
		"a result": {func(*fake) {}},
	}
	check(t, rows, tests, func(t *testing.T, break_ func(*fake), timeout time.Duration) *catalog.Error {
		f := newFake(t)
		// A client that has not seen the end of a connection that was kept would rightly
		// not know whether what it sends on it arrives.
		f.Config.SetKeepAlivesEnabled(false)
		d := newDesk(t, f.source(func(o *mcp.Options) { o.Timeout = timeout }))
		d.want("far.echo", `{"text":"well"}`, `{"text":"well"}`)
		break_(f)
		return d.call("far.echo", `{"text":"x"}`).Error
	})
}

// TestWriteIsSentOnce: a call on a connection that was kept, and that the server ends
// once it has read the call, is not sent again by anything below: the server may have
// carried it out.
func TestWriteIsSentOnce(t *testing.T) {
	for name, end := range map[string]func(net.Conn){
		"closed": func(net.Conn) {},
		"reset":  func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) },
		"half an answer": func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{")
		},
		"only headers": func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Ty") },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.modern() // it is not listened to, so that nothing else takes the connection
			d := newDesk(t, f.source())
			const well = 5 // so that no connection is still being made that was begun for an earlier request
			for range well {
				d.want("far.echo", `{"text":"well"}`, `{"text":"well"}`)
			}
			f.mu.Lock()
			before := maps.Clone(f.connections)
			f.mu.Unlock()
			f.on("tools/call", func(w http.ResponseWriter, m message) {
				if !before[m.from] {
					t.Errorf("the connection was not kept: %s is not of %v", m.from, before)
				}
				connection, _, err := w.(http.Hijacker).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				defer connection.Close()
				end(connection)
			})
			if err := d.call("far.echo", `{"text":"x"}`).Error; catalogtest.EffectOf(err) != "unknown" {
				t.Errorf("the call ends in %+v", err)
			}
			if calls := f.received("tools/call"); len(calls) != well+1 {
				t.Errorf("the server got %d calls, want the first %d and this one", len(calls), well)
			}
		})
	}
	for _, header := range []string{"Idempotency-Key", "x-idempotency-key"} {
		if _, err := mcp.New(mcp.Options{Namespace: "far", URL: "https://mcp.example.com", Headers: map[string]string{header: "k"}}); err == nil ||
			!strings.Contains(err.Error(), http.CanonicalHeaderKey(header)) {
			t.Errorf("with the header %s: %v", header, err)
		}
	}
}

// The same for a server that is a process.
func TestEffectsOfMCPOverStandardStreams(t *testing.T) {
	rows := catalogtest.EffectRows(t, "MCP over standard streams")
	tests := map[string][]string{
		"the program is not there":         {"gone"},
		"the process ends during the call": {"die"},
		"no answer comes in time":          {"deaf"},
		"an answer that is too long":       {"flood"},
		"a result":                         {"pid"},
	}
	check(t, rows, tests, func(t *testing.T, tool string, timeout time.Duration) *catalog.Error {
		if tool == "gone" {
			return withoutProgram(t)
		}
		_, d := processSource(t, func(o *mcp.Options) { o.Timeout, o.MaxMessage = timeout, 4<<20 })
		return d.call("near."+tool, `{}`).Error
	})
}

// withoutProgram calls a tool of a server whose program is removed after its process
// has ended.
func withoutProgram(t *testing.T) *catalog.Error {
	t.Helper()
	program := t.TempDir() + "/server"
	text, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.WriteFile(program, text, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, d := processSource(t, func(o *mcp.Options) { o.Command.Path = program })
	_ = d.call("near.pid", `{}`)
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	_ = d.call("near.die", `{}`) // ends the process
	return d.call("near.pid", `{}`).Error
}

// check makes each row happen in all its ways, and finds the rows that differ. A call
// may take long, but where no answer is waited for.
func check[T any](t *testing.T, rows map[string]string, tests map[string][]T, happen func(*testing.T, T, time.Duration) *catalog.Error) {
	t.Helper()
	for row, want := range rows {
		timeout := patience
		if row == "no answer comes in time" {
			timeout = 5 * time.Second
		}
		if len(tests[row]) == 0 {
			t.Errorf("docs/effects.md has a row that no test makes happen: %s", row)
		}
		for i, way := range tests[row] {
			t.Run(fmt.Sprintf("%s %d", row, i+1), func(t *testing.T) {
				t.Parallel()
				err := happen(t, way, timeout)
				if got := catalogtest.EffectOf(err); got != want {
					t.Errorf("%s, want %s: %+v", got, want, err)
				}
			})
		}
	}
	for row := range tests {
		if rows[row] == "" {
			t.Errorf("docs/effects.md has no row %q", row)
		}
	}
}
