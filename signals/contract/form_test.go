package contract_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/signals/contract"
)

const orderForm = `{"type":"object","title":"x","properties":{
	"name":{"type":"string","minLength":2,"maxLength":4},
	"mail":{"type":"string","format":"email"},
	"page":{"type":"string","format":"uri"},
	"day":{"type":"string","format":"date"},
	"at":{"type":"string","format":"date-time"},
	"copies":{"type":"integer","minimum":1,"maximum":9,"default":1},
	"price":{"type":"number"},
	"gift":{"type":"boolean","default":false},
	"size":{"type":"string","enum":["s","l"],"enumNames":["Small","Large"]},
	"colour":{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"g","title":"Green"}]},
	"extras":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["bow","card","box"]}},
	"tags":{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}
},"required":["name"]}`

func TestFormFills(t *testing.T) {
	form, err := contract.ParseForm(json.RawMessage(orderForm))
	if err != nil {
		t.Fatal(err)
	}
	for content, want := range map[string]string{
		`{"name":"Ann"}`: `{"name":"Ann","copies":1,"gift":false}`,
		` {"gift" : true, "name":"äöüß", "copies": 9} `:                                                                  `{"name":"äöüß","copies":9,"gift":true}`,
		`{"name":"Ann","copies":2.0,"price":1e3}`:                                                                        `{"name":"Ann","copies":2.0,"price":1e3,"gift":false}`,
		`{"name":"Ann","extras":["bow","box"],"tags":["a"],"size":"l","colour":"g"}`:                                     `{"name":"Ann","copies":1,"gift":false,"size":"l","colour":"g","extras":["bow","box"],"tags":["a"]}`,
		`{"name":"Ann","mail":"a@b","page":"https://x.example/y?z","day":"2026-02-28","at":"2026-02-28T10:00:00+01:00"}`: `{"name":"Ann","mail":"a@b","page":"https://x.example/y?z","day":"2026-02-28","at":"2026-02-28T10:00:00+01:00","copies":1,"gift":false}`,
	} {
		got, err := form.Fill(json.RawMessage(content))
		if err != nil || string(got) != want {
			t.Errorf("%s is %s, %v; want %s", content, got, err, want)
		}
	}
	for content, want := range map[string]string{
		``:                                          "content.name: is missing",
		`null`:                                      "content: want a JSON object",
		`[1]`:                                       "content: want a JSON object",
		`{"name":"Ann"`:                             "content: ",
		`{"name":"Ann","name":"Bob"}`:               `content: "name" stands there twice`,
		`{"name":"A"}`:                              "content.name: want 2 characters at least",
		`{"name":"Ann Lee"}`:                        "content.name: want 4 characters at most",
		`{"name":null}`:                             "content.name: want a string",
		`{"name":7}`:                                "content.name: want a string",
		`{"name":"Ann","mail":"a@b@c"}`:             "content.mail: want an email",
		`{"name":"Ann","mail":"a b@c"}`:             "content.mail: want an email",
		`{"name":"Ann","page":"x y:z"}`:             "content.page: want a URI",
		`{"name":"Ann","page":"//x"}`:               "content.page: want a URI",
		`{"name":"Ann","day":"2026-02-30"}`:         "content.day: want a date",
		`{"name":"Ann","at":"2026-02-28"}`:          "content.at: want a date and time",
		`{"name":"Ann","copies":0}`:                 "content.copies: want 1 at least",
		`{"name":"Ann","copies":10}`:                "content.copies: want 9 at most",
		`{"name":"Ann","copies":"1"}`:               "content.copies: want a number",
		`{"name":"Ann","price":null}`:               "content.price: want a number",
		`{"name":"Ann","price":1e999}`:              "content.price: want a number",
		`{"name":"Ann","gift":"true"}`:              "content.gift: want true or false",
		`{"name":"Ann","size":"m"}`:                 `content.size: want one of "s", "l"`,
		`{"name":"Ann","colour":"Red"}`:             `content.colour: want one of "r", "g"`,
		`{"name":"Ann","extras":[]}`:                "content.extras: want 1 items at least",
		`{"name":"Ann","extras":["bow","b"]}`:       "content.extras: item 2: want one of",
		`{"name":"Ann","extras":"bow"}`:             "content.extras: want a list of strings",
		`{"name":"Ann","more":1}`:                   "content.more: the question has no such field",
		`{"name":"Ann","__proto__":{"name":"Bob"}}`: "content.__proto__: the question has no such field",
	} {
		if got, err := form.Fill(json.RawMessage(content)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s is %s, %v; want %q", content, got, err, want)
		}
	}
}

