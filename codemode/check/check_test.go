package check_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/codemode/check"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

// tools is a catalog of schemas by id.
type tools map[string]string

func (t tools) Lookup(id string) (json.RawMessage, bool) {
	text, ok := t[id]
	return json.RawMessage(text), ok
}

func (t tools) Nearest(id string) []string {
	if id == "orders.refnd" {
		return []string{"orders.refund", "orders.get"}
	}
	return nil
}

const refund = `{"type":"object","required":["order"],"additionalProperties":false,"properties":{
	"order":{"type":"string","minLength":2},"amount":{"type":"integer","minimum":1,"maximum":100},"reason":{"enum":["broken","late"]},
	"note":{"type":["string","null"]},"tags":{"type":"array","items":{"type":"string"},"maxItems":2},
	"to":{"oneOf":[{"$ref":"#/$defs/card"},{"$ref":"#/$defs/bank"}]}},
	"$defs":{"card":{"type":"object","required":["kind","number"],"properties":{"kind":{"const":"card"},"number":{"type":"string"}}},
	"bank":{"type":"object","required":["kind","iban"],"properties":{"kind":{"const":"bank"},"iban":{"type":"string"}}}}}`

var shop = tools{
	"orders.refund":  refund,
	"orders.get":     `{"type":"object","required":["order"],"properties":{"order":{"type":"string"}}}`,
	"clock.now":      `{"type":"object"}`,
	"notes.post-all": `{"type":"object","required":["text"],"properties":{"text":{"type":"string"}}}`,
	"broken.schema":  `{"type":`,
	"server.call":    `{"type":"object","properties":{"a":{"type":"string"}}}`,
}

