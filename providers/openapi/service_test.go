package openapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/catalogtest"
)

const issuesSpec = `
openapi: 3.1.0
info: {title: Issues, version: '1'}
paths:
  /issues:
    get: {operationId: list, summary: Lists issues., responses: {'200': {description: ok, content: {application/json: {schema: {type: array}}}}}}
    post:
      operationId: create
      summary: Creates an issue.
      requestBody: {required: true, content: {application/json: {schema: {type: object, properties: {title: {type: string}}, required: [title]}}}}
      responses: {'201': {description: ok, content: {application/json: {schema: {type: object, properties: {id: {type: integer}}}}}}}
  /wait:
    get: {operationId: wait, summary: Waits., responses: {'200': {description: ok}}}
`

func yamlSpec(text string) Location { return Location{Bytes: []byte(text)} }

func TestConformance(t *testing.T) {
	catalogtest.Run(t, func(t testing.TB) catalogtest.Fixture {
		var reached atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			reached.Add(1)
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("Content-Type", "application/json")
			switch {
			case r.URL.Path == "/wait":
				<-r.Context().Done()
			case strings.Contains(string(body), "busy"):
				w.WriteHeader(http.StatusInternalServerError)
			case strings.Contains(string(body), "closed"):
				w.WriteHeader(http.StatusUnprocessableEntity)
			case r.Method == http.MethodPost:
				_, _ = io.WriteString(w, `{"id":7}`)
			default:
				_, _ = io.WriteString(w, `[]`)
			}
		}))
		t.Cleanup(server.Close)
		source, err := New(Options{
			Namespace: "svc", Spec: yamlSpec(issuesSpec), Server: server.URL,
			Allow: []string{"127.0.0.1"},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(source.Close)
		create := func(title string) catalogtest.Call {
			return catalogtest.Call{Tool: "svc.create", Input: `{"body":{"title":"` + title + `"}}`}
		}
		return catalogtest.Fixture{
			Source: source,
			Good:   []catalogtest.Call{create("broken"), {Tool: "svc.list", Input: `{}`}},
			Bad:    []catalogtest.Call{{Tool: "svc.create", Input: `{}`}, {Tool: "svc.create", Input: `{"body":{"title":1}}`}, {Tool: "svc.list", Input: `{"x":1}`}},
			Failing: []catalogtest.Failure{
				{Call: create("busy"), Code: "http_500", Effect: catalog.EffectUnknown},
				{Call: create("closed"), Code: "http_422", Effect: catalog.EffectNone},
			},
			Slow:    &catalogtest.Call{Tool: "svc.wait", Input: `{}`},
			Reached: func() int { return int(reached.Load()) },
		}
	})
}

func TestEffectOfAFailedWrite(t *testing.T) {
	for status, want := range map[int]catalog.Effect{
		301: catalog.EffectUnknown, 307: catalog.EffectNone, 400: catalog.EffectNone, 401: catalog.EffectNone, 404: catalog.EffectNone, 422: catalog.EffectNone,
		408: catalog.EffectUnknown, 409: catalog.EffectUnknown, 425: catalog.EffectUnknown, 429: catalog.EffectUnknown, 500: catalog.EffectUnknown, 503: catalog.EffectUnknown,
	} {
		server, requests := service(t, &upstream{Status: status, Headers: map[string]string{"Location": "/elsewhere", "Retry-After": "0"}})
		b := newBroker(t, newSource(t, Options{Spec: yamlSpec(issuesSpec)}, server.URL))
		_, out := dispatch(t, b, "svc.create", `{"body":{"title":"x"}}`)
		if out.Error == nil || out.Error.Effect != want || out.Error.Code != fmt.Sprintf("http_%d", status) {
			t.Errorf("%d: error is %+v, want effect %s", status, out.Error, want)
		}
		if len(*requests) != 1 {
			t.Errorf("%d: the write was sent %d times", status, len(*requests))
		}
	}
	for name, tt := range map[string]struct {
		server func(t *testing.T) string
		code   string
		want   catalog.Effect
		// timeout bounds the call. 0: the default.
		timeout time.Duration
	}{
		"nobody listens": {closedPort, CodeUnreachable, catalog.EffectNone, 0},
		"no TLS": {func(t *testing.T) string {
			server, _ := service(t, nil)
			return strings.Replace(server.URL, "http:", "https:", 1)
		}, CodeUnreachable, catalog.EffectNone, 0},
		"reset": {func(t *testing.T) string {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				conn, _, _ := w.(http.Hijacker).Hijack()
				_ = conn.Close()
			}))
			t.Cleanup(server.Close)
			return server.URL
		}, CodeConnectionLost, catalog.EffectUnknown, 0},
		"no answer": {func(t *testing.T) string {
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.ReadAll(r.Body) // else the end of the connection is not seen
				<-r.Context().Done()
			}))
			t.Cleanup(server.Close)
			return server.URL
		}, catalog.CodeTimeout, catalog.EffectUnknown, 8 * time.Second},
	} {
		b := newBroker(t, newSource(t, Options{Spec: yamlSpec(issuesSpec), Timeout: tt.timeout}, tt.server(t)))
		_, out := dispatch(t, b, "svc.create", `{"body":{"title":"x"}}`)
		if out.Error == nil || out.Error.Effect != tt.want || out.Error.Code != tt.code {
			t.Errorf("%s: error is %+v, want code %s and effect %s", name, out.Error, tt.code, tt.want)
		}
	}
}

