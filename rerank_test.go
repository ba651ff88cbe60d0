package heddle

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/codemode/lookup"
)

// What a model is shown first is what the application wants.
func TestRerankIsAsked(t *testing.T) {
	app, err := New(
		Toolset{Name: "rooms", Tools: []Function{Tool("drawer_one", "Opens a drawer.", nothing), Tool("drawer_two", "Opens a drawer.", nothing)}},
		Agent{Name: "a", Instructions: "Help.", Model: "m", Tools: []string{"rooms"}, NoWeb: true}, Model("m", &parrot{}),
		Rerank(func(context.Context, catalog.Scope, []string, []catalog.Descriptor) ([]string, error) {
			return []string{"rooms.drawer_two", "rooms.drawer_one"}, nil
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	text, err := app.finder().Search(t.Context(), catalog.Scope{Tenant: "acme", Tools: []string{"rooms.*"}}, []byte(`{"query":"open the drawer"}`))
	var found lookup.Found
	if err != nil || json.Unmarshal(text, &found) != nil || len(found.Items) != 2 || found.Items[0].ID != "rooms.drawer_two" {
		t.Errorf("found %s, %v", text, err)
	}
}

func TestBrokenRerank(t *testing.T) {
	order := func(context.Context, catalog.Scope, []string, []catalog.Descriptor) ([]string, error) {
		return nil, nil
	}
	for want, options := range map[string][]Option{
		"rerank: the function is nil": {Rerank(nil)}, "rerank: is given twice": {Rerank(order), Rerank(order)},
	} {
		if _, err := New(options...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one with %q", err, want)
		}
	}
}