// written makes a node of a value that is written out. A string that begins with
// $ stands for what is not: $ for anything, $string for a string, $... for a
// spread, $undefined.
func written(value any) check.Node {
	switch v := value.(type) {
	case string:
		if rest, special := strings.CutPrefix(v, "$"); special {
			switch rest {
			case "...":
				return check.Node{Kind: check.Spread}
			case "undefined":
				return check.Node{Kind: check.Undefined}
			}
			return check.Node{Type: rest}
		}
	case []any:
		node := check.Node{Kind: check.Array}
		for _, item := range v {
			node.Items = append(node.Items, written(item))
		}
		return node
	case object:
		node := check.Node{Kind: check.Object}
		for _, member := range v {
			name, _ := member[0].(string)
			node.Members = append(node.Members, check.Member{Name: name, Value: written(member[1])})
		}
		return node
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return check.Node{Kind: check.Literal, Value: text}
}

// object is an object literal: its members in order.
type object [][2]any

func callOf(path string, args ...any) check.Call {
	call := check.Call{Path: strings.Split(path, "."), Position: snippet.Position{Line: 1, Column: 1}}
	for _, value := range args {
		call.Args = append(call.Args, written(value))
	}
	return call
}

// said puts findings into lines.
func said(findings []check.Finding) string {
	var lines []string
	for _, f := range findings {
		line := strings.Join(strings.Fields(strings.Join([]string{f.Tool, f.Pointer, f.Message}, " ")), " ")
		if f.Hint != "" {
			line += " (" + f.Hint + ")"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestCheck(t *testing.T) {
	dropped := callOf("orders.get", object{{"order", "o-1"}})
	dropped.Dropped = true
	in := func(members ...[2]any) check.Call { return callOf("orders.refund", object(members)) }
	order := [2]any{"order", "o-1"}
	tests := []struct {
		name string
		call check.Call
		want string
	}{
		{"right", in(order, [2]any{"amount", 5}, [2]any{"reason", "late"}, [2]any{"tags", []any{"a"}}), ""},
		{"right by id", callOf("tools.call", object{{"id", "orders.refund"}, {"input", object{order}}}), ""},
		{"nothing at all for a tool that needs nothing", callOf("clock.now"), ""},
		{"null for a tool that needs nothing", callOf("clock.now", nil), ""},
		{"a namespace with a dash", callOf("notes.post-all", object{{"text", "a"}}), ""},

		{"missing", in([2]any{"amount", 5}), "orders.refund /order is required (add it: a string)"},
		{"missing, for it is undefined", in([2]any{"order", "$undefined"}), "orders.refund /order is required (add it: a string)"},
		{"no input", callOf("orders.refund"), "orders.refund /order is required (add it: a string)"},
		{"no input by id", callOf("tools.call", object{{"id", "orders.refund"}}), "orders.refund /order is required (add it: a string)"},
		{"extra", in(order, [2]any{"amont", 5}), `orders.refund /amont is not a known property (did you mean "amount"?)`},
		{"extra and unlike any", in(order, [2]any{"zzz", 5}), `orders.refund /zzz is not a known property (it takes "order", "amount", "reason", "note", "tags", "to")`},
		{"wrong kind", in([2]any{"order", 5}), "orders.refund /order is a number, want a string"},
		{"number in quotes", in(order, [2]any{"amount", "5"}), "orders.refund /amount is a string, want an integer (write 5 without quotes)"},
		{"fraction", in(order, [2]any{"amount", 5.5}), "orders.refund /amount is a number with a fraction, want an integer"},
		{"one in place of a list", in(order, [2]any{"tags", "a"}), "orders.refund /tags is a string, want an array (put it into a list: [ ... ])"},
		{"wrong item", in(order, [2]any{"tags", []any{"a", 1}}), "orders.refund /tags/1 is a number, want a string"},
		{"several types", in(order, [2]any{"note", 1}), "orders.refund /note is a number, want a string or null"},
		{"not among the constants", in(order, [2]any{"reason", "Broken "}), `orders.refund /reason must be "broken" or "late" (did you mean "broken"?)`},
		{"bounds", in([2]any{"order", "o"}, [2]any{"amount", 0}, [2]any{"tags", []any{"a", "b", "c"}}), "orders.refund /order has 1 characters, want at least 2\n" +
			"orders.refund /amount must be at least 1\norders.refund /tags has 3 items, want at most 2"},
		{"the branch that is meant", in(order, [2]any{"to", object{{"kind", "bank"}, {"number", "1"}}}), "orders.refund /to/iban is required (add it: a string)"},
		{"no branch", in(order, [2]any{"to", 7}), "orders.refund /to is a number, want an object"},
		{"no branch is meant", in(order, [2]any{"to", object{{"kind", "cash"}}}), `orders.refund /to fits none of 2 alternatives: /number is required; or /iban is required`},
		{"positional", callOf("orders.refund", "o-1", 5), "orders.refund takes one argument, the input as an object, and is given 2 (name the values: orders.refund({ name: value, ... }))"},
		{"not an object", callOf("clock.now", "o-1"), "clock.now is a string, want an object"},
		{"unknown tool", callOf("orders.refnd", object{}), `orders.refnd there is no tool "orders.refnd" (did you mean orders.refund or orders.get?)`},
		{"unknown tool by id", callOf("tools.call", object{{"id", "nothing.like"}}), `nothing.like there is no tool "nothing.like" (tools.search finds tools)`},
		{"by id and input", callOf("tools.call", "orders.get", object{{"order", 1}}), "orders.get /order is a number, want a string"},
		{"no id", callOf("tools.call", object{{"tool", "orders.get"}}), "tools.call has no id: it says which tool to call (tools.call({ id, input }))"},
		{"id of another kind", callOf("tools.call", object{{"id", 5}}), "tools.call /id is a number, want a string"},
		{"request of another kind", callOf("tools.call", 5), "tools.call takes an object { id, input }, and is given a number"},
		{"batch", callOf("tools.batch", object{{"calls", []any{
			object{{"id", "orders.get"}, {"input", object{order}}}, object{{"id", "orders.get"}}, object{{"id", "orders.refnd"}}, "$", "$...",
		}}}), "orders.get /order is required (add it: a string)\n" + `orders.refnd there is no tool "orders.refnd" (did you mean orders.refund or orders.get?)`},
		{"batch as a list", callOf("tools.batch", []any{object{{"id", "orders.get"}}}), "orders.get /order is required (add it: a string)"},
		{"dropped", dropped, "orders.get is not awaited: its result and its failure would be lost (await it, or keep the promise and await it later)"},
		{"certain kind", in([2]any{"order", "$number"}), "orders.refund /order is a number, want a string"},
		{"certain extra", in(order, [2]any{"zzz", "$string"}), `orders.refund /zzz is not a known property (it takes "order", "amount", "reason", "note", "tags", "to")`},
		{"after a spread", in([2]any{"", "$..."}, [2]any{"order", 7}), "orders.refund /order is a number, want a string"},
		{"the later of two", in([2]any{"order", 7}, order, [2]any{"amount", 5}, [2]any{"amount", true}), "orders.refund /amount is a boolean, want an integer"},

		{"unknown value", in([2]any{"order", "$"}), ""},
		{"unknown value may be undefined", in(order, [2]any{"zzz", "$"}), ""},
		{"unknown input", callOf("orders.refund", "$"), ""},
		{"unknown input by id", callOf("tools.call", object{{"id", "orders.refund"}, {"input", "$"}}), ""},
		{"spread may hold it", in([2]any{"", "$..."}), ""},
		{"spread may replace it", in([2]any{"order", 7}, [2]any{"", "$..."}), ""},
		{"spread arguments", callOf("orders.refund", "$...", 5), ""},
		{"spread request", callOf("tools.call", object{{"id", "orders.refnd"}, {"", "$..."}}), ""},
		{"spread items", in(order, [2]any{"tags", []any{"$...", "a"}}), ""},
		{"item after a spread", in(order, [2]any{"tags", []any{"$...", 1}}), "orders.refund /tags/1 is a number, want a string"},
		{"unknown id", callOf("tools.call", object{{"id", "$string"}, {"input", 5}}), ""},
		{"extra that is undefined", in(order, [2]any{"zzz", "$undefined"}), ""},
		{"method of a method", callOf("orders.refund.bind", nil), ""},
		{"method of all objects", callOf("orders.hasOwnProperty", "refund"), ""},
		{"function", callOf("fetch", 7), ""},
		{"search", callOf("tools.search", 7), ""},
		{"schema that cannot be read", callOf("broken.schema", 7), ""},
		{"namespace that is called as tools is", callOf("server.call", object{{"id", "nothing"}}), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, said(check.Check([]check.Call{tt.call}, shop))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSchemas holds a property against its schema.
func TestSchemas(t *testing.T) {
	tests := []struct {
		name, schema string
		value        any
		want         string
	}{
		{"never", `false`, 1, "/p is not allowed here"},
		{"anything", `true`, 1, ""},
		{"not is not judged", `{"not":{"type":"number"}}`, 1, ""},
		{"condition is not judged", `{"if":true,"then":false}`, 1, ""},
		{"all of", `{"allOf":[{"type":"string"},{"minLength":3}]}`, "ab", "/p has 2 characters, want at least 3"},
		{"one of both", `{"oneOf":[{"type":"string"},{"minLength":1}]}`, "ab", ""},
		{"any of types", `{"anyOf":[{"type":"string"},{"type":"null"}]}`, 1, "/p is a number, want a string or null"},
		{"default is as good as there", `{"type":"object","required":["a"],"properties":{"a":{"default":1}}}`, object{}, ""},
		{"default beyond a reference", `{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/$defs/D"}}}`, object{}, ""},
		{"readOnly is not asked for", `{"type":"object","required":["a"],"properties":{"a":{"readOnly":true}}}`, object{}, ""},
		{"nullable", `{"type":"string","nullable":true}`, nil, ""},
		{"null", `{"type":"string"}`, nil, "/p is null, want a string"},
		{"constant", `{"const":{"a":[1.0]}}`, object{{"a", []any{1}}}, ""},
		{"other constant", `{"const":{"a":[1]}}`, object{{"a", []any{2}}}, `/p must be {"a":[1]}`},
		{"constant in part", `{"const":{"a":[1]}}`, object{{"a", "$"}}, ""},
		{"constant that lacks a member", `{"const":{"a":1,"b":2}}`, object{{"a", 1}}, `/p must be {"a":1,"b":2}`},
		{"hidden characters in a constant", `{"const":"\u202e\u0000\""}`, "a", `/p must be "\u202e\x00\""`},
		{"exact numbers", `{"maximum":9007199254740993}`, json.Number("9007199254740993"), ""},
		{"beyond", `{"maximum":9007199254740993}`, json.Number("9007199254740994"), "/p must be at most 9007199254740993"},
		{"exponent", `{"type":"integer","maximum":4E31322574}`, json.Number("1e3"), ""},
		{"multiple", `{"multipleOf":0.01}`, 0.07, ""},
		{"no multiple", `{"multipleOf":0.01}`, 0.075, "/p must be a multiple of 0.01"},
		{"pattern", `{"pattern":"^a+$"}`, "b", `/p does not match the pattern "^a+$"`},
		{"pattern beyond Go's", `{"pattern":"^(?!b)"}`, "b", ""},
		{"tuple", `{"prefixItems":[{"type":"string"}],"items":false}`, []any{"a", 1}, "/p/1 is one item too many: at most 1"},
		{"tuple of later drafts", `{"items":[{"type":"string"}],"additionalItems":false}`, []any{1}, "/p/0 is a number, want a string"},
		{"name", `{"type":"object","propertyNames":{"enum":["a"]}}`, object{{"b", 1}}, `/p/b has a name that must be "a"`},
		{
			"name by pattern", `{"type":"object","patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false}`,
			object{{"x-a", 1}, {"y", 1}},
			"/p/x-a is a number, want a string\n/p/y is not a known property (it takes no properties)",
		},
		{"name by a pattern beyond Go's", `{"type":"object","patternProperties":{"^(?!a)":{}},"additionalProperties":false}`, object{{"a", 1}}, ""},
		{"map", `{"type":"object","additionalProperties":{"type":"string"}}`, object{{"a", 1}}, "/p/a is a number, want a string"},
		{"number of properties", `{"minProperties":2,"maxProperties":3}`, object{{"a", "$"}}, "/p has 1 properties, want at least 2"},
		{"properties that may be absent", `{"maxProperties":1}`, object{{"a", "$"}, {"b", 1}}, ""},
		{"reference to nowhere", `{"$ref":"#/nowhere"}`, 1, ""},
		{"reference to itself", `{"$ref":"#/properties/p"}`, 1, ""},
		{"other dialect", `{"$schema":"http://json-schema.org/draft-04/schema#","type":"string"}`, 1, ""},
		{"names that hurt", `{"type":"object","required":["a/b~\u202e"]}`, object{}, "/p/a~1b~0\ufffd is required"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tools := tools{"t.run": `{"type":"object","properties":{"p":` + tt.schema + `},"$defs":{"D":{"default":1}}}`}
			var want string
			for i, line := range strings.Split(tt.want, "\n") {
				if line != "" {
					want += strings.Repeat("\n", min(i, 1)) + "t.run " + line
				}
			}
			if diff := cmp.Diff(want, said(check.Check([]check.Call{callOf("t.run", object{{"p", tt.value}})}, tools))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFindingsAreOrderedAndBounded(t *testing.T) {
	var calls []check.Call
	for i := range 2 * check.MaxFindings {
		call := callOf("no.tool", object{})
		call.Position = snippet.Position{Line: 100 - i, Column: 1}
		calls = append(calls, call)
	}
	findings := check.Check(calls, shop)
	if len(findings) != check.MaxFindings+1 {
		t.Fatalf("%d findings, want %d", len(findings), check.MaxFindings+1)
	}
	for i, f := range findings {
		if f.Position.Line != 41+i {
			t.Fatalf("finding %d is of line %d", i, f.Position.Line)
		}
	}
	if last := findings[check.MaxFindings]; last.Message != fmt.Sprintf("and %d more findings", check.MaxFindings) {
		t.Errorf("the last finding is %+v", last)
	}
}

func TestPositionsAreOfWhatIsWrong(t *testing.T) {
	call := callOf("orders.refund", object{{"order", 5}, {"amount", "x"}})
	call.Position = snippet.Position{Line: 3, Column: 7}
	call.Args[0].Position = snippet.Position{Line: 3, Column: 21}
	call.Args[0].Members[0].Value.Position = snippet.Position{Line: 4, Column: 3}
	call.Args[0].Members[1].Value.Position = snippet.Position{Line: 5, Column: 3}
	missing := callOf("orders.get")
	missing.Position = snippet.Position{Line: 1, Column: 2}
	want := []check.Finding{
		{Position: snippet.Position{Line: 1, Column: 2}, Tool: "orders.get", Pointer: "/order", Message: "is required", Hint: "add it: a string"},
		{Position: snippet.Position{Line: 4, Column: 3}, Tool: "orders.refund", Pointer: "/order", Message: "is a number, want a string"},
		{Position: snippet.Position{Line: 5, Column: 3}, Tool: "orders.refund", Pointer: "/amount", Message: "is a string, want an integer"},
	}
	if diff := cmp.Diff(want, check.Check([]check.Call{call, missing}, shop)); diff != "" {
		t.Error(diff)
	}
}
