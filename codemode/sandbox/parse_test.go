package sandbox

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// texts are JSON and what is not.
var texts = []string{
	`{}`, `[]`, ` [ ] `, ` { } `, `null`, `true`, ` false `, `0`, `-0`, `-0.0`, `12`, `-7`, `1.5e3`, `1E-7`, `0.1`, `1e21`,
	`9007199254740991`, `9007199254740993`, `123456789012345`, `1234567890123456`, `-999999999999999`, `1e-400`,
	`""`, `"a"`, `"é"`, `"\u00e9\n\"\\\/"`, `"😀"`, `"\ud83d\ude00"`, `"\ud800x"`, `"a\u0000b"`, "\"\xff\"",
	`[1, "two", [3, {"four": 5}], null, true]`, `{"a":1,"b":{"c":[]},"a":2}`, ` { "a" : 1 , "b" : [ 1 , 2 ] } `, "[\n1,\r2\t]",
	`{"__proto__":{"x":1},"constructor":2,"toString":3,"1":"one","0":"zero","é":[{}],"":""}`,
	`[{"id":1,"name":"a"},{"id":2,"name":"b"}]`, strings.Repeat("[", 9000) + strings.Repeat("]", 9000),
	``, ` `, `{`, `[1,]`, `{"a":1,}`, `01`, `1.`, `.5`, `+1`, `NaN`, `undefined`, `'a'`, `"a`, `{a:1}`, `[1 2]`, `1 2`, "\"\n\"", `nul`,
	strings.Repeat("[", 10001) + strings.Repeat("]", 10001),
}

// TestParseIsJSONParse holds what is made of a text against what the engine's own
// JSON.parse makes of it.
func TestParseIsJSONParse(t *testing.T) {
	for _, text := range texts {
		compareParse(t, goja.New(), text)
	}
	rt := goja.New()
	if value, ok := parse(rt, `[1e400, -1e400]`); !ok || value.String() != "Infinity,-Infinity" {
		t.Errorf("numbers that are too large are %v", value)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { compareParse(t, goja.New(), text) })
}

// compareParse holds what is valid against the engine's own; what is not, or is nested too
// deep, is left to that.
func compareParse(t *testing.T, rt *goja.Runtime, text string) {
	t.Helper()
	// A value as a list of what it consists of, in order and with its type.
	shown, err := rt.RunString(`(function show(v) {
		if (Array.isArray(v)) return 'list(' + v.map(show) + ')';
		if (v !== null && typeof v === 'object') {
			return 'object(' + Reflect.ownKeys(v).map((k) => {
				const d = Object.getOwnPropertyDescriptor(v, k);
				return JSON.stringify(k) + d.writable + d.enumerable + d.configurable + show(d.value);
			}) + (Object.getPrototypeOf(v) === Object.prototype) + ')';
		}
		return typeof v + ' ' + (Object.is(v, -0) ? '-0' : JSON.stringify(v));
	})`)
	if err != nil {
		t.Fatal(err)
	}
	show, _ := goja.AssertFunction(shown)
	own, _ := goja.AssertFunction(rt.Get("JSON").ToObject(rt).Get("parse"))
	value, ok := parse(rt, text)
	want, err := own(goja.Undefined(), rt.ToValue(text))
	if ok && err != nil && strings.Contains(err.Error(), "cannot unmarshal number") {
		return // too large for the engine's own
	}
	if ok != json.Valid([]byte(text)) || ok && err != nil {
		t.Fatalf("%.100q: ok %t, want %v", text, ok, err)
	}
	if !ok {
		return
	}
	got, err := show(goja.Undefined(), value)
	if err != nil {
		t.Fatal(err)
	}
	if wanted, err := show(goja.Undefined(), want); err != nil || !got.StrictEquals(wanted) {
		t.Errorf("%.100q is %.200v, want %.200v (%v)", text, got, wanted, err)
	}
}

// A snippet cannot have a part in how the results of its calls are read.
func TestParseAssignsNothing(t *testing.T) {
	rt := goja.New()
	if _, err := rt.RunString(`
		Object.defineProperty(Object.prototype, 'a', { set() { throw new Error('called') } });
		Object.defineProperty(Array.prototype, '0', { set() { throw new Error('called') } });
	`); err != nil {
		t.Fatal(err)
	}
	value, ok := parse(rt, `[{"a":1}]`)
	if !ok || value.ToObject(rt).Get("0").ToObject(rt).Get("a").ToInteger() != 1 {
		t.Errorf("value is %v", value)
	}
}

func BenchmarkParse(b *testing.B) {
	row := `{"id":1234,"name":"some name","total":12.5,"tags":["a","bb","ccc"],"nested":{"x":true,"y":null}},`
	for name, text := range map[string]string{"small": `{"total":12}`, "large": "[" + strings.Repeat(row, 500) + "1]"} {
		b.Run(name, func(b *testing.B) {
			rt := goja.New()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, ok := parse(rt, text); !ok {
					b.Fatal("not valid")
				}
			}
		})
	}
}
