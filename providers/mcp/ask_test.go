package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/providers/mcp"
)

// askIn calls a tool as a thread does: where a person can be asked, and with the
// answer to what was asked before.
func (d *desk) askIn(answer *catalog.Answer) catalog.Outcome {
	d.t.Helper()
	request := catalog.Request{Tool: "far.echo", Input: json.RawMessage(`{"text":"x"}`), IdempotencyKey: "key-1", CanAsk: true, Answer: answer}
	return d.broker.Dispatch(d.t.Context(), d.scope, request, d.broker.Plan(d.t.Context(), d.scope, request))
}

// asks makes the server of the newest version want input until it has been told all.
func (f *fake) asks(inputs string) {
	f.modern()
	f.on("tools/call", func(w http.ResponseWriter, m message) {
		if told := m.param("inputResponses"); told != "" {
			reply(w, m, `{"resultType":"complete","content":[],"structuredContent":{"told":`+told+`,"state":`+m.param("requestState")+`}}`)
			return
		}
		reply(w, m, `{"resultType":"input_required","requestState":"opaque","inputRequests":`+inputs+`}`)
	})
}

// TestQuestionsBecomeThoseOfTheThread: what a server of the newest version wants to
// know is asked one by one, without it, and told to it by another call.
func TestQuestionsBecomeThoseOfTheThread(t *testing.T) {
	f := newFake(t)
	f.asks(`{
		"b":{"method":"elicitation/create","params":{"mode":"url","message":"Pay here.","url":"https://pay.example/17","elicitationId":"e1"}},
		"a":{"method":"elicitation/create","params":{"mode":"form","message":"Your\u0000 name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}},
		"c":{"method":"elicitation/create","params":{"message":"Sure?","requestedSchema":{"type":"object","properties":{}}}}
	}`)
	d := newDesk(t, f.source())
	first := d.askIn(nil)
	q := first.Asks
	if q == nil || first.Error == nil || first.Error.Code != catalog.CodeInputRequired || first.Error.Effect != catalog.EffectNone {
		t.Fatalf("outcome is %+v, %+v", first, first.Error)
	}
	if q.Message != "Your name?" || !strings.HasPrefix(q.From, "far (http://127.0.0.1:") || !q.TellDecline || !strings.Contains(string(q.Schema), `"name"`) {
		t.Errorf("the question is %+v", q)
	}
	calls := f.received("tools/call")
	if meta := calls[0].param("_meta"); !strings.Contains(meta, `"elicitation":{"form":{},"url":{}}`) {
		t.Errorf("_meta is %s", meta)
	}
	second := d.askIn(&catalog.Answer{Content: json.RawMessage(`{"name":"Ann"}`), State: q.State})
	if q = second.Asks; q == nil || q.URL != "https://pay.example/17" || q.Schema != nil {
		t.Fatalf("outcome is %+v, %+v", second, second.Error)
	}
	third := d.askIn(&catalog.Answer{State: q.State})
	if q = third.Asks; q == nil || q.Message != "Sure?" {
		t.Fatalf("outcome is %+v, %+v", third, third.Error)
	}
	if n := len(f.received("tools/call")); n != 1 {
		t.Errorf("the server was called %d times while the person was asked", n)
	}
	last := d.askIn(&catalog.Answer{Declined: true, State: q.State})
	want := `{"told":{"a":{"action":"accept","content":{"name":"Ann"}},"b":{"action":"accept"},"c":{"action":"decline"}},"state":"opaque"}`
	if last.Error != nil || string(last.Result) != want {
		t.Errorf("the result is %s, %+v; want %s", last.Result, last.Error, want)
	}
}

// TestQuestionsThatNobodyCanAnswer: a server is told that it can ask only where it can.
func TestQuestionsThatNobodyCanAnswer(t *testing.T) {
	form := `{"a":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}}`
	t.Run("outside of a thread", func(t *testing.T) {
		f := newFake(t)
		f.asks(form)
		newDesk(t, f.source()).wantError("far.echo", `{"text":"x"}`, catalog.CodeInputRequired, catalog.EffectNone)
		if meta := f.received("tools/call")[0].param("_meta"); strings.Contains(meta, "elicitation") {
			t.Errorf("_meta is %s", meta)
		}
	})
	t.Run("another method", func(t *testing.T) {
		f := newFake(t)
		f.asks(`{"a":{"method":"sampling/createMessage","params":{}}}`)
		if out := newDesk(t, f.source()).askIn(nil); out.Asks != nil || out.Error == nil || out.Error.Code != catalog.CodeInputRequired {
			t.Errorf("outcome is %+v, %+v", out, out.Error)
		}
	})
	t.Run("an older version", func(t *testing.T) {
		f := newFake(t)
		if out := newDesk(t, f.source()).askIn(nil); out.Error != nil {
			t.Errorf("outcome is %+v", out.Error)
		}
		for _, m := range f.received("initialize") {
			if got := m.param("capabilities"); got != `{}` {
				t.Errorf("capabilities are %s", got)
			}
		}
	})
}

// TestPagesOfOlderServers: a server of an older version refuses a call until the user
// has been to a page.
func TestPagesOfOlderServers(t *testing.T) {
	f := newFake(t)
	visited := false
	f.on("tools/call", func(w http.ResponseWriter, m message) {
		if visited {
			f.answer(w, m)
			return
		}
		visited = true
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32042,"message":"first","data":{"elicitations":[{"mode":"url","message":"Agree.","url":"https://x.example/ok","elicitationId":"1"}]}}}`))
	})
	d := newDesk(t, f.source())
	out := d.askIn(nil)
	if out.Asks == nil || out.Asks.URL != "https://x.example/ok" {
		t.Fatalf("outcome is %+v, %+v", out, out.Error)
	}
	if out = d.askIn(&catalog.Answer{State: out.Asks.State}); out.Error != nil || string(out.Result) != `{"text":"x"}` {
		t.Errorf("outcome is %s, %+v", out.Result, out.Error)
	}
	if got := f.received("tools/call")[1].param("inputResponses"); got != "" {
		t.Errorf("an older server is told %s", got)
	}
}

// TestCredentialsAsk: where a credential is missing a person can be asked for it.
func TestCredentialsAsk(t *testing.T) {
	f := newFake(t)
	connected := false
	d := newDesk(t, f.source(func(o *mcp.Options) {
		o.Credentials = func(_ context.Context, need mcp.Need) (mcp.Credential, error) {
			if connected || need.Scope.Tenant == "" {
				return mcp.Credential{}, nil
			}
			return mcp.Credential{}, &catalog.Elicitation{From: "far", About: "connection:far", Message: "Connect far.", URL: "https://as.example/authorize"}
		}
	}))
	out := d.askIn(nil)
	if out.Asks == nil || out.Asks.About != "connection:far" || out.Asks.URL == "" {
		t.Fatalf("outcome is %+v, %+v", out, out.Error)
	}
	if out := d.call("far.echo", `{"text":"x"}`); out.Asks != nil || out.Error == nil || out.Error.Code != catalog.CodeInputRequired {
		t.Errorf("where nobody can be asked: %+v, %+v", out, out.Error)
	}
	connected = true
	if out := d.askIn(&catalog.Answer{}); out.Error != nil {
		t.Errorf("outcome is %+v", out.Error)
	}
	if n := len(f.received("tools/call")); n != 1 {
		t.Errorf("the server was called %d times", n)
	}
}
