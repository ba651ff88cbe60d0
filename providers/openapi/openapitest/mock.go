package openapitest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// Mock is a service that knows a specification by way of kin-openapi alone, and
// refuses requests that do not fit it.
type Mock struct {
	t     testing.TB
	doc   *openapi3.T
	base  string
	valid atomic.Int64
}

// New reads a specification, of OpenAPI 3, and returns the service that it describes,
// below a base path. What does not fit it fails the test.
func New(t testing.TB, file, base string) *Mock {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	return &Mock{t: t, doc: doc, base: base}
}

// Valid is how many requests fitted the specification.
func (m *Mock) Valid() int64 { return m.valid.Load() }

var placeholder = regexp.MustCompile(`\\\{([^}]*)\\\}`)

// route finds the operation of a request: that with the fewest placeholders.
func (m *Mock) route(r *http.Request) (*routers.Route, map[string]string) {
	var best *routers.Route
	var values map[string]string
	for path, item := range m.doc.Paths.Map() {
		operation := item.GetOperation(r.Method)
		names := placeholder.FindAllStringSubmatch(regexp.QuoteMeta(path), -1)
		pattern := regexp.MustCompile("^" + placeholder.ReplaceAllString(regexp.QuoteMeta(path), "([^/]+)") + "$")
		match := pattern.FindStringSubmatch(strings.TrimPrefix(r.URL.EscapedPath(), m.base))
		if operation == nil || match == nil || best != nil && len(names) >= len(values) {
			continue
		}
		best = &routers.Route{Spec: m.doc, Path: path, PathItem: item, Method: r.Method, Operation: operation}
		values = map[string]string{}
		for i, name := range names {
			values[name[1]], _ = url.PathUnescape(match[i+1])
		}
	}
	return best, values
}

// ServeHTTP answers with the endpoint that was called, such as GET /issues/{id}.
func (m *Mock) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	route, values := m.route(r)
	if route == nil {
		m.t.Errorf("%s %s is no operation", r.Method, r.URL)
		w.WriteHeader(http.StatusNotFound)
		return
	}
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	err := openapi3filter.ValidateRequest(r.Context(), &openapi3filter.RequestValidationInput{
		Request: r, PathParams: values, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true},
	})
	if err != nil {
		m.t.Errorf("%s %s with %s does not fit the specification: %v", r.Method, r.URL, body, err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	m.valid.Add(1)
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"endpoint":%q}`, r.Method+" "+route.Path)
}
