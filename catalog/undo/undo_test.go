package undo_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog/undo"
)

var cancel = undo.Declaration{
	Write: "shop.orders.create", Tool: "shop.orders.cancel",
	Input: map[string]string{"id": "result.id", "etag": "result.?etag", "body": "{'reason': 'undone: ' + input.note}"},
}

func TestOf(t *testing.T) {
	u, err := undo.Compile(cancel)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ input, result, want, fault string }{
		"all":              {`{"note":"mug"}`, `{"id":7,"etag":"w"}`, `{"body":{"reason":"undone: mug"},"etag":"w","id":7}`, ""},
		"an optional less": {`{"note":"mug"}`, `{"id":"ü"}`, `{"body":{"reason":"undone: mug"},"id":"ü"}`, ""},
		"no id":            {`{"note":"mug"}`, `{}`, "", "input.id: no such key: id"},
		"no object":        {`{"note":"mug"}`, `[7]`, "", "input.etag: "},
		"no result":        {`{"note":"mug"}`, ``, "", "input.id: no such key: id"},
		"no note":          {`{}`, `{"id":7}`, "", "input.body: no such key: note"},
		"no input":         {``, `{"id":7}`, "", "input.body: no such key: note"},
		"broken":           {`{"note":"mug"}`, `{`, "", "the result cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := u.Of(json.RawMessage(test.input), json.RawMessage(test.result))
			if test.fault != "" {
				if err == nil || !strings.HasPrefix(err.Error(), test.fault) {
					t.Errorf("error %v, want %q", err, test.fault)
				}
				return
			}
			if err != nil || got.Tool != "shop.orders.cancel" || string(got.Input) != test.want || got.Reason != "" {
				t.Errorf("%+v, error %v, want %s", got, err, test.want)
			}
		})
	}
}

func TestDeclarationsThatCannotBe(t *testing.T) {
	for want, change := range map[string]func(*undo.Declaration){
		"write: ":         func(d *undo.Declaration) { d.Write = "orders" },
		"tool: ":          func(d *undo.Declaration) { d.Tool = "" },
		"input.id: 1:1: ": func(d *undo.Declaration) { d.Input = map[string]string{"id": "output.id"} },
	} {
		d := cancel
		change(&d)
		if _, err := undo.Compile(d); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
