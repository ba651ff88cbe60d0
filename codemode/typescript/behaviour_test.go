package typescript_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/codemode/typescript"
)

// behaviour is a program that must compile against a tool's declaration. Where it
// says @ts-expect-error, the next line must not compile.
type behaviour struct {
	name    string
	input   string
	output  string
	program string
}

func (b behaviour) module(t testing.TB) module {
	tool := typescript.Tool{ID: "t.run", Input: schema(t, b.input), Output: schema(t, b.output)}
	return declared("behaviour "+b.name, tool.ID, typescript.Render(tool), same+b.program)
}

// same lets a program demand that two types are one.
const same = `
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
declare function same<A, B>(proof: Same<A, B>): void;
`

// caseFile names a recorded case that holds the schema.
func caseFile(name string) string { return recorded + name }

const recorded = "case:"

// schema reads the schema that a behaviour names or holds.
func schema(t testing.TB, text string) json.RawMessage {
	t.Helper()
	name, isCase := strings.CutPrefix(text, recorded)
	if !isCase {
		return json.RawMessage(text)
	}
	content, err := os.ReadFile(shared(t, "cases/inputs/"+name)[0])
	if err != nil {
		t.Fatal(err)
	}
	return content
}

var behaviours = []behaviour{
	{
		name: "a typed result has its type, an untyped one is unknown", input: `{"type":"object"}`,
		output: `{"type":"object","required":["echo"],"properties":{"echo":{"type":"string"}}}`,
		program: `
			const typed = await t.run();
			same<typeof typed.echo, string>(true);
			// @ts-expect-error there is no such property
			typed.nothing;`,
	},
	{
		name: "no output schema", input: `{"type":"object"}`,
		program: `
			const untyped = await t.run({});
			same<typeof untyped, unknown>(true);
			// @ts-expect-error nothing is known of it
			untyped.content;`,
	},
	{
		name: "odd property names", input: caseFile("ts-odd-property-names.json"), output: caseFile("ts-odd-property-names.json"),
		program: `
			await t.run({ "x[0]": 1, "ключ": {}, "new\nline": 2, "": "empty", "2fa": true, class: null, "a\"b": 1 });
			const out = await t.run({ "x[0]": 1 });
			same<(typeof out)["x[0]"], number>(true);
			// @ts-expect-error it is required
			await t.run({ "app.prop": "a" });`,
	},
	{
		name: "named properties beside an index signature", input: caseFile("ts-index-signature-clash.json"),
		output: caseFile("ts-index-signature-clash.json"),
		program: `
			const out = await t.run({ id: 1, _a: "text", other: { v: 1 }, $schema: "s" });
			same<typeof out.id, number>(true);
			const other = out["other"];
			if (typeof other === "object") { const v: number | undefined = other.v; }
			// @ts-expect-error it is required
			await t.run({ opt: true });
			// @ts-expect-error absent is not undefined
			await t.run({ id: 1, opt: undefined });`,
	},
	{
		name: "properties called like keywords", input: caseFile("ts-property-called-description.json"),
		output: caseFile("ts-property-called-description.json"),
		program: `
			const out = await t.run({ description: "d", type: "t", properties: { required: true }, $ref: "r", enum: ["e"], items: 1, default: [] });
			same<typeof out.enum, string[] | undefined>(true);`,
	},
	{
		name: "unions and intersections", input: caseFile("ts-unions-and-allof.json"), output: caseFile("ts-unions-and-allof.json"),
		program: `
			const out = await t.run();
			const u = out.u!;
			if (u.k === "b") { same<typeof u.n, number | null | undefined>(true); } else { same<typeof u.k, "a">(true); }
			same<NonNullable<typeof out.i>["k"], "a">(true);
			const z: string | undefined = out.i!.z;
			same<NonNullable<typeof out.m>, (string | number)[]>(true);
			await t.run({ t: ["a", 1], m: ["a", 1], n: 7 });
			await t.run({ t: ["a"] });
			// @ts-expect-error the tuple is closed
			await t.run({ t: ["a", 1, 2] });
			// @ts-expect-error never fits nothing
			await t.run({ none: 1 });
			// @ts-expect-error the parts are both demanded
			await t.run({ i: { z: "z" } });`,
	},
	{
		name: "recursion, direct and through arrays, maps, allOf and each other",
		input: `{"type":"object","required":["node"],"properties":{"node":{"$ref":"#/$defs/Node"},"self":{"$ref":"#"}},"$defs":{
			"Node":{"type":"object","required":["text"],"properties":{"text":{"type":"string"},"replies":{"type":"array","items":{"$ref":"#/$defs/Node"}},
				"byTag":{"type":"object","additionalProperties":{"$ref":"#/$defs/Node"}},"folder":{"$ref":"#/$defs/Folder"}}},
			"Folder":{"allOf":[{"$ref":"#/$defs/Named"},{"type":"object","properties":{"owner":{"$ref":"#/$defs/Person"}}}]},
			"Person":{"allOf":[{"type":"object","properties":{"home":{"$ref":"#/$defs/Folder"}}}]},
			"Named":{"type":"object","properties":{"name":{"type":"string"}}}}}`,
		program: `
			const node: Node = { text: "a", replies: [{ text: "b", replies: [{ text: "c" }] }], byTag: { x: { text: "d" } } };
			node.folder = { name: "f", owner: { home: { owner: { home: { name: "g" } } } } };
			await t.run({ node, self: { node } });
			// @ts-expect-error three levels down the type still holds
			await t.run({ node: { text: "a", replies: [{ text: "b", replies: [{ text: 7 }] }] } });`,
	},
	{
		name: "null in both styles",
		output: `{"type":"object","required":["a","b","c","d","e"],"properties":{
			"a":{"type":"number","nullable":true},"b":{"type":"string","nullable":true,"enum":["kg","lb"]},
			"c":{"nullable":true,"allOf":[{"$ref":"#/$defs/Owner"}]},"d":{"type":["integer","null"]},
			"e":{"anyOf":[{"type":"string"},{"type":"null"}]}},
			"$defs":{"Owner":{"type":"object","properties":{"id":{"type":"integer"}}}}}`,
		program: `
			const out = await t.run();
			same<typeof out.a, number | null>(true);
			same<typeof out.b, "kg" | "lb" | null>(true);
			same<typeof out.c, Owner | null>(true);
			same<typeof out.d, number | null>(true);
			same<typeof out.e, string | null>(true);`,
	},
	{
		name: "a discriminator tags the union",
		output: `{"type":"object","required":["pet"],"properties":{"pet":{"oneOf":[{"$ref":"#/$defs/Cat"},{"$ref":"#/$defs/Dog"},{"$ref":"#/$defs/Eel"}],
			"discriminator":{"propertyName":"kind","mapping":{"cat":"#/components/schemas/Cat","dog":"Dog","hound":"#/$defs/Dog"}}}},
			"$defs":{"Base":{"type":"object","required":["kind"],"properties":{"kind":{"type":"string"}}},
			"Cat":{"allOf":[{"$ref":"#/$defs/Base"},{"type":"object","required":["lives"],"properties":{"lives":{"type":"integer"}}}]},
			"Dog":{"allOf":[{"$ref":"#/$defs/Base"},{"type":"object","required":["bark"],"properties":{"bark":{"type":"boolean"}}}]},
			"Eel":{"type":"object","required":["kind"],"properties":{"kind":{"const":"eel"},"volts":{"type":"number"}}}}}`,
		program: `
			const { pet } = await t.run();
			switch (pet.kind) {
				case "cat": same<typeof pet.lives, number>(true); break;
				case "dog": same<typeof pet.bark, boolean>(true); break;
				case "hound": same<typeof pet.bark, boolean>(true); break;
				case "eel": same<typeof pet.volts, number | undefined>(true); break;
				default: same<typeof pet, never>(true);
			}`,
	},
	{
		name: "constants of every kind",
		input: `{"type":"object","required":["v"],"properties":{"v":{"enum":["a\"b","*/",1,-2.5,true,null,{"x":[1,"y"]},[]]},
			"s":{"type":"string","enum":["a",1,null]},"big":{"const":9007199254740993},"q":{"const":{"a b":{}}}}}`,
		program: `
			await t.run({ v: "a\"b" }); await t.run({ v: -2.5 }); await t.run({ v: { x: [1, "y"] } }); await t.run({ v: [] });
			await t.run({ v: null, s: "a", big: 9007199254740993, q: { "a b": {} } });
			// @ts-expect-error not among them
			await t.run({ v: "a" });
			// @ts-expect-error not of the type, so not among them either
			await t.run({ v: 1, s: 1 });`,
	},
	{
		name: "tuples",
		input: `{"type":"object","properties":{
			"open":{"type":"array","minItems":1,"prefixItems":[{"type":"string"},{"type":"number"}]},
			"rest":{"type":"array","minItems":2,"prefixItems":[{"type":"string"},{"type":"number"}],"items":{"type":"boolean"}},
			"short":{"type":"array","maxItems":1,"prefixItems":[{"type":"string"},{"type":"number"}]},
			"none":{"type":"array","items":false}}}`,
		program: `
			await t.run({ open: ["a"], rest: ["a", 1, true, false], short: ["a"], none: [] });
			await t.run({ open: ["a", 1, {}] });
			// @ts-expect-error one is demanded
			await t.run({ open: [] });
			// @ts-expect-error the rest is boolean
			await t.run({ rest: ["a", 1, "b"] });
			// @ts-expect-error one is allowed
			await t.run({ short: ["a", 1] });
			// @ts-expect-error none is allowed
			await t.run({ none: [1] });`,
	},
	{
		name:  "tuples of draft 7",
		input: `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"t":{"type":"array","items":[{"type":"string"}],"additionalItems":false}}}`,
		program: `
			await t.run({ t: ["a"] });
			// @ts-expect-error it is closed
			await t.run({ t: ["a", "b"] });`,
	},
	{
		name:   "readOnly does not go in, writeOnly does not come out",
		input:  `{"type":"object","required":["name"],"properties":{"id":{"type":"string","readOnly":true},"name":{"type":"string"},"key":{"$ref":"#/$defs/Key"}},"$defs":{"Key":{"type":"string","writeOnly":true}}}`,
		output: `{"type":"object","required":["id","name"],"properties":{"id":{"type":"string","readOnly":true},"name":{"type":"string"},"key":{"$ref":"#/$defs/Key"}},"$defs":{"Key":{"type":"string","writeOnly":true}}}`,
		program: `
			const out = await t.run({ name: "n", key: "k" });
			same<typeof out.id, string>(true);
			// @ts-expect-error it does not come out
			out.key;
			// @ts-expect-error it does not go in
			await t.run({ name: "n", id: "i" });`,
	},
	{
		name:  "one of several properties is required",
		input: `{"type":"object","properties":{"who":{"type":"string"},"where":{"type":"number"}},"additionalProperties":false,"anyOf":[{"required":["who"]},{"required":["where"]}]}`,
		program: `
			await t.run({ who: "a" });
			await t.run({ where: 1 });
			// @ts-expect-error neither is there
			await t.run({});
			// @ts-expect-error the type holds all the same
			await t.run({ who: 1 });`,
	},
	{
		name:   "a part that cannot be expressed does not spoil the rest",
		output: `{"type":"object","required":["good","bad"],"properties":{"good":{"type":"string"},"bad":{"$ref":"https://example.com/elsewhere"},"list":{"type":"array","items":{"$ref":"#/nowhere"}}}}`,
		program: `
			const out = await t.run();
			same<typeof out.good, string>(true);
			same<typeof out.bad, unknown>(true);
			same<typeof out.list, unknown[] | undefined>(true);`,
	},
	{
		name:   "contradictions are never, the rest holds",
		output: `{"type":"object","required":["ok"],"properties":{"ok":{"type":"string"},"no":{"allOf":[{"type":"string"},{"type":"number"}]}}}`,
		program: `
			const out = await t.run();
			same<typeof out.no, undefined>(true);
			same<typeof out.ok, string>(true);`,
	},
	{
		name:  "all of one object",
		input: `{"type":"object","allOf":[{"properties":{"a":{"type":"string"},"b":{"type":["string","null"]}},"required":["a"]},{"properties":{"b":{"enum":["x",1]},"c":{"type":"number"}},"required":["b"]}]}`,
		program: `
			await t.run({ a: "a", b: "x", c: 1 });
			// @ts-expect-error b is both a string or null and one of the constants
			await t.run({ a: "a", b: 1 });
			// @ts-expect-error b is required
			await t.run({ a: "a" });`,
	},
	{
		name:  "names that hurt",
		input: `{"type":"object","properties":{"new":{"type":"string"},"get":{"type":"string"},"readonly":{"type":"string"},"constructor":{"type":"string"},"__proto__":{"type":"string"},"static":{},"*/":{"description":"*/ x: never; /*"},"\u202e":{},"\u2028":{"const":"\u2028\u0000"}}}`,
		program: `
			await t.run({ new: "a", get: "b", readonly: "c", "constructor": "d", "*/": 1, "\u2028": "\u2028\u0000" });
			// @ts-expect-error no escape took place
			await t.run({ x: 1 });`,
	},
}
