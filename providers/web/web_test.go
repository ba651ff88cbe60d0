package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/catalogtest"
	"github.com/heddle-dev/heddle/providers/web"
)

func TestConformance(t *testing.T) {
	catalogtest.Run(t, func(testing.TB) catalogtest.Fixture {
		var calls atomic.Int64
		source := web.New(func(ctx context.Context, tool string, c catalog.Call) (json.RawMessage, error) {
			calls.Add(1)
			switch {
			case strings.Contains(string(c.Input), "fail"):
				return nil, &catalog.Error{Code: "http_503", Message: "busy", Retryable: true}
			case strings.Contains(string(c.Input), "wait"):
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return json.RawMessage(`{"tool":"` + tool + `"}`), nil
		}, nil)
		return catalogtest.Fixture{
			Source: source,
			Good:   []catalogtest.Call{{Tool: "web.search", Input: `{"objective":"tea"}`}, {Tool: "web.fetch", Input: `{"urls":["https://tea.example/"]}`}},
			Bad: []catalogtest.Call{
				{Tool: "web.search", Input: `{}`},
				{Tool: "web.search", Input: `{"objective":"x","session_id":"mine"}`},
				{Tool: "web.fetch", Input: `{"urls":["file:///etc/passwd"]}`},
			},
			Failing: []catalogtest.Failure{{Call: catalogtest.Call{Tool: "web.search", Input: `{"objective":"fail"}`}, Code: "http_503", Effect: catalog.EffectNone}},
			Slow:    &catalogtest.Call{Tool: "web.search", Input: `{"objective":"wait"}`},
			Reached: func() int { return int(calls.Load()) },
		}
	})
}

func TestWhatTheServiceIsTold(t *testing.T) {
	var tool string
	var told map[string]any
	source := web.New(func(_ context.Context, name string, c catalog.Call) (json.RawMessage, error) {
		tool = name
		told = nil
		return nil, json.Unmarshal(c.Input, &told)
	}, func(context.Context) ([]byte, error) { return []byte("key"), nil })
	tools, _ := source.Tools(t.Context())
	scope := catalog.Scope{Tenant: "acme", User: "ann", Thread: "t1"}
	if _, err := tools[0].Call(t.Context(), catalog.Call{Input: json.RawMessage(`{"objective":"tea"}`), Scope: scope}); err != nil {
		t.Fatal(err)
	}
	if tool != "web_search" || told["objective"] != "tea" || told["search_queries"].([]any)[0] != "tea" {
		t.Errorf("%s is told %v", tool, told)
	}
	first := told["session_id"]
	if _, err := tools[1].Call(t.Context(), catalog.Call{Input: json.RawMessage(`{"urls":["https://a.example"]}`), Scope: scope}); err != nil {
		t.Fatal(err)
	}
	if tool != "web_fetch" || told["session_id"] != first || len(told) != 2 {
		t.Errorf("%s is told %v, with the session %v before", tool, told, first)
	}
}

func TestSessionID(t *testing.T) {
	scope := catalog.Scope{Tenant: "acme", User: "ann", Thread: "t1"}
	id := web.SessionID([]byte("key"), scope)
	if parsed, err := uuid.Parse(id); err != nil || parsed.Version() != 5 {
		t.Errorf("%s: version %v, %v", id, parsed.Version(), err)
	}
	other := scope
	other.User, other.Agent = "bob", "x"
	if web.SessionID([]byte("key"), other) != id {
		t.Error("the id depends on more than the thread")
	}
	for name, differs := range map[string]string{
		"thread": web.SessionID([]byte("key"), catalog.Scope{Tenant: "acme", Thread: "t2"}),
		"tenant": web.SessionID([]byte("key"), catalog.Scope{Tenant: "other", Thread: "t1"}),
		"key":    web.SessionID([]byte("another"), scope),
		"border": web.SessionID([]byte("key"), catalog.Scope{Tenant: "acm", Thread: "e" + "t1"}),
	} {
		if differs == id {
			t.Errorf("another %s has the same id", name)
		}
	}
}

func TestKeyThatCannotBeRead(t *testing.T) {
	source := web.New(nil, func(context.Context) ([]byte, error) { return nil, errors.New("locked") })
	tools, _ := source.Tools(t.Context())
	if _, err := tools[0].Call(t.Context(), catalog.Call{Input: json.RawMessage(`{"objective":"x"}`)}); err == nil {
		t.Error("a call without the key is made")
	}
}
