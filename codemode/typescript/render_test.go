package typescript_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/codemode/typescript"
)

func TestRender(t *testing.T) {
	got := typescript.Render(typescript.Tool{
		ID:          "orders.refund",
		Description: "Pays an order back.\n\nAsk first.",
		Input: json.RawMessage(`{"type":"object","required":["order"],"properties":{
			"order":{"type":"string","description":"The order's id.","pattern":"^o-"},
			"amount":{"type":"integer","minimum":1,"description":"Cents.\nAll of it if absent."},
			"to":{"$ref":"#/$defs/account"}},
			"$defs":{"account":{"type":"object","required":["iban"],"properties":{"iban":{"type":"string"}}}}}`),
		Output: json.RawMessage(`{"type":"object","required":["id","state"],"properties":{
			"id":{"type":"string"},"state":{"enum":["done","pending"]},"to":{"$ref":"#/$defs/account"}},
			"$defs":{"account":{"type":"object","required":["iban"],"properties":{"iban":{"type":"string"}}}}}`),
	})
	want := typescript.Declaration{
		Source: `interface OrdersRefundInput {
  /** The order's id. @pattern ^o- */
  order: string;
  /**
   * Cents.
   * All of it if absent.
   * @integer @minimum 1
   */
  amount?: number;
  to?: Account;
}

interface Account {
  iban: string;
}

interface OrdersRefundOutput {
  id: string;
  state: "done" | "pending";
  to?: Account;
}

declare const orders: {
  /**
   * Pays an order back.
   *
   * Ask first.
   */
  refund(input: OrdersRefundInput): Promise<OrdersRefundOutput>;
};
`,
		Signature: `orders.refund(input: { order: string; amount?: number; to?: { iban: string } }): ` +
			`Promise<{ id: string; state: "done" | "pending"; to?: { iban: string } }>`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestTypes renders a schema as the type of a required property.
func TestTypes(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"anything", `{}`, `unknown`},
		{"true", `true`, `unknown`},
		{"nothing", `false`, `never`},
		{"integer", `{"type":"integer"}`, `number`},
		{"several types", `{"type":["string","integer","null"]}`, `string | number | null`},
		{"nullable", `{"type":"string","nullable":true}`, `string | null`},
		{"nullable twice", `{"type":["string","null"],"nullable":true}`, `string | null`},
		{"nullable constants", `{"type":"string","enum":["a"],"nullable":true}`, `"a" | null`},
		{"constants of other types", `{"type":"string","enum":["a",1,"b"]}`, `"a" | "b"`},
		{"no constant is of the type", `{"type":"string","enum":[1]}`, `never /* none of the constants is of the type */`},
		{"object without more", `{"type":"object"}`, `{ [key: string]: unknown }`},
		{"object without keys", `{"type":"object","additionalProperties":false}`, `{ [key: string]: never }`},
		{"map", `{"type":"object","additionalProperties":{"type":"number"}}`, `{ [key: string]: number }`},
		{"object that names no type", `{"properties":{"a":{}}}`, `{ a?: unknown }`},
		{"required and not described", `{"type":"object","required":["a"]}`, `{ a: unknown }`},
		{"list", `{"type":"array"}`, `unknown[]`},
		{"list of unions", `{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"number"}]}}`, `(string | number)[]`},
		{"list of lists", `{"items":{"items":{"type":"string"}}}`, `string[][]`},
		{"tuple that may be shorter", `{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}],"items":false}`, `[string?, number?]`},
		{"open tuple", `{"type":"array","minItems":1,"prefixItems":[{"type":"string"}]}`, `[string, ...unknown[]]`},
		{"tuple with a rest", `{"type":"array","minItems":1,"prefixItems":[{}],"items":{"enum":[1,2]}}`, `[unknown, ...(1 | 2)[]]`},
		{"union", `{"oneOf":[{"type":"string"},{"type":"null"}]}`, `string | null`},
		{"union in union", `{"anyOf":[{"anyOf":[{"type":"string"},{"type":"null"}]},{"type":"null"}]}`, `string | null`},
		{"union beside its type", `{"type":"string","anyOf":[{"const":"a"},{"const":"b"}]}`, `"a" | "b"`},
		{"union beside a narrower type", `{"type":"string","anyOf":[{"type":"string"},{"type":"number"}]}`, `string`},
		{"alternatives of no type", `{"type":"string","anyOf":[{"minLength":1},{"maxLength":9}]}`, `string`},
		{"all of one object", `{"allOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{}},"required":["a"]}]}`, `{ a: string; b?: unknown }`},
		{"contradiction", `{"allOf":[{"type":"string"},{"type":"number"}]}`, `never /* allows no value: it would have to be string and number */`},
		{"not", `{"type":"string","not":{"const":"a"}}`, `string /* and more conditions: not */`},
		{"condition", `{"type":"string","if":{"const":"a"},"then":false}`, `string /* and more conditions: if */`},
		{"elsewhere", `{"$ref":"https://example.com/x"}`, `unknown /* "https://example.com/x" refers to another document, and none is ever fetched */`},
		{"nowhere", `{"$ref":"#/$defs/none"}`, `unknown /* "#/$defs/none" refers to a place that is not there */`},
		{"itself", `{"$ref":"#/properties/p"}`, `P`},
		{"no schema", `7`, `unknown /* is not a schema */`},
		{"no type", `{"type":"file"}`, `unknown /* names no type */`},
		{"exact only as text", `{"const":9007199254740993}`, `number /* only 9007199254740993 */`},
		{"quoted constant", `{"const":"a\"\n\u202e\u0000"}`, `"a\"\n\u202e\u0000"`},
		{"constant beyond the basic plane", `{"const":"\ud83d\ude00\udb40\udc41"}`, "\"\U0001f600\\u{e0041}\""},
		{"object as a constant", `{"const":{"a b":[1,{}]}}`, `{ "a b": [1, { [key: string]: never }] }`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := typescript.Render(typescript.Tool{
				ID: "t.run", Output: json.RawMessage(`{"type":"object","required":["p"],"properties":{"p":` + tt.schema + `}}`),
			})
			match := regexp.MustCompile(`(?m)^  p: (.*);$`).FindStringSubmatch(d.Source)
			if match == nil || match[1] != tt.want {
				t.Errorf("p is not %s in\n%s", tt.want, d.Source)
			}
		})
	}
}

