package mcp_test

import (
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/connections"
	"github.com/heddle-dev/heddle/internal/oauth"
	"github.com/heddle-dev/heddle/providers/mcp"
	"github.com/heddle-dev/heddle/secrets"
	"github.com/heddle-dev/heddle/test/authserver"
)

// TestConnected uses a server with the connection of whoever asks: what it offers, its
// calls, renewal, and each way in which a person is needed.
func TestConnected(t *testing.T) {
	server := authserver.NewMCP(t)
	keys, err := secrets.ParseKeyring("test:" + base64.StdEncoding.EncodeToString(make([]byte, 32)))
	if err != nil {
		t.Fatal(err)
	}
	store, err := secrets.OpenSQLite(filepath.Join(t.TempDir(), "s.db"), keys)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	network, err := oauth.Network([]string{server.Host})
	if err != nil {
		t.Fatal(err)
	}
	redactor := &secrets.Redactor{}
	book := connections.New(connections.Options{Store: store, Network: network, Redactor: redactor, Redirect: "http://127.0.0.1:1/callback"})
	vault := secrets.NewVault(redactor, book.Renew, store)
	source, err := mcp.NewConnected(mcp.Options{
		Namespace: "crm", URL: server.Resource, Allow: []string{server.Host}, Connection: "crm", Secrets: vault, Trusted: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(source.Close)
	broker, err := catalog.New(source)
	if err != nil {
		t.Fatal(err)
	}
	broker.Protect(vault)
	acme := catalog.Scope{Tenant: "acme", User: "ada", Thread: "t", Tools: []string{"crm.*"}}
	call := func(scope catalog.Scope, tool string) catalog.Outcome {
		t.Helper()
		request := catalog.Request{Tool: tool, Input: json.RawMessage(`{}`)}
		plan := broker.Plan(t.Context(), scope, request)
		if plan.Error != nil {
			return catalog.Outcome{Error: plan.Error}
		}
		return broker.Dispatch(t.Context(), scope, request, plan)
	}
	connect := func(scopes ...string) {
		t.Helper()
		consent, err := book.Begin(t.Context(), connections.Request{ID: connections.ID{Tenant: "acme", Name: "crm"}, URL: server.Resource, Scopes: scopes})
		if err != nil {
			t.Fatal(err)
		}
		back, err := authserver.Agree(t.Context(), consent.URL)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := book.Finish(t.Context(), back.Query()); err != nil {
			t.Fatal(err)
		}
	}
	listed := func(scope catalog.Scope) []string {
		t.Helper()
		all, err := broker.List(t.Context(), scope)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, d := range all {
			ids = append(ids, d.ID)
		}
		return ids
	}
	if ids := listed(acme); len(ids) != 0 {
		t.Errorf("without a connection there is %v", ids)
	}
	if out := call(acme, "crm.read_it"); out.Error == nil || !strings.Contains(out.Error.Message+out.Error.Hint, "starter connections add "+server.Resource+" --name crm") {
		t.Errorf("without a connection: %+v", out.Error)
	}
	connect()
	// A server that takes more than a moment is left out of a list, until it has answered.
	eventually(t, "its tools are listed after the consent", func() bool {
		return slices.Equal(listed(acme), []string{"crm.change_it", "crm.read_it", "crm.write_it"})
	})
	if ids := listed(catalog.Scope{Tenant: "other", User: "ada", Tools: []string{"crm.*"}}); len(ids) != 0 {
		t.Errorf("another tenant sees %v", ids)
	}
	if out := call(acme, "crm.read_it"); out.Error != nil {
		t.Fatal(out.Error)
	}
	server.ExpireAccess()
	for range 2 {
		if out := call(acme, "crm.read_it"); out.Error != nil {
			t.Fatal(out.Error)
		}
	}
	if n := server.Count("refresh"); n != 1 {
		t.Errorf("%d refreshes: %v", n, server.Log())
	}
	out := call(acme, "crm.write_it")
	if out.Error == nil || out.Error.Code != catalog.CodeInsufficientScope {
		t.Fatalf("beyond the scope: %+v", out.Error)
	}
	if r, ok := out.Error.Reconnection(); !ok || !slices.Equal(r.Scopes, []string{"write"}) || r.Name != "crm" || r.URL != server.Resource {
		t.Errorf("beyond the scope: %+v, %t", r, ok)
	}
	connect("read", "write")
	if out := call(acme, "crm.write_it"); out.Error != nil {
		t.Errorf("with more scope: %+v", out.Error)
	}
	server.EndGrants()
	for range 2 {
		out = call(acme, "crm.read_it")
		if out.Error == nil || out.Error.Code != catalog.CodeConnectionRevoked && !strings.Contains(out.Error.Message+out.Error.Hint, "was revoked") {
			t.Errorf("after it was revoked: %+v", out.Error)
		}
	}
}
