package leak

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/testkit"
	"github.com/heddle-dev/heddle/providers/local"
	"github.com/heddle-dev/heddle/secrets"
	"github.com/heddle-dev/heddle/signals/contract"
)

// own is a source whose tools have the same names for all tenants, and one that only
// the tenant has.
type own struct{}

func (own) Name() string { return "own" }

func (own) Tools(context.Context) ([]catalog.Tool, error) { return nil, nil }

func (own) ListingKey(catalog.Scope) string { return "" }

func (own) ToolsFor(_ context.Context, scope catalog.Scope) ([]catalog.Tool, error) {
	var all []catalog.Tool
	for _, name := range []string{"report", "only_" + scope.Tenant} {
		tool, err := local.Func("own."+name, "Reports of "+scope.Tenant+".", func(context.Context, struct{}) (string, error) {
			return "the report of " + scope.Tenant, nil
		})
		if err != nil {
			return nil, err
		}
		all = append(all, tool)
	}
	return all, nil
}

// sharedSpec is that of a service that both tenants use, each with a login of its own.
const sharedSpec = `
openapi: 3.1.0
info: {title: Shared, version: '1'}
components: {securitySchemes: {oauth: {type: oauth2, flows: {clientCredentials: {tokenUrl: '%s/token', scopes: {}}}}}}
paths:
  /me: {get: {operationId: me, security: [{oauth: []}], responses: {'200': {description: ok}}}}
`

// sharedService says whose token it is sent, and gives tokens for secrets of clients.
func sharedService(t *testing.T) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		_, secret, ok := r.BasicAuth()
		if !ok {
			secret = r.FormValue("client_secret")
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "access for " + secret, "token_type": "Bearer", "expires_in": 3600})
	})
	mux.HandleFunc("GET /me", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"account": accountOf(bearer(r))})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

// accountOf is the account that a token is for.
func accountOf(token string) string {
	for _, tenant := range []string{"acme", "globex"} {
		if strings.Contains(token, tenant) {
			return "account of " + tenant
		}
	}
	return "nobody"
}

