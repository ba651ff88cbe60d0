package lookup_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/lookup"
)

// list is a lookup in a list of orders by the key.
var list = lookup.Declaration{
	Write: "shop.orders.create", Read: "shop.orders.list",
	Input:   map[string]string{"reference": "key", "customer": "input.customer", "limit": "2"},
	Applied: "output.items.exists(i, i.reference == key)",
	Result:  "output.items.filter(i, i.reference == key)[0]",
}

// get is a lookup by an address of its own, which answers 404 where there is none.
var get = lookup.Declaration{
	Write: "shop.orders.create", Read: "shop.orders.get", Input: map[string]string{"id": `"by-key/" + key`},
	Applied: "output.state == 'created'", NotApplied: "error.code == 'http_404' || output.state == 'refused'",
}

func TestJudge(t *testing.T) {
	for name, test := range map[string]struct {
		declaration lookup.Declaration
		output      string
		failed      string
		found       catalog.Found
		result      string
		reason      string
		retry       bool
	}{
		"in the list":            {list, `{"items":[{"reference":"x"},{"reference":"k1","id":9007199254740993}]}`, "", catalog.FoundApplied, `{"id":9007199254740993,"reference":"k1"}`, "", false},
		"not in the list":        {list, `{"items":[]}`, "", catalog.FoundNotApplied, "", "", false},
		"a list that is none":    {list, `{}`, "", catalog.FoundNothing, "", "applied: no such key: items", false},
		"the list cannot be had": {list, "", "http_503", "", "", "", true},
		"by address":             {get, `{"state":"created","n":[1,2.5,null,true]}`, "", catalog.FoundApplied, `{"state":"created","n":[1,2.5,null,true]}`, "", false},
		"refused":                {get, `{"state":"refused"}`, "", catalog.FoundNotApplied, "", "", false},
		"neither":                {get, `{"state":"pending"}`, "", catalog.FoundNothing, "", "says neither", false},
		"no such address":        {get, "", "http_404", catalog.FoundNotApplied, "", "", false},
		"another error":          {get, "", "http_500", "", "", "", true},
		"null":                   {get, "null", "", catalog.FoundNothing, "", "applied: ", false},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := lookup.Compile(test.declaration)
			if err != nil {
				t.Fatal(err)
			}
			outcome := catalog.Outcome{Result: json.RawMessage(test.output)}
			if test.failed != "" {
				outcome = catalog.Outcome{Error: &catalog.Error{Code: test.failed, Message: "no"}}
			}
			got, err := l.Judge("k1", json.RawMessage(`{"customer":7}`), outcome)
			if (err != nil) != test.retry || got.Found != test.found || string(got.Result) != test.result || !strings.Contains(got.Reason, test.reason) {
				t.Errorf("found %q %s (%s), error %v", got.Found, got.Result, got.Reason, err)
			}
		})
	}
}

func TestInput(t *testing.T) {
	l, err := lookup.Compile(list)
	if err != nil {
		t.Fatal(err)
	}
	got, err := l.Input("k1", json.RawMessage(`{"customer":9007199254740993}`))
	if want := `{"customer":9007199254740993,"limit":2,"reference":"k1"}`; err != nil || string(got) != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	if _, err := l.Input("k1", json.RawMessage(`{}`)); err == nil || !strings.HasPrefix(err.Error(), "input.customer: ") {
		t.Errorf("error %v, want one that names the member", err)
	}
}

func TestDeclarationsThatCannotBe(t *testing.T) {
	for want, change := range map[string]func(*lookup.Declaration){
		"write: ":                  func(d *lookup.Declaration) { d.Write = "" },
		"read: ":                   func(d *lookup.Declaration) { d.Read = "no id" },
		"applied: is empty":        func(d *lookup.Declaration) { d.Applied = "" },
		"applied: 1:":              func(d *lookup.Declaration) { d.Applied = "output.(" },
		"applied: is of type int":  func(d *lookup.Declaration) { d.Applied = "1" },
		"not_applied: 1:1: undec":  func(d *lookup.Declaration) { d.NotApplied = "nothing" },
		"result: is 5000 bytes":    func(d *lookup.Declaration) { d.Result = strings.Repeat("x", 5000) },
		"input.reference: 1:1: un": func(d *lookup.Declaration) { d.Input = map[string]string{"reference": "output"} },
	} {
		d := list
		change(&d)
		if _, err := lookup.Compile(d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
