package openapi

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/heddle-dev/heddle/catalog"
)

// mock is a service that knows a specification by way of kin-openapi alone, and
// refuses requests that do not fit it.
type mock struct {
	t     *testing.T
	doc   *openapi3.T
	base  string
	valid atomic.Int64
}

var placeholder = regexp.MustCompile(`\\\{([^}]*)\\\}`)

// route finds the operation of a request: that with the fewest placeholders.
func (m *mock) route(r *http.Request) (*routers.Route, map[string]string) {
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

func (m *mock) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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

// TestMockServices calls services that are made of published specifications: a
// list, a write that a person agrees to, and what it made.
func TestMockServices(t *testing.T) {
	for file, calls := range map[string][][3]string{
		"openai.yaml": {
			{"svc.vectorStores.listVectorStores", `{"limit":3,"order":"asc"}`, "GET /vector_stores"},
			{"svc.vectorStores.createVectorStore", `{"body":{"name":"Köln","file_ids":["a"],"metadata":{"a":"b=c"}}}`, "POST /vector_stores"},
			{"svc.vectorStores.getVectorStore", `{"vector_store_id":"vs_1/2"}`, "GET /vector_stores/{vector_store_id}"},
		},
		"github-rest.json": {
			{"svc.issues.listForRepo", `{"owner":"acme","repo":"shop","state":"open","labels":"bug,ui","per_page":5}`, "GET /repos/{owner}/{repo}/issues"},
			{"svc.issues.create", `{"owner":"acme","repo":"shop","body":{"title":"It is broken","labels":["bug",{"name":"ui"}],"assignees":["ann"]}}`, "POST /repos/{owner}/{repo}/issues"},
			{"svc.issues.get", `{"owner":"acme","repo":"shop","issue_number":7}`, "GET /repos/{owner}/{repo}/issues/{issue_number}"},
		},
		"bitbucket.json": {
			{"svc.issueTracker.getRepositoriesWorkspaceRepo_slugIssues", `{"workspace":"acme","repo_slug":"shop"}`, "GET /repositories/{workspace}/{repo_slug}/issues"},
			{"svc.issueTracker.postRepositoriesWorkspaceRepo_slugIssues", `{"workspace":"acme","repo_slug":"shop","body":{"type":"issue","title":"It is broken","priority":"major"}}`, "POST /repositories/{workspace}/{repo_slug}/issues"},
			{"svc.issueTracker.getRepositoriesWorkspaceRepo_slugIssuesIssue_id", `{"workspace":"acme","repo_slug":"shop","issue_id":"7"}`, "GET /repositories/{workspace}/{repo_slug}/issues/{issue_id}"},
		},
	} {
		t.Run(file, func(t *testing.T) {
			location := published(t, file)
			text, err := os.ReadFile(location.File)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := openapi3.NewLoader().LoadFromData(text)
			if err != nil {
				t.Fatal(err)
			}
			m := &mock{t: t, doc: doc, base: "/base"}
			server := httptest.NewServer(m)
			t.Cleanup(server.Close)
			s := newSource(t, Options{Spec: location, Credentials: &safe{secret: Secret{Token: "token-1", Username: "u", Password: "p"}}}, server.URL+"/base")
			b := newBroker(t, s)
			for _, call := range calls {
				plan, out := dispatch(t, b, call[0], call[1])
				if out.Error != nil {
					t.Errorf("%s with %s: %v (%s, %v)", call[0], call[1], out.Error, out.Error.Hint, out.Error.Violations)
					continue
				}
				if got := objectOf(out.Result).text("endpoint"); got != call[2] {
					t.Errorf("%s called %s, want %s", call[0], got, call[2])
				}
				if write := !strings.HasPrefix(call[2], "GET"); plan.NeedsApproval != write || (plan.Operation == catalog.Write) != write {
					t.Errorf("%s: plan is %+v", call[0], plan)
				}
			}
		})
	}
}
