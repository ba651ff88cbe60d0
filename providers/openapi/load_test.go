package openapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/netguard"
	"github.com/heddle-dev/heddle/signals/contract"
)

func TestLoadRefuses(t *testing.T) {
	folder := t.TempDir()
	for want, location := range map[string]Location{
		"no file, URL or bytes":    {},
		"is empty":                 {Bytes: []byte(" \n")},
		"no OpenAPI specification": yamlSpec(`{"a":1}`),
		"2.0 and 3.x are known":    yamlSpec(`{"openapi":"4.0.0"}`),
		"not valid YAML":           yamlSpec("a: [1"),
		"neither JSON nor YAML":    yamlSpec(`{"a":`),
		"grows too long":           yamlSpec("a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f]\n"),
		"nested deeper":            yamlSpec("a: " + strings.Repeat("[", 600) + strings.Repeat("]", 600)),
		"cannot be read":           {File: filepath.Join(folder, "nothing.json")},
		"only https is allowed":    {URL: "http://specs.example.com/x.json"},
		"not public":               {URL: "https://10.0.0.1/x.json"},
		"is no https URL":          {URL: "ftp://x"},
		"is not a regular file":    {File: folder, Root: filepath.Dir(folder)},
	} {
		client, err := netguard.New(netguard.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Load(t.Context(), location, client); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one that says %q", err, want)
		}
	}
}