// TestAWriteIsNotSentAgainByTheTransport breaks a kept connection after the
// second request has arrived: net/http repeats a request with an
// Idempotency-Key then.
func TestAWriteIsNotSentAgainByTheTransport(t *testing.T) {
	var writes atomic.Int64
	var keys, from []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from = append(from, r.RemoteAddr)
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, "[]")
			return
		}
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		writes.Add(1)
		conn, _, _ := w.(http.Hijacker).Hijack()
		_ = conn.Close()
	}))
	t.Cleanup(server.Close)
	b := newBroker(t, newSource(t, Options{Spec: yamlSpec(strings.Replace(issuesSpec, "requestBody: {required: true, content: {application/json: {schema: {type: object, properties: {title: {type: string}}, required: [title]}}}}", "", 1))}, server.URL))
	if _, out := dispatch(t, b, "svc.list", "{}"); out.Error != nil {
		t.Fatal(out.Error)
	}
	_, out := dispatch(t, b, "svc.create", "{}")
	if out.Error == nil || out.Error.Effect != catalog.EffectUnknown || writes.Load() != 1 || keys[0] != "key-1" {
		t.Errorf("after %d writes with the keys %q: %+v", writes.Load(), keys, out.Error)
	}
	if from[0] == from[1] {
		t.Error("the write went over a connection that had been used before")
	}
}

func TestRetryAfter(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) < 3 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		_, _ = io.WriteString(w, "[]")
	}))
	t.Cleanup(server.Close)
	b := newBroker(t, newSource(t, Options{Spec: yamlSpec(issuesSpec)}, server.URL))
	if _, out := dispatch(t, b, "svc.list", "{}"); out.Error != nil || asked.Load() != 3 {
		t.Errorf("outcome is %+v after %d requests", out, asked.Load())
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{"5": 5 * time.Second, "-1": 0, "Thu, 01 Jan 2026 00:00:07 GMT": 7 * time.Second, "": -1, "soon": -1, "3600": -1} {
		pause, ok := retryAfter(value, now)
		if ok != (want >= 0) || ok && pause != want {
			t.Errorf("Retry-After %q: %s, %t", value, pause, ok)
		}
	}
}

func TestAnswers(t *testing.T) {
	for name, tt := range map[string]struct {
		answer upstream
		want   string
	}{
		"JSON keeps its digits": {upstream{Status: 200, Headers: map[string]string{"Content-Type": "application/json"}, Raw: `{"n":9007199254740993}`}, `{"n":9007199254740993}`},
		"vendor JSON":           {upstream{Status: 200, Headers: map[string]string{"Content-Type": "application/vnd.x+json; charset=utf-8"}, Raw: ` [1] `}, `[1]`},
		"byte order mark":       {upstream{Status: 200, Headers: map[string]string{"Content-Type": "application/json"}, Raw: "\xEF\xBB\xBF[1]"}, `[1]`},
		"text":                  {upstream{Status: 200, Headers: map[string]string{"Content-Type": "text/plain"}, Raw: "1 < 2"}, `"1 < 2"`},
		"latin text":            {upstream{Status: 200, Headers: map[string]string{"Content-Type": "text/plain; charset=ISO-8859-1"}, RawBase64: []byte{0xfc}}, `"ü"`},
		"XML":                   {upstream{Status: 200, Headers: map[string]string{"Content-Type": "application/xml"}, Raw: "<a/>"}, `"<a/>"`},
		"nothing":               {upstream{Status: 204}, `null`},
		"binary":                {upstream{Status: 200, Headers: map[string]string{"Content-Type": "image/png", "Content-Disposition": `attachment; filename="a.png"`}, RawBase64: []byte{1, 255}}, `{"bytes_base64":"Af8=","content_type":"image/png","filename":"a.png","size":2}`},
		"text that is none":     {upstream{Status: 200, Headers: map[string]string{"Content-Type": "text/plain"}, RawBase64: []byte{0xff, 0xfe}}, `{"bytes_base64":"//4=","content_type":"text/plain","size":2}`},
	} {
		server, _ := service(t, &tt.answer)
		b := newBroker(t, newSource(t, Options{Spec: yamlSpec(issuesSpec)}, server.URL))
		_, out := dispatch(t, b, "svc.wait", "{}")
		if out.Error != nil || string(out.Result) != tt.want {
			t.Errorf("%s: result is %s (%v), want %s", name, out.Result, out.Error, tt.want)
		}
	}
}

