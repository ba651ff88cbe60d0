package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
)

// asking makes a call where a person can be asked, or not.
func asking(t *testing.T, b *catalog.Broker, id string, canAsk bool, answer *catalog.Answer) catalog.Outcome {
	t.Helper()
	scope := catalog.Scope{Tenant: "acme", Thread: "1", Tools: []string{"*"}}
	request := catalog.Request{Tool: id, Input: json.RawMessage(`{}`), CanAsk: canAsk, Answer: answer}
	return b.Dispatch(t.Context(), scope, request, b.Plan(t.Context(), scope, request))
}

// A tool asks by an error, wrapped or not, and gets the answer with the call that is
// made then.
func TestAToolAsks(t *testing.T) {
	tool := withFunction(write("shop.order"), func(_ context.Context, c catalog.Call) (json.RawMessage, error) {
		if c.Answer != nil {
			return json.RawMessage(fmt.Sprintf(`{"content":%s,"state":%s,"declined":%t}`, c.Answer.Content, c.Answer.State, c.Answer.Declined)), nil
		}
		return nil, fmt.Errorf("cannot go on: %w", &catalog.Elicitation{From: "the shop", Message: "Where to?", State: json.RawMessage(`7`)})
	})
	tool.Approval = catalog.ApprovalNever
	b := broker(t, of("s", tool))
	out := asking(t, b, "shop.order", true, nil)
	if out.Asks == nil {
		t.Fatalf("it asks nothing: %v", out.Error)
	}
	if out.Asks.Message != "Where to?" || string(out.Asks.State) != "7" {
		t.Errorf("it asks %q, to go on with %s", out.Asks.Message, out.Asks.State)
	}
	if e := wantError(t, out.Error, catalog.CodeInputRequired); e.Effect != catalog.EffectNone || e.Retryable {
		t.Errorf("the error is %+v", e)
	}
	out = asking(t, b, "shop.order", true, &catalog.Answer{Content: json.RawMessage(`{"a":1}`), State: json.RawMessage(`7`)})
	if out.Error != nil || string(out.Result) != `{"content":{"a":1},"state":7,"declined":false}` {
		t.Errorf("with the answer: %s, %v", out.Result, out.Error)
	}
	out = asking(t, b, "shop.order", false, nil)
	if e := wantError(t, out.Error, catalog.CodeInputRequired); out.Asks != nil || e.Hint == "" {
		t.Errorf("where nobody can be asked: %+v, %+v", out.Asks, e)
	}
}

// A question that holds a secret is not asked; its words lose it.
func TestQuestionsHoldNoSecret(t *testing.T) {
	for name, c := range map[string]struct {
		question catalog.Elicitation
		asked    bool
	}{
		"message": {catalog.Elicitation{Message: "is it " + hidden + "?"}, true},
		"from":    {catalog.Elicitation{Message: "?", From: hidden}, true},
		"url":     {catalog.Elicitation{Message: "?", URL: "https://x.example/" + hidden}, false},
		"about":   {catalog.Elicitation{Message: "?", About: hidden}, false},
		"schema":  {catalog.Elicitation{Message: "?", Schema: json.RawMessage(`{"title":"` + hidden + `"}`)}, false},
		"state":   {catalog.Elicitation{Message: "?", State: json.RawMessage(`"` + hidden + `"`)}, false},
		"size":    {catalog.Elicitation{Message: "?", State: json.RawMessage(`"` + strings.Repeat("x", catalog.MaxElicitationState) + `"`)}, false},
	} {
		k := &keeper{values: map[string]string{"key": hidden}}
		b, _ := secretive(t, k, func(context.Context, catalog.Call) (json.RawMessage, error) { return nil, &c.question })
		out := asking(t, b, "vault.open", true, nil)
		if (out.Asks != nil) != c.asked || out.Error == nil {
			t.Errorf("%s: it asks %+v, %v", name, out.Asks, out.Error)
		}
		if text := fmt.Sprintf("%+v %+v", out.Asks, out.Error); strings.Contains(text, hidden) {
			t.Errorf("%s: the secret leaves in %s", name, text)
		}
	}
	if err := error(&catalog.Elicitation{Message: "?"}); !errors.As(err, new(*catalog.Elicitation)) {
		t.Error("a question is no error")
	}
}
