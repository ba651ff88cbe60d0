package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/heddle-dev/heddle/catalog"
)

// TestUnconnectedSourceAsks: of a source that nobody has connected no tool is known. A
// call of any asks a person, where one can be asked, and else fails with what is missing.
func TestUnconnectedSourceAsks(t *testing.T) {
	for _, code := range []string{
		catalog.CodeConnectionMissing, catalog.CodeConnectionExpired, catalog.CodeConnectionRevoked, catalog.CodeInsufficientScope,
	} {
		t.Run(code, func(t *testing.T) {
			cause := catalog.Reconnection{Name: "crm", URL: "https://crm.example.com"}.Error(code, "it is not connected")
			c := &connections{list: func(catalog.Scope) ([]catalog.Tool, error) {
				return nil, &catalog.PartialError{Parts: []catalog.Unavailable{{Source: "crm", Reason: "it is not connected", Cause: cause}}}
			}}
			b := broker(t, c)
			var asked []catalog.Reconnection
			var fails error
			b.Reconnect(func(_ context.Context, scope catalog.Scope, r catalog.Reconnection) (*catalog.Elicitation, error) {
				asked = append(asked, r)
				return &catalog.Elicitation{Message: "May the agent, for " + scope.User + "?", URL: "https://login.example.com"}, fails
			})
			scope := catalog.Scope{Tenant: "acme", User: "ada", Tools: []string{"crm.*"}}
			request := catalog.Request{Tool: "crm.find", Input: json.RawMessage(`{}`), CanAsk: true}
			wants := func(what string, q *catalog.Elicitation, e *catalog.Error, want bool) {
				t.Helper()
				code := code
				if want {
					code = catalog.CodeInputRequired
				}
				if (q != nil) != want || e == nil || e.Code != code || e.Tool != "crm.find" || want && q.Message != "May the agent, for ada?" {
					t.Errorf("%s: asks %+v, %+v", what, q, e)
				}
			}
			if snapshot, err := b.Snapshot(t.Context(), scope); err != nil || len(snapshot.Unavailable()) != 1 || snapshot.Unavailable()[0].Cause == nil {
				t.Errorf("the snapshot is %+v, %v", snapshot, err)
			}
			plan := b.Plan(t.Context(), scope, request)
			wants("Plan", plan.Asks, plan.Error, true)
			r := reading(t, b, scope, request)
			wants("DispatchRead", r.Outcome.Asks, r.Outcome.Error, true)
			if wants("its plan", r.Plan.Asks, r.Plan.Error, true); !r.Done || r.Plan.Tool != "crm.find" || r.Plan.DescriptorDigest != "" {
				t.Errorf("DispatchRead: %+v", r)
			}
			out := b.Dispatch(t.Context(), scope, request, catalog.Plan{Tool: "crm.find"})
			if wants("Dispatch", out.Asks, out.Error, true); len(asked) != 3 || asked[0].Name != "crm" || asked[0].URL != "https://crm.example.com" {
				t.Errorf("asked for %+v", asked)
			}
			again := request
			again.Answer = &catalog.Answer{}
			out = b.Dispatch(t.Context(), scope, again, catalog.Plan{Tool: "crm.find"})
			wants("once it was answered", out.Asks, out.Error, false)
			silent := request
			silent.CanAsk = false
			plan = b.Plan(t.Context(), scope, silent)
			if wants("where nobody can be asked", plan.Asks, plan.Error, false); len(asked) != 3 {
				t.Errorf("asked for %+v", asked)
			}
			fails = errors.New("the service is away")
			plan = b.Plan(t.Context(), scope, request)
			wants("where the question cannot be made", plan.Asks, plan.Error, false)
			scope.Tools = []string{"orders.*"}
			if plan := b.Plan(t.Context(), scope, request); plan.Asks != nil || plan.Error.Code != catalog.CodeToolNotFound {
				t.Errorf("out of scope: %+v", plan)
			}
		})
	}
}

// A call that panics on its way, in the application's own code, gives back its place: the
// panic of an activity is caught, and the worker goes on.
func TestPanicAfterACallLeavesItsPlace(t *testing.T) {
	cause := catalog.Reconnection{Name: "crm", URL: "https://crm.example.com"}.Error(catalog.CodeConnectionMissing, "it is not connected")
	req := catalog.Request{Tool: "a.b", Input: json.RawMessage("{}"), CanAsk: true}
	for name, call := range map[string]func(context.Context, *catalog.Broker){
		"dispatch": func(ctx context.Context, b *catalog.Broker) {
			b.Dispatch(ctx, everyone, req, b.Plan(ctx, everyone, req))
		},
		"reading": func(ctx context.Context, b *catalog.Broker) {
			b.DispatchRead(ctx, everyone, req, func(catalog.Reading) {})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := broker(t, of("s", withFunction(read("a.b"), func(context.Context, catalog.Call) (json.RawMessage, error) { return nil, cause })))
				b.Limit(catalog.Limits{Namespaces: map[string]catalog.FlowLimits{"a": {Concurrent: 1}}})
				asked := 0
				b.Reconnect(func(context.Context, catalog.Scope, catalog.Reconnection) (*catalog.Elicitation, error) {
					asked++
					panic("consent")
				})
				for range 2 {
					func() {
						defer func() { _ = recover() }()
						call(t.Context(), b)
					}()
				}
				if asked != 2 {
					t.Errorf("%d of 2 calls were made", asked)
				}
			})
		})
	}
}
