package catalog_test

import (
	"context"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
)

func TestCheckID(t *testing.T) {
	for _, id := range []string{"a.b", "orders.refund", "Orders.items.list_all", "x-y.z_1", "a." + strings.Repeat("b", 62)} {
		if err := catalog.CheckID(id); err != nil {
			t.Errorf("%s is refused: %v", id, err)
		}
	}
	for id, part := range map[string]string{
		"":                             "empty",
		"orders":                       "no namespace",
		"orders.":                      "segment is empty",
		".orders":                      "segment is empty",
		"orders..get":                  "segment is empty",
		"orders.1st":                   "begins a segment",
		"_orders.get":                  "begins a segment",
		"orders.get all":               "' ' is not allowed",
		"orders.gét":                   "is not allowed",
		"orders/get.x":                 "'/' is not allowed",
		"a.\x00":                       "begins a segment",
		"a." + strings.Repeat("b", 63): "65 bytes",
		strings.Repeat("a.", 1<<16):    "at most 64",
	} {
		err := catalog.CheckID(id)
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%.40q: error is %v, want one that says %q", id, err, part)
		}
		if err != nil && len(err.Error()) > 300 {
			t.Errorf("%.40q: the error is %d bytes long", id, len(err.Error()))
		}
	}
}

func TestCheckGlob(t *testing.T) {
	for _, glob := range []string{"*", "orders.*", "a.b.*", "orders.get"} {
		if err := catalog.CheckGlob(glob); err != nil {
			t.Errorf("%s is refused: %v", glob, err)
		}
	}
	for _, glob := range []string{"", "orders", "orders*", "*.get", "orders.*.get", "**", "orders.**", "orders.g*", ".*", "1.*", "[a-z].*", "orders.* "} {
		if err := catalog.CheckGlob(glob); err == nil {
			t.Errorf("%q is taken, want it refused", glob)
		}
	}
}

func TestScopeSelectsTools(t *testing.T) {
	b := broker(t, of("s", read("orders.get"), read("orders.items.list"), read("ordersx.get"), read("mail.send")))
	for _, c := range []struct {
		globs []string
		want  string
	}{
		{nil, ""},
		{[]string{"*"}, "mail.send orders.get orders.items.list ordersx.get"},
		{[]string{"orders.*"}, "orders.get orders.items.list"},
		{[]string{"orders.items.*", "mail.send"}, "mail.send orders.items.list"},
		{[]string{"orders.get", "orders.*", "*"}, "mail.send orders.get orders.items.list ordersx.get"},
		{[]string{"orders*", "", "*.get", "orders.get.*"}, ""}, // malformed ones, and one that is none of them
	} {
		tools, err := b.Tools(context.Background(), catalog.Scope{Tools: c.globs})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, d := range tools {
			ids = append(ids, d.ID)
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("globs %q select %q, want %q", c.globs, got, c.want)
		}
	}
}