func TestNoForm(t *testing.T) {
	for schema, want := range map[string]string{
		`{}`:                "schema.type",
		`[]`:                "schema: ",
		`{"type":"string"}`: "schema.type",
		`{"type":"object","properties":{"a":{"type":"object"}}}`:                                "schema.properties.a.type",
		`{"type":"object","properties":{"a":{"type":["string","null"]}}}`:                       "schema.properties.a",
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}`:       "schema.properties.a: an array",
		`{"type":"object","properties":{"a":{"type":"integer","default":"x"}}}`:                 "schema.properties.a.default: want a number",
		`{"type":"object","required":["b"]}`:                                                    "schema.required",
		`{"type":"object","properties":{"a":{"type":"string"},"a":{"type":"boolean"}}}`:         `schema: "a" stands there twice`,
		`{"type":"object","x":"` + strings.Repeat("x", contract.MaxQuestionSchema) + `"}`:       "schema: is ",
		`{"type":"object","properties":{` + strings.Repeat(`"":{},`, contract.MaxFields) + `}}`: "schema: ",
	} {
		if _, err := contract.ParseForm(json.RawMessage(schema)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.80s is %v, want %q", schema, err, want)
		}
	}
}

func TestQuestionsThatCannotBeAsked(t *testing.T) {
	ok := contract.Question{From: "shop", Message: "?"}
	if err := ok.Validate(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*contract.Question){
		"message: is empty":        func(q *contract.Question) { q.Message = "" },
		"message: is 2049":         func(q *contract.Question) { q.Message = strings.Repeat("x", contract.MaxQuestion+1) },
		"from: is not valid UTF-8": func(q *contract.Question) { q.From = "\xff" },
		"url: a question has": func(q *contract.Question) {
			q.URL, q.Schema = "https://x.example", json.RawMessage(`{"type":"object"}`)
		},
		`url: has the scheme "ht`: func(q *contract.Question) { q.URL = "http://x.example" },
		`url: has the scheme "fi`: func(q *contract.Question) { q.URL = "file://x/etc/passwd" },
		"url: want one":           func(q *contract.Question) { q.URL = "javascript:alert(1)" },
		"url: want one such":      func(q *contract.Question) { q.URL = "https://user:pw@x.example" },
		"url: holds":              func(q *contract.Question) { q.URL = "https://x.example/\u202e" },
	} {
		q := ok
		change(&q)
		if err := q.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v is %v, want %q", q, err, want)
		}
	}
	for _, address := range []string{"https://x.example/a?b=c", "http://localhost:8080/x", "http://127.0.0.1/x", "http://[::1]:1/"} {
		q := ok
		if q.URL = address; q.Validate() != nil {
			t.Errorf("%s: %v", address, q.Validate())
		}
	}
}

// What a form has filled in, it takes, and fills no further.
func FuzzForm(f *testing.F) {
	f.Add(orderForm, `{"name":"Ann","extras":["bow"]}`)
	f.Add(`{"type":"object","properties":{"a":{"type":"number","default":1e400}}}`, `{"a":-0}`)
	f.Fuzz(func(t *testing.T, schema, content string) {
		form, err := contract.ParseForm(json.RawMessage(schema))
		if err != nil {
			return
		}
		filled, err := form.Fill(json.RawMessage(content))
		if err != nil {
			return
		}
		if !json.Valid(filled) {
			t.Fatalf("%q is no JSON", filled)
		}
		again, err := form.Fill(filled)
		if err != nil || string(again) != string(filled) {
			t.Fatalf("%s, filled again, is %s, %v", filled, again, err)
		}
	})
}