// TestDocs renders what a schema says as the comment on a property.
func TestDocs(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"description", `{"description":"A text."}`, `/** A text. */`},
		{"title that says something", `{"title":"Order number"}`, `/** Order number */`},
		{"title that says nothing", `{"title":"P"}`, ``},
		{
			"constraints", `{"type":"string","minLength":1,"maxLength":9,"pattern":"^a*/b$","format":"email"}`,
			`/** @format email @pattern ^a*\/b$ @minLength 1 @maxLength 9 */`,
		},
		{"bounds", `{"type":"number","minimum":0,"exclusiveMaximum":1,"multipleOf":0.1}`, `/** @minimum 0 @exclusiveMaximum 1 @multipleOf 0.1 */`},
		{"default and examples", `{"default":true,"examples":["a",{"b":1}]}`, `/** @default true @example "a" @example {"b":1} */`},
		{"deprecated", `{"deprecated":true,"description":"Old."}`, `/** Old. @deprecated */`},
		{"64 bits", `{"type":"integer","format":"int64"}`, `/** @integer @format int64 @remarks exact up to 9007199254740991 (2^53 - 1) */`},
		{"beside a reference", `{"$ref":"#/$defs/D","description":"Mine."}`, `/** Mine. */`},
		{"of what a list lists", `{"type":"array","description":"Ids.","items":{"type":"string","description":"An id."}}`, "/**\n   * Ids.\n   * Each: An id.\n   */"},
		{"of the alternative to null", `{"anyOf":[{"type":"string","description":"Inner."},{"type":"null"}]}`, `/** Inner. */`},
		{"blank", `{"description":" \n\n\t"}`, ``},
		{"lines", `{"description":"a\r\n\r\n\r\nb\u2028c  \n"}`, "/**\n   * a\n   *\n   * b\n   * c\n   */"},
		{"hidden characters", `{"description":"a\u200b\u202eb\u0000\udb40\udc41"}`, `/** ab */`},
		{"end of a comment", `{"description":"a */ b *\u200b/ c"}`, `/** a *\/ b *\/ c */`},
		{"directives", `{"description":"@ts-ignore\n * @ts-expect-error\n//@deprecated"}`, "/**\n   * \\@ts-ignore\n   *  * \\@ts-expect-error\n   * //\\@deprecated\n   */"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := typescript.Render(typescript.Tool{
				ID: "t.run", Output: json.RawMessage(`{"type":"object","properties":{"p":` + tt.schema + `},"$defs":{"D":{"description":"Its."}}}`),
			})
			_, text, _ := strings.Cut(d.Source, "interface TRunOutput {\n  ")
			text, _, _ = strings.Cut(text, "p?:")
			if strings.TrimSpace(text) != tt.want {
				t.Errorf("the comment is\n%s\nwant\n%s", text, tt.want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	d := typescript.Render(typescript.Tool{
		ID: "t.run",
		Input: json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"#/$defs/a-b"},"b":{"$ref":"#/$defs/a_b"},"c":{"$ref":"#/$defs/Promise"},
			"d":{"$ref":"#/$defs/ключ"},"e":{"$ref":"#/$defs/2fa"},"f":{"$ref":"#/$defs/TRunOutput"},"g":{"$ref":"#/$defs/Shared"},"h":{"$ref":"#/$defs/Differs"}},
			"$defs":{"a-b":{"properties":{"x":{}}},"a_b":{"properties":{"y":{}}},"Promise":{"type":"string"},"ключ":{"type":"string"},"2fa":{"type":"string"},
			"TRunOutput":{"type":"string"},"Shared":{"properties":{"next":{"$ref":"#/$defs/Shared"}}},"Differs":{"type":"string"}}}`),
		Output: json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"#/$defs/Shared"},"b":{"$ref":"#/$defs/Differs"}},
			"$defs":{"Shared":{"properties":{"next":{"$ref":"#/$defs/Shared"}}},"Differs":{"type":"number"}}}`),
	})
	var names []string
	for _, match := range regexp.MustCompile(`(?m)^(?:interface|type) (\w+)`).FindAllStringSubmatch(d.Source, -1) {
		names = append(names, match[1])
	}
	want := []string{
		"TRunInput", "AB", "AB2", "PromiseType", "Type", "T2fa", "TRunOutput2", "Shared", "Differs", "TRunOutput", "DiffersOutput",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("%s\n%s", diff, d.Source)
	}
}