func TestErrorBodies(t *testing.T) {
	for name, tt := range map[string]struct {
		body, message string
	}{
		"problem":  {`{"type":"about:blank","title":"Closed","detail":"The order is closed.","status":400}`, "The order is closed."},
		"github":   {`{"message":"Validation Failed","errors":[{"field":"title"}]}`, "Validation Failed"},
		"nested":   {`{"error":{"message":"No such customer","code":"x"}}`, "No such customer"},
		"text":     {`it is broken`, "400 Bad Request"},
		"too long": {strings.Repeat("ü", 10_000), "400 Bad Request"},
	} {
		server, _ := service(t, &upstream{Status: 400, Raw: tt.body})
		b := newBroker(t, newSource(t, Options{Spec: yamlSpec(issuesSpec)}, server.URL))
		_, out := dispatch(t, b, "svc.list", "{}")
		if out.Error == nil || !strings.Contains(out.Error.Message, tt.message) || out.Error.Details == nil {
			t.Errorf("%s: error is %+v", name, out.Error)
			continue
		}
		if text := string(out.Error.Details); !strings.Contains(text, `"status":400`) || len(text) > maxErrorBody+100 {
			t.Errorf("%s: details are %d bytes: %.100s", name, len(text), text)
		}
	}
}

func TestAnAnswerThatIsTooLong(t *testing.T) {
	server, requests := service(t, &upstream{Status: 201, Raw: `"` + strings.Repeat("x", 5000) + `"`})
	b := newBroker(t, newSource(t, Options{Spec: yamlSpec(issuesSpec), MaxBody: 1000}, server.URL))
	_, out := dispatch(t, b, "svc.create", `{"body":{"title":"x"}}`)
	if out.Error == nil || out.Error.Code != catalog.CodeTooLarge || out.Error.Effect != catalog.EffectApplied || len(*requests) != 1 {
		t.Errorf("outcome is %+v", out.Error)
	}
}

func TestProtection(t *testing.T) {
	server, requests := service(t, nil)
	o := Options{Spec: yamlSpec(issuesSpec), Protect: []string{"svc.wait"}, Reads: []string{"POST /issues"}}
	b := newBroker(t, newSource(t, o, server.URL))
	for tool, want := range map[string]bool{"svc.list": false, "svc.create": false, "svc.wait": true} {
		plan := b.Plan(t.Context(), everyone, catalog.Request{Tool: tool, Input: json.RawMessage(`{"body":{"title":"x"}}`)})
		if plan.Error != nil {
			plan = b.Plan(t.Context(), everyone, catalog.Request{Tool: tool, Input: json.RawMessage(`{}`)})
		}
		if plan.Error != nil || plan.NeedsApproval != want {
			t.Errorf("%s: plan is %+v", tool, plan)
		}
	}
	if _, out := dispatch(t, b, "svc.wait", "{}"); out.Error != nil || (*requests)[0].Header.Get("Idempotency-Key") != "key-1" {
		t.Errorf("a protected GET: %+v", out)
	}
	o.Reads = []string{"POST /nothing"}
	if _, err := newSource(t, o, server.URL).Tools(t.Context()); err == nil || !strings.Contains(err.Error(), "POST /nothing") {
		t.Errorf("error is %v", err)
	}
	for _, bad := range []string{"create", "svc.*", "post /issues", "POST issues"} {
		o.Reads, o.Namespace = []string{bad}, "svc"
		if _, err := New(o); err == nil {
			t.Errorf("reads %q is accepted", bad)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for want, o := range map[string]Options{
		"namespace":     {Namespace: "a.b", Spec: yamlSpec("x")},
		"specification": {Namespace: "a"},
		"server":        {Namespace: "a", Spec: yamlSpec("x"), Server: "http://api.example.com"},
		"origin":        {Namespace: "a", Spec: yamlSpec("x"), Origins: []string{"example.com"}},
		"protect":       {Namespace: "a", Spec: yamlSpec("x"), Protect: []string{"a*"}},
		"timeout":       {Namespace: "a", Spec: yamlSpec("x"), Timeout: -1},
		"bearer, basic": {Namespace: "a", Spec: yamlSpec("x"), Scheme: &Scheme{Type: "magic"}},
		"allowed host":  {Namespace: "a", Spec: yamlSpec("x"), Allow: []string{"http://x"}},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one that says %q", err, want)
		}
	}
}

func TestRequestHeaders(t *testing.T) {
	server, requests := service(t, nil)
	b := newBroker(t, newSource(t, Options{Spec: yamlSpec(issuesSpec), UserAgent: "heddle/1"}, server.URL))
	if _, out := dispatch(t, b, "svc.create", `{"body":{"title":"x"}}`); out.Error != nil {
		t.Fatal(out.Error)
	}
	got := map[string]string{}
	for _, name := range []string{"User-Agent", "Content-Type", "Idempotency-Key", "Accept"} {
		got[name] = (*requests)[0].Header.Get(name)
	}
	want := map[string]string{"User-Agent": "heddle/1", "Content-Type": "application/json", "Idempotency-Key": "key-1", "Accept": "application/json, */*;q=0.1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}
