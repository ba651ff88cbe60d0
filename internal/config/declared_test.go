package config

import (
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog/lookup"
	"github.com/heddle-dev/heddle/catalog/undo"
)

const declared = `
openapi:
  shop:
    spec: shop.yaml
    honours_keys: ["shop.pay.*", "POST /refunds"]
    reconcile:
      shop.orders.create:
        read: shop.orders.list
        input: {reference: key}
        applied: size(output.items) > 0
        result: output.items[0]
    undo:
      shop.orders.create: {tool: shop.orders.cancel, input: {id: result.id}}
mcp:
  crm:
    url: https://crm.example.com/mcp
    honours_keys: [create_*]
    reconcile:
      crm.add_note:
        read: crm.find_note
        applied: output.found
        not_applied: error.code == "http_404"
    undo:
      crm.add_note: {tool: crm.drop_note}
`

func TestDeclarations(t *testing.T) {
	c, err := Parse("heddle.yaml", []byte(declared), env(nil))
	if err != nil {
		t.Fatal(err)
	}
	wantShop := []lookup.Declaration{{
		Write: "shop.orders.create", Read: "shop.orders.list", Input: map[string]string{"reference": "key"},
		Applied: "size(output.items) > 0", Result: "output.items[0]",
	}}
	wantCRM := []lookup.Declaration{{
		Write: "crm.add_note", Read: "crm.find_note", Input: map[string]string{}, Applied: "output.found", NotApplied: `error.code == "http_404"`,
	}}
	if !reflect.DeepEqual(c.OpenAPI[0].Lookups, wantShop) || !reflect.DeepEqual(c.MCP[0].Lookups, wantCRM) {
		t.Errorf("lookups %+v and %+v", c.OpenAPI[0].Lookups, c.MCP[0].Lookups)
	}
	shopUndos := []undo.Declaration{{Write: "shop.orders.create", Tool: "shop.orders.cancel", Input: map[string]string{"id": "result.id"}}}
	crmUndos := []undo.Declaration{{Write: "crm.add_note", Tool: "crm.drop_note", Input: map[string]string{}}}
	if !reflect.DeepEqual(c.OpenAPI[0].Undos, shopUndos) || !reflect.DeepEqual(c.MCP[0].Undos, crmUndos) {
		t.Errorf("undos %+v and %+v", c.OpenAPI[0].Undos, c.MCP[0].Undos)
	}
	if got := c.OpenAPI[0].HonoursKeys; !reflect.DeepEqual(got, []string{"shop.pay.*", "POST /refunds"}) {
		t.Errorf("honours_keys of the service %v", got)
	}
	if got := c.MCP[0].HonoursKeys; !reflect.DeepEqual(got, []string{"create_*"}) {
		t.Errorf("honours_keys of the server %v", got)
	}
}

func TestDeclarationsThatCannotBe(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{"read: shop.orders.list", "read: crm.list", "openapi.shop.reconcile.shop.orders.create.read: want a tool of the same source"},
		{"      shop.orders.create:", "      crm.create:", "want the id of a tool of this source"},
		{"applied: output.found", "applied: output.(", "applied: 1:"},
		{"input: {reference: key}", "input: {reference: output}", "input.reference: 1:1: undeclared reference"},
		{"        applied: size(output.items) > 0\n", "", "applied"},
		{"tool: shop.orders.cancel", "tool: crm.drop_note", "openapi.shop.undo.shop.orders.create.tool: want a tool of the same source"},
		{"{tool: shop.orders.cancel, input: {id: result.id}}", "{}", "openapi.shop.undo.shop.orders.create: the field tool is missing"},
		{"input: {id: result.id}", "input: {id: 7}", "openapi.shop.undo.shop.orders.create.input.id: want text, found a whole number"},
		{"input: {id: result.id}", "input: {id: key}", "openapi.shop.undo.shop.orders.create: input.id: 1:1: undeclared reference"},
		{"{tool: crm.drop_note}", "{tool: crm.drop_note, read: crm.find_note}", "mcp.crm.undo.crm.add_note.read: unknown field"},
		{"POST /refunds", "post /refunds", "openapi.shop.honours_keys[1]"},
	} {
		_, err := Parse("heddle.yaml", []byte(strings.Replace(declared, test.old, test.new, 1)), env(nil))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.new, err, test.want)
		}
	}
}