// TestReferencesStayBesideTheSpecification tries to read what lies elsewhere.
func TestReferencesStayBesideTheSpecification(t *testing.T) {
	folder := t.TempDir()
	inside := filepath.Join(folder, "inside")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("secret.yaml", "S: {type: string, description: SECRET}")
	if err := os.Symlink(filepath.Join(folder, "secret.yaml"), filepath.Join(inside, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(other.Close)
	spec := "openapi: 3.0.3\ninfo: {title: x, version: '1'}\npaths:\n"
	for i, ref := range []string{"../secret.yaml#/S", "link.yaml#/S", filepath.ToSlash(folder) + "/secret.yaml#/S", "file:///etc/passwd", other.URL + "/s.yaml#/S"} {
		spec += fmt.Sprintf("  /p%d: {get: {parameters: [{name: q, in: query, schema: {$ref: '%s'}}], responses: {}}}\n", i, ref)
	}
	write("inside/openapi.yaml", spec)
	client, err := netguard.New(netguard.Options{Allow: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Load(t.Context(), Location{File: filepath.Join(inside, "openapi.yaml")}, client)
	if err != nil {
		t.Fatal(err)
	}
	r := s.Report("x")
	if r.Tools != 5 || len(r.Degraded) != 6 || asked.Load() != 0 { // and the missing server
		t.Errorf("report is %+v after %d requests", r, asked.Load())
	}
	for _, o := range s.operations {
		if c, err := s.compile(o); err != nil || strings.Contains(string(c.input), "SECRET") {
			t.Errorf("%s: %v", c.input, err)
		}
	}
}

// remote serves a specification with an entity tag.
type remote struct {
	mu                sync.Mutex
	text              string
	broken            bool
	full, notModified int
	sawCredentials    bool
	server            *httptest.Server
}

func newRemote(t *testing.T, text string) *remote {
	r := &remote{text: text}
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.sawCredentials = r.sawCredentials || req.Header.Get("Authorization") != ""
		tag := fmt.Sprintf(`"%d"`, len(r.text))
		switch {
		case r.broken:
			w.WriteHeader(http.StatusBadGateway)
		case req.URL.Path == "/common.yaml":
			_, _ = w.Write([]byte("Name: {type: string, minLength: 2}"))
		case req.Header.Get("If-None-Match") == tag:
			r.notModified++
			w.WriteHeader(http.StatusNotModified)
		default:
			r.full++
			w.Header().Set("ETag", tag)
			_, _ = w.Write([]byte(r.text))
		}
	}))
	t.Cleanup(r.server.Close)
	return r
}

func TestRemoteSpecificationStaysFresh(t *testing.T) {
	r := newRemote(t, "openapi: 3.1.0\ninfo: {title: x, version: '1'}\nservers: [{url: /api}]\npaths:\n  /a: {get: {operationId: a, parameters: [{name: q, in: query, schema: {$ref: 'common.yaml#/Name'}}], responses: {}}}\n")
	clock := time.Now()
	specs := &Specs{now: func() time.Time { return clock }}
	o := Options{Spec: Location{URL: r.server.URL + "/openapi.yaml"}, Specs: specs}
	first, second := newSource(t, o, ""), newSource(t, o, "")
	names := func(s *Source) []string {
		tools, err := s.Tools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, tool := range tools {
			all = append(all, tool.ID)
		}
		return all
	}
	if got := names(first); !slices.Equal(got, []string{"svc.a"}) || !slices.Equal(names(second), got) || r.full != 1 {
		t.Errorf("tools are %v after %d downloads by two sources", got, r.full)
	}
	plan := newBroker(t, first).Plan(t.Context(), everyone, catalog.Request{Tool: "svc.a", Input: json.RawMessage(`{"q":"x"}`)})
	if plan.Error == nil {
		t.Error("what a file beside the specification says is not enforced")
	}
	if want := r.server.URL + "/api"; first.home.String() != want {
		t.Errorf("the server is %s, want %s", first.home, want)
	}
	clock = clock.Add(freshFor + time.Second)
	if names(first); r.full != 1 || r.notModified != 1 {
		t.Errorf("unchanged: %d downloads, %d not modified", r.full, r.notModified)
	}
	r.mu.Lock()
	r.text = strings.ReplaceAll(r.text, "/api", "https://elsewhere.example.com") + "  /b: {post: {operationId: b, responses: {}}}\n"
	r.mu.Unlock()
	if got := names(first); len(got) != 1 {
		t.Errorf("tools are %v before it is time to look", got)
	}
	clock = clock.Add(freshFor + time.Second)
	if got := names(first); !slices.Equal(got, []string{"svc.a", "svc.b"}) {
		t.Errorf("tools are %v", got)
	}
	if first.trusted("https://elsewhere.example.com") || first.home.Host != strings.TrimPrefix(r.server.URL, "http://") {
		t.Error("a changed specification takes the calls and the credentials elsewhere")
	}
	r.mu.Lock()
	r.broken = true
	r.mu.Unlock()
	clock = clock.Add(freshFor + time.Second)
	if got := names(second); len(got) != 2 || r.sawCredentials {
		t.Errorf("tools are %v while the server is broken", got)
	}
	if _, stale := second.Shortfall(everyone); stale == nil || !strings.Contains(stale.Error(), "502") {
		t.Errorf("while the server is broken it says %v", stale)
	}
	r.mu.Lock()
	r.broken = false
	r.mu.Unlock()
	clock = clock.Add(freshFor)
	names(first)
	if _, stale := second.Shortfall(everyone); stale != nil {
		t.Errorf("when the server is well again it says %v", stale)
	}
}

func TestRemoteSpecificationThatCannotBeReadYet(t *testing.T) {
	r := newRemote(t, issuesSpec)
	r.broken = true
	s := newSource(t, Options{Spec: Location{URL: r.server.URL}}, r.server.URL)
	if _, err := s.Tools(t.Context()); err == nil || !strings.Contains(err.Error(), "502") {
		t.Errorf("error is %v", err)
	}
	r.broken = false
	if tools, err := s.Tools(t.Context()); err != nil || len(tools) != 3 {
		t.Errorf("%d tools, %v", len(tools), err)
	}
}

func TestNames(t *testing.T) {
	operations := []*operation{
		{method: "GET", path: "/a", operationID: "issues/list-for-repo", tag: "issues"},
		{method: "POST", path: "/invoices", tag: "Billing"},
		{method: "GET", path: "/x", operationID: "get user"},
		{method: "POST", path: "/x", operationID: "get_user"},
		{method: "GET", path: "/y", operationID: "getUser"},
		{method: "GET", path: "/y/{id}", operationID: "getuser"},
		{method: "PUT", path: "/日本", operationID: "削除"},
		{method: "GET", path: "/long", operationID: strings.Repeat("veryLong", 20), tag: "t"},
		{method: "GET", path: "/tag", operationID: strings.Repeat("n", 50), tag: "twentyCharactersOrMore"},
		{method: "GET", path: "/digit", operationID: "2fa"},
	}
	want := nameAll("svc", operations)
	for i, id := range want {
		if err := catalog.CheckID(id); err != nil {
			t.Error(err)
		}
		if j := slices.IndexFunc(want, func(s string) bool { return strings.EqualFold(s, id) }); j != i {
			t.Errorf("%s and %s are both %s", operations[i].key(), operations[j].key(), id)
		}
	}
	for i, id := range map[int]string{0: "svc.issues.listForRepo", 1: "svc.billing.postInvoices", 3: "svc.get_user", 9: "svc.n2fa"} {
		if want[i] != id {
			t.Errorf("%s is named %s, want %s", operations[i].key(), want[i], id)
		}
	}
	reversed := slices.Clone(operations)
	slices.Reverse(reversed)
	got := nameAll("svc", reversed)
	slices.Reverse(got)
	if !slices.Equal(got, want) {
		t.Errorf("in another order the names are\n%v, not\n%v", got, want)
	}
}

// TestNamesThatAreMadeToCollide gives an operation the very name that another
// would get by its digest.
func TestNamesThatAreMadeToCollide(t *testing.T) {
	a, b := &operation{method: "GET", path: "/a", operationID: "x"}, &operation{method: "GET", path: "/b", operationID: "x"}
	trap := &operation{method: "GET", path: "/c", operationID: "x_" + shortDigest(a.key())}
	if got := nameAll("svc", []*operation{a, b, trap}); got[0] != "" || got[2] != "" || got[1] == "" {
		t.Errorf("names are %q", got)
	}
}

// shelf keeps files in memory.
type shelf map[string][]byte

var errNoFile = errors.New("no such file")

func (s shelf) Put(_ context.Context, value []byte) (contract.Ref, error) {
	ref := contract.Ref{Digest: fmt.Sprintf("sha256:%064x", len(s)+1), Size: int64(len(value))}
	s[ref.Digest] = value
	return ref, nil
}

func (s shelf) Get(_ context.Context, ref contract.Ref) ([]byte, error) {
	if value, ok := s[ref.Digest]; ok {
		return value, nil
	}
	return nil, errNoFile
}

func TestFilesGoByHandle(t *testing.T) {
	server, requests := service(t, &upstream{Status: 200, Headers: map[string]string{"Content-Type": "application/pdf"}, RawBase64: []byte{1, 2, 255}})
	b := newBroker(t, newSource(t, Options{Spec: yamlSpec(bodiesSpec), Files: shelf{}}, server.URL))
	_, out := dispatch(t, b, "svc.op", `{"content_type":"text/plain","body":"x"}`)
	ref := objectOf(out.Result)["ref"]
	if out.Error != nil || ref == nil || objectOf(out.Result)["bytes_base64"] != nil {
		t.Fatalf("outcome is %s, %+v", out.Result, out.Error)
	}
	_, out = dispatch(t, b, "svc.op", `{"content_type":"application/octet-stream","body":{"ref":`+string(ref)+`}}`)
	if sent := (*requests)[len(*requests)-1].body; out.Error != nil || string(sent) != "\x01\x02\xff" {
		t.Errorf("sent %q, %+v", sent, out.Error)
	}
	_, out = dispatch(t, b, "svc.op", `{"content_type":"application/octet-stream","body":{"ref":{"digest":"sha256:x","size":1}}}`)
	if out.Error == nil || out.Error.Effect != catalog.EffectNone || !strings.Contains(out.Error.Message, "no such file") || len(*requests) != 2 {
		t.Errorf("a handle of nothing: %+v", out.Error)
	}
}