// seen is all that a tenant's thread shows: transcript and timeline.
func (b *bed) seen(start contract.Start) string {
	b.t.Helper()
	messages, err := b.Transcript(b.ctx(), start.ThreadRef, 0, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.Close(b.ctx(), start.ThreadRef, contract.Close{}); err != nil {
		b.t.Fatal(err)
	}
	doc, _ := json.Marshal(messages)
	for part, err := range b.Watch(b.ctx(), start.ThreadRef, 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		one, _ := json.Marshal(part)
		doc = append(doc, one...)
	}
	return string(doc)
}

// pending waits until an approval waits.
func (b *bed) pending(start contract.Start) contract.Approval {
	b.t.Helper()
	for _, err := range b.Watch(b.ctx(), start.ThreadRef, 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		state, err := b.State(b.ctx(), start.ThreadRef)
		if err != nil {
			b.t.Fatal(err)
		}
		if len(state.Pending) == 1 {
			return state.Pending[0]
		}
	}
	b.t.Fatal("there never was an approval to decide")
	return contract.Approval{}
}

// TestTenantsSeeNothingOfEachOther has two tenants with threads, users, connections and
// tools of the same names use one worker at once.
func TestTenantsSeeNothingOfEachOther(t *testing.T) {
	f := folder{t, t.TempDir()}
	t.Setenv("LEAK_KEYS", masterKey)
	tenants := []string{"acme", "globex"}
	for _, tenant := range tenants {
		for key, value := range map[secrets.Key]string{
			{Scope: secrets.Connection, Tenant: tenant, Owner: "crm", Name: "token"}: "token of the connection of " + tenant,
			{Scope: secrets.Tenant, Tenant: tenant, Name: "client"}:                  "client of " + tenant,
			{Scope: secrets.User, Tenant: tenant, Owner: "ann", Name: "desk.token"}:  "desk of ann of " + tenant,
		} {
			f.store(secrets.Location{Kind: secrets.KindSQLite, Place: f.path("s.db"), KeyEnv: "LEAK_KEYS"}, key, value)
		}
	}
	service := sharedService(t)
	protocol := protocolServer{
		tools: func(string) []map[string]any {
			return []map[string]any{protocolTool("me", "Says whose account it is.")}
		},
		answer: func(token, _ string, _ map[string]any) (result, failure any) {
			return map[string]any{"content": []map[string]any{{"type": "text", "text": accountOf(token)}}}, nil
		},
	}.start(t)
	b := newBed(t, testkit.DevServer(t), testkit.Worker{
		Env: []string{"LEAK_KEYS=" + masterKey},
		Files: map[string]string{
			"bank.yaml": fmt.Sprintf(sharedSpec, service.URL),
			"heddle.yaml": "task_queue: ${HEDDLE_TASK_QUEUE}\nsandbox: " + sandboxMode + fmt.Sprintf(`
secrets: [{sqlite: %q, key_env: LEAK_KEYS}]
agents:
  direct: {instructions: x, model: play, web: false, tools: [own.*, crm.*, bank.*, notes.*, desk.*]}
  coder: {instructions: x, model: play, web: false, exposure: code, tools: [own.*, crm.*, bank.*, notes.*, desk.*]}
openapi:
  crm: {spec: bank.yaml, server: %q, allow: [%q], scheme: {type: bearer}, auth: {oauth: {token: "connection:crm:token"}}}
  bank: {spec: bank.yaml, server: %q, allow: [%q], auth: {oauth: {client_id: worker, client_secret: "tenant:client"}}}
mcp:
  notes: {url: %q, allow: [%q], headers: {Authorization: {secret: "connection:crm:token", prefix: "Bearer "}}, tools: {"*": read}}
`, filepath.Join(f.dir, "s.db"), service.URL, service.Listener.Addr().String(), service.URL, service.Listener.Addr().String(),
				protocol.URL, protocol.Listener.Addr().String()),
		},
	})
	thread := testkit.Name(t)
	start := func(tenant, agent string) contract.Start {
		return contract.Start{ThreadRef: contract.ThreadRef{Tenant: tenant, Thread: thread + "-" + agent}, Agent: agent, User: "ann"}
	}
	script := calls(
		to("crm.me", nil), to("bank.me", nil), to("notes.me", nil), to("own.report", nil), to("desk.who", nil),
		to("desk.secret", map[string]string{"ref": "desk.token"}), to("desk.secret", map[string]string{"ref": "connection:crm:token"}),
	)
	var all sync.WaitGroup
	for _, tenant := range tenants {
		all.Go(func() {
			for range 2 { // the second time out of what was kept of the first
				// A call waits longer for a server to list its tools than a model does.
				found := b.ask(start(tenant, "coder"), `
					const found = await tools.search({ query: "own report only account", limit: 50 });
					const shown = await tools.describe("own.report");
					const mine = [await tools.call("own.report", {}), await tools.call("crm.me", {}), await tools.call("notes.me", {})];
					return { mine, shown, found };`)
				for _, want := range []string{"own.only_" + tenant, "Reports of " + tenant, "account of " + tenant} {
					if !strings.Contains(found, want) {
						t.Errorf("%s does not find %q: %.2000s", tenant, want, found)
					}
				}
				told := b.ask(start(tenant, "direct"), script)
				for _, want := range []string{"the report of " + tenant, "you are " + tenant, tenant[len(tenant)-4:]} {
					if !strings.Contains(told, want) {
						t.Errorf("%s is not told %q: %.600s", tenant, want, told)
					}
				}
				if n := strings.Count(told, "account of "+tenant); n != 3 {
					t.Errorf("%s is told of its account %d times, want by 3 services: %.600s", tenant, n, told)
				}
			}
		})
	}
	all.Wait()
	grantsAreOneTenants(t, b, start("acme", "direct"), start("globex", "direct"))
	for i, tenant := range tenants {
		other := tenants[1-i]
		for _, agent := range []string{"direct", "coder"} {
			if seen := b.seen(start(tenant, agent)); strings.Contains(seen, other) {
				at := strings.Index(seen, other)
				t.Errorf("the thread of %s shows something of %s: ...%s...", tenant, other, seen[max(0, at-300):min(len(seen), at+100)])
			}
		}
		guess := start(tenant, "direct")
		guess.Thread += "-guess"
		if told := b.ask(guess, calls(to("own.only_"+other, nil))); !strings.Contains(told, catalog.CodeToolNotFound) || strings.Contains(told, "the report of") {
			t.Errorf("%s calls a tool of %s: %s", tenant, other, told)
		}
	}
}

// grantsAreOneTenants grants calls to the thread of one tenant, and finds that the
// other's is asked still.
func grantsAreOneTenants(t *testing.T, b *bed, granted, other contract.Start) {
	t.Helper()
	write := func(start contract.Start) string {
		sent, err := b.Send(b.ctx(), start, contract.Submission{Text: calls(to("desk.write", nil))})
		if err != nil {
			t.Fatal(err)
		}
		return sent.Turn
	}
	turn := write(granted)
	asked := b.pending(granted)
	if err := b.Approve(b.ctx(), granted.ThreadRef, contract.Decision{
		Approval: asked.ID, Digest: asked.Digest, Verdict: contract.Approve, By: "bob", Grant: &contract.GrantTerms{},
	}); err != nil {
		t.Fatal(err)
	}
	b.answer(granted, turn)
	b.answer(granted, write(granted)) // nobody is asked

	turn = write(other)
	asked = b.pending(other)
	if err := b.Deny(b.ctx(), other.ThreadRef, contract.Decision{Approval: asked.ID, Digest: asked.Digest, Verdict: contract.Deny, By: "bob"}); err != nil {
		t.Fatal(err)
	}
	if told := b.answer(other, turn); strings.Contains(told, "you are") {
		t.Errorf("a grant of another tenant's thread let a write pass: %.200s", told)
	}
	if state, err := b.State(b.ctx(), other.ThreadRef); err != nil || len(state.Grants) != 0 {
		t.Errorf("the other's grants are %v, %v", state.Grants, err)
	}
}
