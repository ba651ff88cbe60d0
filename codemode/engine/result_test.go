package engine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/codemode/engine"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

func TestAnythingIsAResult(t *testing.T) {
	e := newEngine(t, engine.Options{})
	tests := []struct{ name, source, want, hint string }{
		{"null", `return null`, `null`, ""},
		{"string", `return "é\u2028\u0000<&>"`, `"é` + "\u2028" + `\u0000<&>"`, ""},
		{"lone surrogate", `return "a\uD800b"`, `"a` + "\ufffd" + `b"`, ""},
		{"numbers", `return [1, -0, 1.5, 1e21, NaN, Infinity, -Infinity]`, `[1,0,1.5,1e+21,"NaN","Infinity","-Infinity"]`, ""},
		{"BigInt", `return [10n, 2n ** 64n]`, `[10,"18446744073709551616n"]`, ""},
		{"undefined within", `return { a: undefined, b: [undefined, , 1] }`, `{"b":[null,null,1]}`, ""},
		{"Date", `return [new Date(0), new Date(NaN), new Date(8.64e15), new Date(-8e14)]`, `["1970-01-01T00:00:00.000Z","[Invalid Date]","+275760-09-13T00:00:00.000Z","-023381-01-04T17:46:40.000Z"]`, ""},
		{"Map and Set", `return [new Map<any, any>([["a", 1], [{ k: 1 }, new Set([2])]]), new Set(["x"])]`, `[{"[Map]":[["a",1],[{"k":1},{"[Set]":[2]}]]},{"[Set]":["x"]}]`, ""},
		{"bytes", `return [new Uint8Array([104, 105]), new ArrayBuffer(2), new Float64Array([1.5])]`, `[{"[bytes]":"aGk="},{"[bytes]":"AAA="},{"[Float64Array]":[1.5]}]`, ""},
		{"Error", `return Object.assign(new TypeError("no"), { code: 4 })`, `{"name":"TypeError","message":"no","code":4}`, ""},
		{"functions", `return { f() {}, g: () => 1, C: class C {} , a: async function x() {} }`, `{"f":"[Function f]","g":"[Function g]","C":"[Function C]","a":"[Function x]"}`, ""},
		{"a function", `const f = () => 1; return f`, `"[Function f]"`, "call it"},
		{"symbols", `return { s: Symbol("d"), [Symbol("k")]: 1 }`, `{"s":"[Symbol d]"}`, ""},
		{"RegExp", `return /a\/b/gi`, `"/a\\/b/gi"`, ""},
		{"cycle", `const a: any = { n: { list: [] } }; a.n.list.push(a, a.n); return a`, `{"n":{"list":["[Circular $]","[Circular $.n]"]}}`, ""},
		{"shared is no cycle", `const a = { x: 1 }; return [a, a]`, `[{"x":1},{"x":1}]`, ""},
		{"promise within", `return { a: Promise.resolve(1) }`, `{"a":"[Promise, not awaited]"}`, "not awaited"},
		{"generators and iterators", `return [(function* () {})(), [1].values(), new Map().entries(), new WeakMap()]`, `["[Generator]","[Array Iterator]","[Map Iterator]","[WeakMap]"]`, ""},
		{"boxes", `return [new Number(1), new String("s"), new Boolean(false), Object(1n), Object(Symbol("x"))]`, `[1,"s",false,1,"[Symbol x]"]`, ""},
		{"class instance", `class P { x = 1; #y = 2; get z() { return 3 } } return new P()`, `{"x":1}`, ""},
		{"null prototype", `return Object.assign(Object.create(null), { a: 1 })`, `{"a":1}`, ""},
		{"toJSON", `return { u: new URL("http://a.b/c"), t: { toJSON: (k: string) => ({ k }) } }`, `{"u":"http://a.b/c","t":{}}`, ""},
		{"getter that throws", `return { get a() { throw new RangeError("no") }, b: 1 }`, `{"a":"[Threw RangeError: no]","b":1}`, ""},
		{"Proxy", `return [new Proxy({ a: 1 }, {}), new Proxy([1, 2], {}), new Proxy({}, { ownKeys() { throw new Error("no") } })]`, `[{"a":1},[1,2],"[Threw Error: no]"]`, ""},
		{"revoked Proxy", `const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return [proxy]`, `["[Proxy]"]`, ""},
		{"globalThis", `return typeof globalThis`, `"object"`, ""},
		{"poisoned prototype", `(Object.prototype as any).toJSON = () => "gone"; (Array.prototype as any).map = null; return { a: [1] }`, `"gone"`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			end, _, _ := play(t, e, program(tt.source), echo)
			if end.Error != nil || string(end.Result) != tt.want {
				t.Errorf("got  %s, %v\nwant %s", end.Result, end.Error, tt.want)
			}
			if !json.Valid(end.Result) || end.Bytes != len(end.Result) {
				t.Errorf("%d bytes announced, %d given", end.Bytes, len(end.Result))
			}
			if (tt.hint == "") != (end.Hint == "") || !strings.Contains(end.Hint, tt.hint) {
				t.Errorf("hint = %q, want %q", end.Hint, tt.hint)
			}
		})
	}
}

func TestNoResultHasAHint(t *testing.T) {
	e := newEngine(t, engine.Options{})
	for _, source := range []string{"", "// nothing", "for (const a of [1]) a;", "console.log(1)", "return", "const f = () => { return 1 }; f(); undefined"} {
		end, _, _ := play(t, e, program(source), echo)
		if !end.Undefined || end.Error != nil || end.Result != nil || !strings.Contains(end.Hint, "no value") {
			t.Errorf("%q ended with %+v", source, end)
		}
	}
}