func TestExpression(t *testing.T) {
	tests := map[string]string{
		"orders.refund":          "orders.refund",
		"github.issues.create":   "github.issues.create",
		"notion.API-post-search": `notion["API-post-search"]`,
		"files.delete":           "files.delete",
		"my-server.do-it.now":    `my_server["do-it"].now`,
		"console.log":            "console_.log",
		"class.of":               "class_.of",
		"a.\"\n\u202e":           "a.___",
		"alone":                  "alone",
		"":                       "_",
	}
	for id, want := range tests {
		if got := typescript.Expression(id); got != want {
			t.Errorf("Expression(%q) = %s, want %s", id, got, want)
		}
	}
}

func TestOutput(t *testing.T) {
	tests := []struct{ schema, want string }{
		{``, "Promise<unknown>"},
		{`{"type":"array","items":{"type":"string"}}`, "Promise<string[]>"},
		{`{"type":["string","null"]}`, "Promise<string | null>"},
		{`{"type":"string","description":"A text."}`, "Promise<TRunOutput>"},
		{`{"type":"array","items":{"$ref":"#/$defs/Order"},"$defs":{"Order":{"properties":{"id":{}}}}}`, "Promise<Order[]>"},
		{`{"type":"object","properties":{"next":{"$ref":"#"}}}`, "Promise<TRunOutput>"},
		{`{"type":"array","items":{"$ref":"#"}}`, "Promise<TRunOutput>"},
		{`{"type":"object"}`, "Promise<{ [key: string]: unknown }>"},
	}
	for _, tt := range tests {
		d := typescript.Render(typescript.Tool{ID: "t.run", Output: json.RawMessage(tt.schema)})
		if !strings.Contains(d.Source, "run(input?: unknown): "+tt.want+";") {
			t.Errorf("the output of %s is not %s in\n%s", tt.schema, tt.want, d.Source)
		}
	}
}

