package config

import (
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog/lookup"
)

const lookups = `
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
mcp:
  crm:
    url: https://crm.example.com/mcp
    honours_keys: [create_*]
    reconcile:
      crm.add_note:
        read: crm.find_note
        applied: output.found
        not_applied: error.code == "http_404"
`

func TestLookups(t *testing.T) {
	c, err := Parse("heddle.yaml", []byte(lookups), env(nil))
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
	if got := c.OpenAPI[0].HonoursKeys; !reflect.DeepEqual(got, []string{"shop.pay.*", "POST /refunds"}) {
		t.Errorf("honours_keys of the service %v", got)
	}
	if got := c.MCP[0].HonoursKeys; !reflect.DeepEqual(got, []string{"create_*"}) {
		t.Errorf("honours_keys of the server %v", got)
	}
}

func TestLookupsThatCannotBe(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{"read: shop.orders.list", "read: crm.list", "openapi.shop.reconcile.shop.orders.create.read: want a tool of the same source"},
		{"      shop.orders.create:", "      crm.create:", "want the id of a tool of this source"},
		{"applied: output.found", "applied: output.(", "applied: 1:"},
		{"input: {reference: key}", "input: {reference: output}", "input.reference: 1:1: undeclared reference"},
		{"        applied: size(output.items) > 0\n", "", "applied"},
		{"POST /refunds", "post /refunds", "openapi.shop.honours_keys[1]"},
	} {
		_, err := Parse("heddle.yaml", []byte(strings.Replace(lookups, test.old, test.new, 1)), env(nil))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.new, err, test.want)
		}
	}
}
