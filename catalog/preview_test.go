package catalog_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
)

// Who is asked is not shown what the schema says is secret, and the tool gets it.
func TestPreviewHidesSecretsOfTheSchema(t *testing.T) {
	for name, c := range map[string]struct{ schema, input, want string }{
		"password": {
			`{"type":"object","properties":{"user":{"type":"string"},"pass":{"type":"string","format":"password"}}}`,
			`{"user":"ann","pass":"x<y"}`, `{"pass":"[hidden]","user":"ann"}`,
		},
		"write only, within a list": {
			`{"type":"object","properties":{"keys":{"type":"array","items":{"type":"object","properties":{"key":{"writeOnly":true}}}}}}`,
			`{"keys":[{"key":{"a":1},"id":2}]}`, `{"keys":[{"id":2,"key":"[hidden]"}]}`,
		},
		"by reference": {
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/s"}},"$defs":{"s":{"type":"string","format":"password"}}}`,
			`{"a":"x"}`, `{"a":"[hidden]"}`,
		},
		"in an alternative": {
			`{"type":"object","anyOf":[{"properties":{"a":{"writeOnly":true}}},{"properties":{"b":{}}}]}`,
			`{"a":"x","b":1}`, `{"a":"[hidden]","b":1}`,
		},
		"of any name": {
			`{"type":"object","additionalProperties":{"type":"string","format":"password"}}`, `{"a":"x"}`, `{"a":"[hidden]"}`,
		},
		"a name is no format": {
			`{"type":"object","properties":{"password":{"type":"string"},"n":{"type":"integer"}}}`, `{"password":"shown","n":1}`, `{"n":1,"password":"shown"}`,
		},
		"a reference to itself": {
			`{"type":"object","properties":{"next":{"$ref":"#"},"p":{"format":"password"}}}`,
			`{"next":{"next":{"p":"x"}},"p":"y"}`, `{"next":{"next":{"p":"[hidden]"}},"p":"[hidden]"}`,
		},
	} {
		tool := withSchema(write("a.b"), c.schema)
		plan := broker(t, of("s", tool)).Plan(t.Context(), everyone, catalog.Request{Tool: tool.ID, Input: json.RawMessage(c.input)})
		if plan.Error != nil || string(plan.Preview) != c.want {
			t.Errorf("%s: preview is %s (%v), want %s", name, plan.Preview, plan.Error, c.want)
		}
		if out := do(t, broker(t, of("s", withSchema(withFunction(tool, tool.Call), c.schema))), tool.ID, c.input); strings.Contains(string(out.Result), "[hidden]") {
			t.Errorf("%s: the tool got %s", name, out.Result)
		}
	}
}

func TestToolSaysWhatACallDoes(t *testing.T) {
	for name, c := range map[string]struct {
		preview func(json.RawMessage) string
		want    string
	}{
		"says it":     {func(in json.RawMessage) string { return "POST " + string(in) }, `POST {"a":1}`},
		"broken text": {func(json.RawMessage) string { return "a\xff" }, "a\uFFFD"},
		"panics":      {func(json.RawMessage) string { panic("boom") }, ""},
		"says much":   {func(json.RawMessage) string { return strings.Repeat("x", 10_000) }, strings.Repeat("x", catalog.MaxDoes-3) + "…"},
	} {
		tool := write("a.b")
		tool.Preview = c.preview
		plan := broker(t, of("s", tool)).Plan(t.Context(), everyone, catalog.Request{Tool: tool.ID, Input: json.RawMessage(`{"a":1}`)})
		if plan.Error != nil || plan.Does != c.want {
			t.Errorf("%s: %.80q (%v), want %.80q", name, plan.Does, plan.Error, c.want)
		}
	}
}
