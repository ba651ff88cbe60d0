package sandbox

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/codemode/check"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

// describeSite writes a call site on one line.
func describeSite(c check.Call) string {
	var args []string
	for _, arg := range c.Args {
		args = append(args, describeNode(arg))
	}
	dropped := ""
	if c.Dropped {
		dropped = " dropped"
	}
	return fmt.Sprintf("%s(%s)%s", strings.Join(c.Path, "."), strings.Join(args, ", "), dropped)
}

func describeNode(n check.Node) string {
	var parts []string
	switch n.Kind {
	case check.Literal:
		return string(n.Value)
	case check.Object:
		for _, m := range n.Members {
			if m.Value.Kind == check.Spread {
				parts = append(parts, "...")
			} else {
				parts = append(parts, m.Name+": "+describeNode(m.Value))
			}
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case check.Array:
		for _, item := range n.Items {
			parts = append(parts, describeNode(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case check.Spread:
		return "..."
	case check.Undefined:
		return "undefined"
	default:
		return "?" + n.Type
	}
}

func sitesOf(t *testing.T, source string) []check.Call {
	t.Helper()
	compiled, problem := compile(&snippet.Program{Source: source, ListCalls: true})
	if problem != nil {
		t.Fatal(problem)
	}
	var sites []check.Call
	if err := json.Unmarshal(compiled.callSites, &sites); err != nil {
		t.Fatal(err)
	}
	return sites
}

func TestTheInputIsTheSnippetsOwn(t *testing.T) {
	source := `input.list.map((x: any) => x); await inputs.get({})`
	compiled, problem := compile(&snippet.Program{Source: source, ListCalls: true, Input: []byte(`{}`)})
	if problem != nil || strings.Contains(string(compiled.callSites), `"input"`) || !strings.Contains(string(compiled.callSites), `"inputs"`) {
		t.Errorf("call sites %s, problem %v", compiled.callSites, problem)
	}
}

func TestCallSites(t *testing.T) {
	tests := []struct{ name, source, want string }{
		{"plain", `await orders.get({ id: 1 })`, `orders.get({id: 1})`},
		{"nested namespace, brackets, optional", "await github.issues.create(); await github?.['issues']?.[`list`]!({}); await (github as any).x?.()", `github.issues.create() | github.issues.list({}) | github.x()`},
		{"the API", `await tools.call({ id: "a", input: {} }); await tools.batch([])`, `tools.call({id: "a", input: {}}) | tools.batch([])`},
		{"other globals are left out", `Math.max(1); JSON.parse("1"); console.log(1); Promise.all([]); fetch("x"); new orders.Get(); orders["x" + k]()`, ``},
		{"unknown globals are not", `await ordres.get({}); axios.get("u")`, `ordres.get({}) | axios.get("u")`},
		{"declared names", `const a = { b() {} }; a.b(); function f(orders: any) { return orders.map((x: any) => x) } class K { static m() {} } K.m(); enum E { A } E.toString(); for (const o of []) o.x(); try {} catch (e: any) { e.y() } const { p: [q = 1], ...r } = {} as any; q.z(); r.z(); orders.list()`, `orders.list()`},
		{"a name declared elsewhere", `{ const orders = { get() {} }; orders.get() } switch (1) { case 1: let shop = { x() {} }; shop.x() } const g = (users: any) => users.find(); for (let k = { m() {} }; ; ) { k.m(); break } await orders.get(); await shop.x(); await users.find(); await k.m()`, `orders.get() | shop.x() | users.find() | k.m()`},
		{"hoisted", `function f() { if (true) { var orders: any = {} } orders.get(); late.x(); } async function h() { await orders.get() } const late = { x() {} }; h()`, `orders.get()`},
		{"literals", `await a.b(-0x10, +1.50, 1e21, -0, "é\n", true, null, undefined, void 0, "\uD800", 10n, /x/)`, `a.b(-16, 1.5, 1e+21, 0, "é\n", true, null, undefined, undefined, ?, ?, ?)`},
		{"templates", "await a.b(`x`, `${1}`, `a${b}`, tag`x`)", "a.b(\"x\", ?string, ?string, ?)"},
		{"certain types", `await a.b(!x, x > 1, typeof x, "k" in x, x instanceof Y, x && 1, x + "", x ? 1 : 2)`, `a.b(?boolean, ?boolean, ?string, ?boolean, ?boolean, ?, ?, ?)`},
		{"objects", `await a.b({ x: 1, "y-z": [1, , ...q, { w: "s" }], 5: 1, ["c"]: 2, [d]: 3, short, m() {}, get g() { return 1 }, ...rest, __proto__: {}, as: 1 as number })`, `a.b({x: 1, y-z: [1, undefined, ..., {w: "s"}], 5: 1, c: 2, ..., short: ?, ..., ..., ..., ..., as: 1})`},
		{"spread arguments", `await a.b(...args, 1)`, `a.b(..., 1)`},
		{"nested calls", `await a.b(await c.d({ e: f.g(1) }))`, `a.b(?) | c.d({e: ?}) | f.g(1)`},
		{"in functions and branches", `async function f() { if (x) await a.b(1); else await a.c(2) } class K { async m() { await a.d(3) } static { a.e(4) } }; const h = () => a.f(5); f()`, `a.b(1) | a.c(2) | a.d(3) | a.e(4) dropped | a.f(5)`},
		{"dropped", `const list = [1]; a.b(1); a.c(2).then(f).catch(g); list.forEach((x: any) => a.d(x)); list.forEach(async (x: any) => { a.e(x) }); a.f(1), await a.g(2); 1`, `a.b(1) dropped | a.c(2) dropped | a.d(?) dropped | a.e(?) dropped | a.f(1) dropped | a.g(2)`},
		{"not dropped", `void a.b(1); const p = a.c(2); x = a.d(3); f(a.e(4)); y && a.f(5); z ? a.g(6) : 0; [1].map((i) => a.h(i)); await a.i(7); return a.j(8)`, `a.b(1) | a.c(2) | a.d(3) | a.e(4) | a.f(5) | a.g(6) | a.h(?) | a.i(7) | a.j(8)`},
		{"the last expression is the result", `a.b(1)`, `a.b(1)`},
		{"lowered syntax", `for await (const p of a.pages({ n: 1 })) p.x(); { using r = a.open("f"); } async function* g() { yield await a.next(1) } g()`, `a.pages({n: 1}) | a.open("f") | a.next(1)`},
		{"type arguments and satisfies", `await a.b<string>({ x: 1 } satisfies object); await (a.c as any)({ y: <number>2 })`, `a.b({x: 1}) | a.c({y: 2})`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, site := range sitesOf(t, tt.source) {
				got = append(got, describeSite(site))
			}
			if joined := strings.Join(got, " | "); joined != tt.want {
				t.Errorf("got  %s\nwant %s", joined, tt.want)
			}
		})
	}
}

func TestCallSitesKnowWhereTheyStand(t *testing.T) {
	source := "```ts\nconst s = 'é😀'; await orders.get({\n  id: 1,\n  \"näme\": [true],\n});\nawait a . b ( 'x' )\n```"
	sites := sitesOf(t, source)
	if len(sites) != 2 {
		t.Fatalf("sites = %+v", sites)
	}
	at := func(line, column int) snippet.Position { return snippet.Position{Line: line, Column: column} }
	members := sites[0].Args[0].Members
	for what, got := range map[string][2]snippet.Position{
		"call":        {sites[0].Position, at(2, 23)},
		"object":      {sites[0].Args[0].Position, at(2, 34)},
		"member":      {members[0].Value.Position, at(3, 3)},
		"quoted name": {members[1].Value.Position, at(4, 3)},
		"item":        {members[1].Value.Items[0].Position, at(4, 12)},
		"second call": {sites[1].Position, at(6, 7)},
		"string":      {sites[1].Args[0].Position, at(6, 15)},
	} {
		if got[0] != got[1] {
			t.Errorf("%s at %+v, want %+v", what, got[0], got[1])
		}
	}
}

func TestCallSitesAreBounded(t *testing.T) {
	many := sitesOf(t, strings.Repeat("a.b();", 3000))
	if len(many) != check.MaxCalls {
		t.Errorf("%d sites, want %d", len(many), check.MaxCalls)
	}
	deep := sitesOf(t, "await a.b("+strings.Repeat("[", 100)+strings.Repeat("]", 100)+")")
	depth := 0
	for n := deep[0].Args[0]; n.Kind == check.Array && len(n.Items) > 0; n = n.Items[0] {
		depth++
	}
	if depth > check.MaxDepth+1 {
		t.Errorf("nested %d deep, want at most %d", depth, check.MaxDepth)
	}
}
