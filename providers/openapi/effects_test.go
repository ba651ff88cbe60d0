package openapi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/catalog/catalogtest"
)

// target answers a write in whatever way, down to the bytes.
func target(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server.URL
}

// raw reads a request as far as a test wants, and goes on with the connection itself.
func raw(t *testing.T, whole bool, then func(net.Conn)) string {
	return target(t, func(w http.ResponseWriter, r *http.Request) {
		if whole {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		connection, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer connection.Close()
		then(connection)
	})
}

func reset(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }

func status(code int) func(*testing.T) string {
	return func(t *testing.T) string {
		return target(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
	}
}

// closedPort is one that no system gives to whoever asks for any.
func closedPort(*testing.T) string { return "http://127.0.0.1:1" }

// Each row of the table in docs/effects.md happens, to a write at a real server.
func TestEffectsOfHTTP(t *testing.T) {
	long := `{"title":"` + strings.Repeat("x", 3<<20) + `"}`
	rows := catalogtest.EffectRows(t, "HTTP")
	tests := map[string][]struct {
		server func(*testing.T) string
		input  string
	}{
		"the connection is refused":            {{server: closedPort}},
		"the name has no address":              {{server: func(*testing.T) string { return "https://nowhere.invalid" }}},
		"the certificate is not trusted":       {{server: tlsServer}},
		"TLS is not spoken":                    {{server: func(t *testing.T) string { return strings.Replace(status(200)(t), "http:", "https:", 1) }}},
		"the rules of the network forbid it":   {{server: func(*testing.T) string { return "https://localhost:1" }}},
		"the body is not written to its end":   {{func(t *testing.T) string { return raw(t, false, func(net.Conn) { <-t.Context().Done() }) }, long}},
		"the connection breaks after the send": {{server: func(t *testing.T) string { return raw(t, true, reset) }}, {server: func(t *testing.T) string { return raw(t, true, func(net.Conn) {}) }}},
		"2xx with half an answer":              {{server: func(t *testing.T) string { return raw(t, true, half) }}},
		"no answer comes in time":              {{server: func(t *testing.T) string { return raw(t, true, func(net.Conn) { <-t.Context().Done() }) }}},
		"408, 409, 425 or 429":                 {{server: status(408)}, {server: status(409)}, {server: status(425)}, {server: status(429)}},
		"another 4xx":                          {{server: status(400)}, {server: status(401)}, {server: status(403)}, {server: status(404)}, {server: status(410)}, {server: status(412)}, {server: status(422)}, {server: status(451)}},
		"5xx":                                  {{server: status(500)}, {server: status(501)}, {server: status(502)}, {server: status(503)}, {server: status(504)}},
		"307 or 308, which are not followed":   {{server: status(307)}, {server: status(308)}},
		"301 or 302":                           {{server: status(301)}, {server: status(302)}},
		"2xx with an answer that is no JSON":   {{server: func(t *testing.T) string { return target(t, gibberish) }}},
		"2xx with an answer that is too long":  {{server: func(t *testing.T) string { return target(t, endless) }}},
		"the input does not fit the operation": {{status(201), `{"title":7}`}},
		"a 2xx answer, or 303":                 {{server: status(201)}, {server: status(204)}, {server: status(303)}},
	}
	for row, want := range rows {
		timeout := time.Minute
		if row == "the body is not written to its end" || row == "no answer comes in time" {
			timeout = 8 * time.Second // in which it is sent on any machine
		}
		if tests[row] == nil {
			t.Errorf("docs/effects.md has a row that no test makes happen: %s", row)
		}
		for i, test := range tests[row] {
			t.Run(fmt.Sprintf("%s %d", row, i+1), func(t *testing.T) {
				t.Parallel()
				o := Options{Spec: yamlSpec(issuesSpec), Timeout: timeout, MaxBody: 1 << 20}
				input := test.input
				if input == "" {
					input = `{"title":"broken"}`
				}
				_, out := dispatch(t, newBroker(t, newSource(t, o, test.server(t))), "svc.create", `{"body":`+input+`}`)
				if got := catalogtest.EffectOf(out.Error); got != want {
					t.Errorf("%s, want %s: %+v", got, want, out.Error)
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

func tlsServer(t *testing.T) string {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	server.Config.ErrorLog = nil
	t.Cleanup(server.Close)
	return server.URL
}

func half(c net.Conn) {
	w := bufio.NewWriter(c)
	_, _ = w.WriteString("HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"id\":")
	_ = w.Flush()
}

func gibberish(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, "{it worked")
}

func endless(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `"`+strings.Repeat("x", 2<<20)+`"`)
}

// What is declared of operations holds for writes alone.
func TestHonoursKeys(t *testing.T) {
	for what, want := range map[string]map[string]bool{
		"svc.*":        {"svc.create": true},
		"POST /issues": {"svc.create": true},
		"svc.list":     {},
		"PUT /issues":  {},
	} {
		tools, err := newSource(t, Options{Spec: yamlSpec(issuesSpec), HonoursKeys: []string{what}}, "").Tools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range tools {
			if tool.HonoursKeys != want[tool.ID] {
				t.Errorf("%s: %s honours keys: %v", what, tool.ID, tool.HonoursKeys)
			}
		}
	}
	if _, err := New(Options{Namespace: "svc", Spec: yamlSpec(issuesSpec), HonoursKeys: []string{"post /x"}}); err == nil {
		t.Error("a method in small letters is accepted")
	}
}
