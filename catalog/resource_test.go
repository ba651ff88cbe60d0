package catalog_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
)

func TestExpandResourceKey(t *testing.T) {
	for _, c := range []struct{ template, input, want string }{
		{"", `{}`, ""},
		{"ledger", `{}`, "ledger"},
		{"order/{order}", `{"order":"A-17"}`, "order/A-17"},
		{"{repo.owner}/{repo.name}", `{"repo":{"owner":"a","name":"b/c"}}`, "a/b%2Fc"},
		{"n{n}:{yes}", `{"n":12345678901234567890,"yes":true}`, "n12345678901234567890:true"},
		{"naïve/{ü}", `{"ü":"ß 1"}`, "naïve/%C3%9F%201"},
	} {
		got, err := catalog.ExpandResourceKey(c.template, json.RawMessage(c.input))
		if err != nil || got != c.want {
			t.Errorf("%s of %s is %q, %v; want %q", c.template, c.input, got, err, c.want)
		}
	}
}

func TestExpandResourceKeyNamesThePlace(t *testing.T) {
	for _, input := range []string{`{}`, `{"order":null}`, `{"order":{}}`, `{"order":{"id":[]}}`, `{"order":{"id":""}}`, `{"order":"A"}`, `[]`} {
		_, err := catalog.ExpandResourceKey("order/{order.id}", json.RawMessage(input))
		var typed *catalog.Error
		if !errors.As(err, &typed) || typed.Code != catalog.CodeInvalidInput || typed.Violations[0].Pointer != "/order/id" {
			t.Errorf("%s: error is %v, want one that names /order/id", input, err)
		}
	}
	if _, err := catalog.ExpandResourceKey("o/{o}", json.RawMessage(`{"o":"`+strings.Repeat("ü", 100)+`"}`)); err == nil {
		t.Error("a key that is too long is no error")
	}
	for _, template := range []string{"{", "}", "{}", "a{b{c}}", "{a..b}", "a}b{c", "\xff", strings.Repeat("x", 257)} {
		if _, err := catalog.ExpandResourceKey(template, json.RawMessage(`{"a":"1","b":"2"}`)); err == nil {
			t.Errorf("the template %.20q is no error", template)
		}
	}
}

func TestCheckResourceKey(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"order":{"type":"object"}}}`)
	for template, part := range map[string]string{"o/{order.id}": "", "o/{oder}": `"oder"`, "o/{": "not closed", "fixed": ""} {
		err := catalog.CheckResourceKey(template, schema)
		if (err == nil) != (part == "") || err != nil && !strings.Contains(err.Error(), part) {
			t.Errorf("%s: error is %v, want one that says %q", template, err, part)
		}
	}
	if err := catalog.CheckResourceKey("o/{any}", json.RawMessage(`{"$ref":"#/$defs/o"}`)); err != nil {
		t.Errorf("a schema without properties: %v", err)
	}
}

// FuzzExpandResourceKey: two inputs that differ at a place never share a key.
func FuzzExpandResourceKey(f *testing.F) {
	f.Add("a/b", "c", "a", "b/c")
	f.Fuzz(func(t *testing.T, a1, b1, a2, b2 string) {
		key := func(a, b string) string {
			input, err := json.Marshal(map[string]string{"a": a, "b": b})
			if err != nil {
				t.Skip("not a text that JSON can carry")
			}
			key, err := catalog.ExpandResourceKey("k/{a}/{b}", input)
			if err != nil {
				t.Skip("refused: it names nothing")
			}
			return key
		}
		if key(a1, b1) == key(a2, b2) && (strings.ToValidUTF8(a1, "\uFFFD") != strings.ToValidUTF8(a2, "\uFFFD") || strings.ToValidUTF8(b1, "\uFFFD") != strings.ToValidUTF8(b2, "\uFFFD")) {
			t.Errorf("%q %q and %q %q have the key %s", a1, b1, a2, b2, key(a1, b1))
		}
	})
}

func TestPlanNamesTheResource(t *testing.T) {
	plan := func(tool catalog.Tool, input string) catalog.Plan {
		return broker(t, of("s", tool)).Plan(t.Context(), everyone, catalog.Request{Tool: tool.ID, Input: json.RawMessage(input)})
	}
	tool := write("orders.refund")
	if p := plan(tool, `{}`); p.Error != nil || p.ResourceKey != "" {
		t.Errorf("without a template: %+v", p)
	}
	tool.ResourceKey = "order/{order}"
	if p := plan(tool, `{"order":"A"}`); p.Error != nil || p.ResourceKey != "order/A" {
		t.Errorf("with a template: %+v", p)
	}
	wantError(t, plan(tool, `{}`).Error, catalog.CodeInvalidInput)

	tool.Resource = func(input json.RawMessage) (string, error) { return "all " + string(input), nil }
	if p := plan(tool, `{"order":"A"}`); p.Error != nil || p.ResourceKey != `all {"order":"A"}` {
		t.Errorf("with a function: %+v", p)
	}
	tool.Resource = func(json.RawMessage) (string, error) { return "", errors.New("no such order") }
	if err := wantError(t, plan(tool, `{}`).Error, catalog.CodeInvalidInput); !strings.Contains(err.Message, "no such order") {
		t.Errorf("error is %v", err)
	}
	tool.Resource = func(json.RawMessage) (string, error) { panic("boom") }
	wantError(t, plan(tool, `{}`).Error, catalog.CodeInvalidTool)
}