func TestInputThatMayBeLeftOut(t *testing.T) {
	tests := []struct{ schema, want string }{
		{`{"type":"object"}`, "t.run(input?: {}): "},
		{`{"type":"object","properties":{}}`, "t.run(input?: {}): "},
		{`{"type":"object","additionalProperties":false}`, "t.run(input?: { [key: string]: never }): "},
		{`{"type":"object","properties":{"a":{}}}`, "t.run(input?: { a?: unknown }): "},
		{`{"type":"object","required":["a"]}`, "t.run(input: { a: unknown }): "},
		{`{"anyOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}}}]}`, "t.run(input?: { a: unknown } | { b?: unknown }): "},
		{``, "t.run(input?: unknown): "},
		{`{`, "t.run(input?: unknown): "},
	}
	for _, tt := range tests {
		d := typescript.Render(typescript.Tool{ID: "t.run", Input: json.RawMessage(tt.schema)})
		if want := tt.want + "Promise<unknown>"; d.Signature != want {
			t.Errorf("the signature of %s is\n%s, want\n%s", tt.schema, d.Signature, want)
		}
	}
}

func TestDegraded(t *testing.T) {
	tests := []struct {
		name, schema, pointer, reason string
	}{
		{"malformed", `{"type":`, "", "is not valid JSON"},
		{"reference to nowhere", `{"properties":{"a/b":{"items":{"$ref":"#/x"}}}}`, "/properties/a~1b/items/$ref", "not there"},
		{"reference elsewhere", `{"properties":{"a":{"$ref":"file:///etc/passwd"}}}`, "/properties/a/$ref", "another document"},
		{"dynamic reference", `{"properties":{"a":{"$dynamicRef":"#x"}}}`, "/properties/a/$dynamicRef", "depends"},
		{"not", `{"properties":{"a":{"not":{"type":"string"}}}}`, "/properties/a/not", "not expressed"},
		{"itself", `{"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"anyOf":[{"$ref":"#/$defs/A"},{"type":"string"}]}}}`, "/$defs/A/anyOf/0", "itself"},
		{"contradiction", `{"properties":{"a":{"allOf":[{"type":"string"},{"type":"null"}]}}}`, "/properties/a", "no value"},
		{"required and readOnly", `{"required":["a"],"properties":{"a":{"readOnly":true}}}`, "/properties/a", "left out of the input"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := typescript.Render(typescript.Tool{ID: "t.run", Input: json.RawMessage(tt.schema)})
			if len(d.Degraded) != 1 || d.Degraded[0].Schema != "input" || d.Degraded[0].Pointer != tt.pointer || !strings.Contains(d.Degraded[0].Reason, tt.reason) {
				t.Errorf("Degraded = %+v, want %s at %q", d.Degraded, tt.reason, tt.pointer)
			}
		})
	}
}
