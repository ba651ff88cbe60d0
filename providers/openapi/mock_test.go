package openapi

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/providers/openapi/openapitest"
)

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
			server := httptest.NewServer(openapitest.New(t, location.File, "/base"))
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