func TestDeepResultIsNamed(t *testing.T) {
	e := newEngine(t, engine.Options{})
	end, _, _ := play(t, e, program("let d: any = []; for (let i = 0; i < 1000; i++) d = [d]; return d"), echo)
	if want := `"[nested deeper than 200]"`; end.Error != nil || !strings.Contains(string(end.Result), want) || !json.Valid(end.Result) {
		t.Errorf("got %s, %v", end.Result, end.Error)
	}
}

func TestLargeResultComesWithAnOutline(t *testing.T) {
	e := newEngine(t, engine.Options{})
	p := program(`return { rows: Array.from({ length: 2000 }, (_, id) => ({ id, name: "n" + id })), note: "é".repeat(5000) }`)
	p.Limits.OutputBytes = 1000
	end, _, _ := play(t, e, p, echo)
	if end.Error != nil || end.Truncated || end.Bytes != len(end.Result) || end.Bytes < 40000 {
		t.Fatalf("end = %+v", end)
	}
	if len(end.Outline) > 1000 || !json.Valid(end.Outline) {
		t.Errorf("outline of %d bytes: %s", len(end.Outline), end.Outline)
	}
	for _, want := range []string{`"rows":[{"id":0,"name":"n0"}`, `{"id":1999,"name":"n1999"}]`, "more", "(5000 characters)"} {
		if !strings.Contains(string(end.Outline), want) {
			t.Errorf("outline has no %s: %s", want, end.Outline)
		}
	}
}

func TestResultTooLargeToHandOver(t *testing.T) {
	e := newEngine(t, engine.Options{})
	end, _, _ := play(t, e, program(`const s = "x".repeat(1e6); return { first: 1, list: new Array(30).fill(s) }`), echo)
	if end.Error != nil || !end.Truncated || end.Result != nil || len(end.Outline) == 0 || len(end.Outline) > engine.DefaultLimits.OutputBytes {
		t.Fatalf("end = %+v", end)
	}
	if !strings.Contains(string(end.Outline), `"first":1`) {
		t.Errorf("outline = %s", end.Outline)
	}
}

func TestConsole(t *testing.T) {
	e := newEngine(t, engine.Options{})
	tests := []struct{ name, source, level, text string }{
		{"strings as they are", `console.log("a", 1, true, null, undefined)`, "info", "a 1 true null undefined"},
		{"levels", `console.error("x")`, "error", "x"},
		{"warnings", `console.warn("x")`, "warn", "x"},
		{"debug", `console.debug("x")`, "debug", "x"},
		{"objects", `console.log({ a: [1, "x"], "b-c": { d: null } })`, "info", `{a: [1, "x"], "b-c": {d: null}}`},
		{"deep", `console.log({ a: { b: { c: { d: { e: { f: 1 } } } } } })`, "info", `{a: {b: {c: {d: {e: [Object]}}}}}`},
		{"cycle", `const o: any = {}; o.o = o; console.log(o)`, "info", `{o: [Circular]}`},
		{"collections", `console.log(new Map([["a", 1]]), new Set([1n]), new Uint8Array(3))`, "info", `Map(1) {"a" => 1} Set(1) {1n} Uint8Array(3 bytes)`},
		{"class", `class P { x = 1 } console.log(new P())`, "info", `P {x: 1}`},
		{"functions, symbols, dates", `console.log(() => 1, function f() {}, Symbol("s"), new Date(0), new Date(NaN), /x/)`, "info", `[Function] [Function f] Symbol(s) 1970-01-01T00:00:00.000Z Invalid Date /x/`},
		{"promises", `console.log(Promise.resolve(1), new Promise(() => {}))`, "info", `Promise {fulfilled} Promise {pending}`},
		{"errors", "\nconsole.log(new TypeError('no'))", "info", "TypeError: no (line 2, column 13)"},
		{"template", `console.log("%s is %d%%, %j %x", "a", 5, { b: 1 }, "rest")`, "info", `a is 5%, {b: 1} %x rest`},
		{"many members", `console.log(Array.from({ length: 150 }, () => 0))`, "info", "[" + strings.Repeat("0, ", 99) + "0, … 50 more]"},
		{"assert", `console.assert(1 > 2, "math")`, "error", "Assertion failed: math"},
		{"throwing getter", `console.log({ get a() { throw new Error("no") } })`, "info", "{a: [Threw Error: no]}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, lines := play(t, e, program(tt.source), echo)
			if len(lines) != 1 || lines[0] != (snippet.Line{Level: tt.level, Text: tt.text}) {
				t.Errorf("got  %v\nwant %s %s", lines, tt.level, tt.text)
			}
		})
	}
}

func TestConsoleIsCutWithACount(t *testing.T) {
	e := newEngine(t, engine.Options{})
	p := program(`for (let i = 0; i < 1e4; i++) console.log("row é " + i); return 1`)
	p.Limits.ConsoleBytes = 1000
	s := start(t, e, p)
	used := 0
	for _, line := range s.step.Console {
		used += len(line.Text)
	}
	if used > 1000 || len(s.step.Console) < 20 || len(s.step.Console)+s.step.Dropped != 1e4 {
		t.Errorf("%d lines of %d bytes kept, %d dropped", len(s.step.Console), used, s.step.Dropped)
	}
	long := program(`console.log("é".repeat(1e5)); return 1`)
	if lines := start(t, e, long).step.Console; len(lines) != 1 || len(lines[0].Text) > 9000 || !strings.HasSuffix(lines[0].Text, "é…") {
		t.Errorf("a long line came as %d lines", len(lines))
	}
}
