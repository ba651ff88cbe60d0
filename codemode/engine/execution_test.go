package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/codemode/engine"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

// script drives an execution by hand.
type script struct {
	t    testing.TB
	x    *engine.Execution
	step snippet.Step
	at   time.Time
}

func start(t testing.TB, e *engine.Engine, p snippet.Program) *script {
	t.Helper()
	x, step, err := e.Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Close)
	return &script{t: t, x: x, step: step, at: epoch}
}

// give delivers a result.
func (s *script) give(call int, result string) *script {
	s.t.Helper()
	return s.deliver(snippet.Delivery{Call: call, Result: json.RawMessage(result)})
}

// fail delivers an error.
func (s *script) fail(call int, code string) *script {
	s.t.Helper()
	return s.deliver(snippet.Delivery{Call: call, Error: &snippet.Error{Code: code, Message: "it said " + code, Tool: "shop.get", Hint: "try another", Effect: "none"}})
}

func (s *script) deliver(d snippet.Delivery) *script {
	s.t.Helper()
	s.at = s.at.Add(time.Second)
	d.At = s.at
	step, err := s.x.Deliver(s.t.Context(), d)
	if err != nil {
		s.t.Fatal(err)
	}
	s.step = step
	return s
}

// calls are the numbers and tools or kinds of the last step's calls.
func (s *script) calls() string {
	var list []string
	for _, c := range s.step.Calls {
		list = append(list, fmt.Sprintf("%d:%s%s", c.Number, c.Kind, strings.TrimPrefix(c.Tool, "shop")))
	}
	return strings.Join(list, " ")
}

func (s *script) wantCalls(want string) *script {
	s.t.Helper()
	if got := s.calls(); got != want {
		s.t.Errorf("calls = %q, want %q", got, want)
	}
	return s
}

func (s *script) wantResult(want string) *script {
	s.t.Helper()
	switch {
	case s.step.End == nil:
		s.t.Errorf("the snippet waits for %q, want result %s", s.calls(), want)
	case s.step.End.Error != nil || string(s.step.End.Result) != want:
		s.t.Errorf("it ended with %s, %v, want %s", s.step.End.Result, s.step.End.Error, want)
	}
	return s
}

func TestOneOutcomePerStepInTheOrderGiven(t *testing.T) {
	e := newEngine(t, engine.Options{})
	s := start(t, e, program(`
		const log: any[] = [];
		const one = async (id: number) => { const r: any = await orders.get({ id }); log.push(r); await orders.list({ after: r }); };
		await Promise.all([one(1), one(2), one(3)]);
		return log;
	`))
	s.wantCalls("1:call.get 2:call.get 3:call.get")
	s.give(3, `"c"`).wantCalls("4:call.list")
	s.give(1, `"a"`).wantCalls("5:call.list")
	s.give(5, "0").wantCalls("")
	s.give(2, `"b"`).wantCalls("6:call.list")
	s.give(6, "0").give(4, "0").wantResult(`["c","a","b"]`)
}

func TestRaceAnyAndCaughtFailures(t *testing.T) {
	e := newEngine(t, engine.Options{})
	s := start(t, e, program(`
		const first = await Promise.race([orders.get({ id: 1 }), orders.get({ id: 2 })]);
		let caught: any;
		try { await orders.refund({ id: 3 }) } catch (e: any) { caught = { code: e.code, tool: e.tool, hint: e.hint, name: e.name, isError: e instanceof Error, isTool: e instanceof ToolError, at: e.position } }
		const any = await Promise.any([orders.get({ id: 4 }), orders.get({ id: 5 })]);
		return { first, caught, any };
	`))
	s.wantCalls("1:call.get 2:call.get").give(2, `"second"`).wantCalls("3:call.refund")
	s.fail(3, "denied").wantCalls("4:call.get 5:call.get")
	s.fail(4, "gone").wantCalls("").give(5, `"five"`)
	s.wantResult(`{"first":"second","caught":{"code":"denied","tool":"shop.get","hint":"try another","name":"ToolError","isError":true,"isTool":true,"at":{"line":4,"column":22}},"any":"five"}`)
	if got := s.step.End.Outstanding; !reflect.DeepEqual(got, []int{1}) {
		t.Errorf("outstanding = %v, want the loser of the race", got)
	}
	if got := s.step.End.Unawaited; got != nil {
		t.Errorf("unawaited = %v, want none", got)
	}
}

func TestUncaughtFailureKeepsItsFields(t *testing.T) {
	e := newEngine(t, engine.Options{})
	s := start(t, e, program("const f = async () => {\n  return await orders.get({ id: 1 });\n};\nawait f();"))
	s.fail(1, "not_found")
	got := s.step.End.Error
	if got == nil || got.Code != "not_found" || got.Tool != "shop.get" || got.Hint != "try another" || got.Effect != "none" {
		t.Fatalf("error = %+v", got)
	}
	if got.Position == nil || got.Position.Line != 2 || len(got.Stack) != 2 || got.Stack[0].Function != "f" || got.Stack[1].Line != 4 {
		t.Errorf("position = %+v, stack = %+v", got.Position, got.Stack)
	}
}

func TestUnawaitedCallsAreReported(t *testing.T) {
	e := newEngine(t, engine.Options{})
	s := start(t, e, program("orders.refund({ id: 1 });\nconst b = orders.get({ id: 2 });\nb.then(() => 0);\nreturn 1"))
	s.wantResult("1").wantCalls("1:call.refund 2:call.get")
	if end := s.step.End; !reflect.DeepEqual(end.Unawaited, []int{1}) || !reflect.DeepEqual(end.Outstanding, []int{1, 2}) {
		t.Errorf("unawaited = %v, outstanding = %v", end.Unawaited, end.Outstanding)
	}
	settled := start(t, e, program("orders.refund({ id: 1 });\nawait orders.get({ id: 2 });\nreturn 1"))
	settled.give(1, "1").give(2, "2")
	if end := settled.step.End; !reflect.DeepEqual(end.Unawaited, []int{1}) || end.Outstanding != nil {
		t.Errorf("unawaited = %v, outstanding = %v, want the settled call that nothing looked at", end.Unawaited, end.Outstanding)
	}
}

func TestUnhandledFailuresAreReported(t *testing.T) {
	e := newEngine(t, engine.Options{})
	s := start(t, e, program("orders.refund({ id: 1 });\nvoid Promise.reject(new TypeError('lost'));\nawait orders.get({ id: 2 });\nreturn 1"))
	s.fail(1, "denied").give(2, "2").wantResult("1")
	unhandled := s.step.End.Unhandled
	if len(unhandled) != 2 || unhandled[0].Message != "lost" || unhandled[0].Position.Line != 2 || unhandled[1].Code != "denied" || unhandled[1].Position.Line != 1 {
		t.Errorf("unhandled = %+v", unhandled)
	}
}

func TestAPromiseThatNothingCanSettleIsAnErrorAtOnce(t *testing.T) {
	e := newEngine(t, engine.Options{})
	tests := []struct{ name, source, want string }{
		{"executor that throws", "await new Promise(async (resolve) => {\n  undefinedFn(3);\n  resolve(true);\n});", "undefinedFn is not defined"},
		{"never resolved", "await new Promise(() => {})", "never settles"},
		{"cleared timer", "await new Promise((r) => { const id = setTimeout(r, 1000); clearTimeout(id) })", "never settles"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, e, program(tt.source))
			if s.step.End == nil || s.step.End.Error == nil || s.step.End.Error.Code != snippet.CodeNeverSettles {
				t.Fatalf("step = %+v", s.step)
			}
			if problem := s.step.End.Error; !strings.Contains(problem.Message, tt.want) {
				t.Errorf("message = %q, want %q in it", problem.Message, tt.want)
			}
		})
	}
}

func TestClockStandsStillBetweenDeliveries(t *testing.T) {
	e := newEngine(t, engine.Options{})
	s := start(t, e, program(`
		const a = Date.now(); await orders.get({});
		const b = new Date().getTime(); await orders.get({});
		return [a, b - a, Date.now() - a, performance.now()];
	`))
	s.at = epoch.Add(-time.Hour) // a clock that is behind moves nothing
	s.give(1, "0")
	s.at = epoch.Add(90 * time.Second)
	s.give(2, "0").wantResult(fmt.Sprintf("[%d,0,91000,91000]", epoch.UnixMilli()))
}

func TestTimers(t *testing.T) {
	e := newEngine(t, engine.Options{})
	s := start(t, e, program(`
		const log: string[] = [];
		const late = setTimeout(() => log.push("late"), 5000);
		setTimeout((x: string) => log.push(x), 10.2, "timer");
		await sleep(20);
		log.push("slept"); clearTimeout(late);
		const every = setInterval(() => { log.push("tick"); clearInterval(every) }, 1);
		await sleep(30);
		return log;
	`))
	s.wantCalls("1:sleep 2:sleep 3:sleep")
	if got := string(s.step.Calls[1].Input); got != `{"ms":11}` {
		t.Errorf("input = %s", got)
	}
	s.give(2, "").give(3, "").wantCalls("4:sleep 5:sleep")
	if !reflect.DeepEqual(s.step.Cancelled, []int{1}) {
		t.Errorf("cancelled = %v, want the timer that was cleared", s.step.Cancelled)
	}
	if _, err := s.x.Deliver(t.Context(), snippet.Delivery{Call: 1, At: epoch}); !errors.Is(err, engine.ErrNotWaiting) {
		t.Errorf("delivery to a cleared timer: %v, want ErrNotWaiting", err)
	}
	s.give(4, "")
	s.give(5, "").wantResult(`["timer","slept","tick"]`)
}

func TestAPI(t *testing.T) {
	e := newEngine(t, engine.Options{})
	tests := []struct{ source, want string }{
		{`tools.search({ query: "refund", limit: 3 })`, `search  {"query":"refund","limit":3}`},
		{`tools.search("refund")`, `search  {"query":"refund"}`},
		{`tools.describe({ ids: ["a", "b"] })`, `describe  {"ids":["a","b"]}`},
		{`tools.describe("a")`, `describe  {"id":"a"}`},
		{`tools.call({ id: "shop.get", input: { id: 1 } })`, `call shop.get {"id":1}`},
		{`tools.call("shop.get", { id: 1 })`, `call shop.get {"id":1}`},
		{`tools.call({ id: "shop.get" })`, `call shop.get {}`},
		{`tools.result("r1", { from: 10 })`, `result  {"from":10,"handle":"r1"}`},
		{`tools.result({ handle: "r1" })`, `result  {"handle":"r1"}`},
		{`orders.get()`, `call shop.get {}`},
		{`github.issues.create({ title: "é", at: new Date(0), tags: new Set(["a"]), extra: undefined, n: 12345678901234567890n })`, `call github.create {"title":"é","at":"1970-01-01T00:00:00.000Z","tags":["a"],"n":12345678901234567890}`},
		{`orders.get({ raw: new TextEncoder().encode("hi"), m: new Map([["k", [1]]]), u: new URL("http://a.b") })`, `call shop.get {"raw":"aGk=","m":{"k":[1]},"u":"http://a.b/"}`},
	}
	for _, tt := range tests {
		t.Run(tt.source, func(t *testing.T) {
			s := start(t, e, program("await "+tt.source))
			if len(s.step.Calls) != 1 {
				t.Fatalf("step = %+v, %v", s.step, s.step.End)
			}
			c := s.step.Calls[0]
			if got := fmt.Sprintf("%s %s %s", c.Kind, c.Tool, c.Input); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestBatch(t *testing.T) {
	e := newEngine(t, engine.Options{})
	s := start(t, e, program(`await tools.batch({ calls: [{ id: "shop.get", input: { id: 1 } }, { id: "shop.list" }] })`))
	s.wantCalls("1:call.get 2:call.list").fail(2, "busy").give(1, `{"n":1}`)
	s.wantResult(`[{"ok":true,"result":{"n":1}},{"ok":false,"error":{"code":"busy","tool":"shop.get","effect":"none","hint":"try another","position":{"line":1,"column":13},"message":"it said busy"}}]`)
}

func TestInvalidInputIsARejectedCall(t *testing.T) {
	e := newEngine(t, engine.Options{})
	tests := []struct{ source, want string }{
		{`orders.get({ f() {} })`, "input.f is no data: Function f"},
		{`orders.get({ a: [1, Symbol("x")] })`, "input.a[1] is no data"},
		{`orders.get({ n: NaN })`, "input.n is no data: NaN"},
		{`orders.get({ d: new Date(NaN) })`, "input.d is no data: Invalid Date"},
		{`orders.get({ m: new Map([[1, 2]]) })`, "input.m is a Map with a key that is no string"},
		{`orders.get({ get n() { throw new Error("getter") } })`, "input.n is no data: Threw Error: getter"},
		{`orders.get({ p: Promise.resolve(1) })`, "input.p is no data: Promise, not awaited"},
		{`(() => { const o: any = { a: {} }; o.a.b = o; return orders.get(o) })()`, "input.a.b is no data: Circular $"},
		{`orders.get("a", "b")`, "orders.get takes one argument, an object, and was given 2"},
		{`orders.get({ "x-y": { then(r: any) { r(1) } } })`, `input["x-y"].then is no data: Function then`},
	}
	for _, tt := range tests {
		t.Run(tt.source, func(t *testing.T) {
			s := start(t, e, program("try { await "+tt.source+" } catch (e: any) { return [e.code, e.message] }"))
			if s.step.End == nil || len(s.step.Calls) > 0 {
				t.Fatalf("step = %+v", s.step)
			}
			var got [2]string
			if err := json.Unmarshal(s.step.End.Result, &got); err != nil {
				t.Fatal(err)
			}
			if got[0] != snippet.CodeInvalidInput || !strings.Contains(got[1], tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCallsAreLimited(t *testing.T) {
	e := newEngine(t, engine.Options{})
	p := program("const all = await Promise.allSettled([1, 2, 3].map((id) => orders.get({ id })));\nreturn all.map((r: any) => r.reason?.code ?? r.value)")
	p.Limits.Calls = 2
	start(t, e, p).wantCalls("1:call.get 2:call.get").give(1, "1").give(2, "2").wantResult(`[1,2,"call_limit"]`)
}

func TestRefusesWhatMakesNoSense(t *testing.T) {
	e := newEngine(t, engine.Options{})
	tests := []struct {
		name   string
		change func(*snippet.Program)
		want   string
	}{
		{"no tenant", func(p *snippet.Program) { p.Tenant = "" }, "tenant: missing"},
		{"large source", func(p *snippet.Program) { p.Source = strings.Repeat(" ", snippet.MaxSource+1) }, "source: 65537 bytes, at most 65536"},
		{"no time", func(p *snippet.Program) { p.Now = time.Time{} }, "now: the execution's time is missing"},
		{"api is no JSON", func(p *snippet.Program) { p.API = json.RawMessage("{") }, "api: not valid JSON"},
		{"api is no object", func(p *snippet.Program) { p.API = json.RawMessage("[1]") }, "api: "},
		{"reserved namespace", func(p *snippet.Program) { p.API = json.RawMessage(`{"console.x":{}}`) }, `namespace "console.x" would hide a global`},
		{"negative limit", func(p *snippet.Program) { p.Limits.Calls = -1 }, "limits.calls is -1"},
		{"loose limit", func(p *snippet.Program) { p.Limits.CPU = time.Hour }, "limits.cpu is 3600000000000: the engine allows at most"},
		{"journal with a gap", func(p *snippet.Program) { p.Journal.Calls = []snippet.Record{{Number: 2}} }, "journal: call 2 stands where call 1 should"},
		{"journal with nonsense", func(p *snippet.Program) {
			p.Journal.Deliveries = []snippet.Delivery{{Call: 1, Result: json.RawMessage("{")}}
		}, "journal: delivery 1: call 1: the result is not valid JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := program("return 1")
			tt.change(&p)
			x, _, err := e.Start(t.Context(), p)
			if err == nil {
				x.Close()
				t.Fatal("it was accepted")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestRefusesDeliveriesThatMakeNoSense(t *testing.T) {
	e := newEngine(t, engine.Options{})
	s := start(t, e, program("await orders.get({}); await orders.get({}); return 1"))
	for _, tt := range []struct {
		name string
		d    snippet.Delivery
		want string
	}{
		{"unknown call", snippet.Delivery{Call: 9}, "call 9: "},
		{"no call", snippet.Delivery{}, "call 0: "},
		{"two outcomes", snippet.Delivery{Call: 1, Result: json.RawMessage("1"), Error: &snippet.Error{Code: "x"}}, "both a result and an error"},
		{"no code", snippet.Delivery{Call: 1, Error: &snippet.Error{}}, "the error has no code"},
		{"no JSON", snippet.Delivery{Call: 1, Result: json.RawMessage("nope")}, "the result is not valid JSON"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := s.x.Deliver(t.Context(), tt.d); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q in it", err, tt.want)
			}
		})
	}
	s.give(1, "0")
	if _, err := s.x.Deliver(t.Context(), snippet.Delivery{Call: 1, At: epoch}); !errors.Is(err, engine.ErrNotWaiting) {
		t.Errorf("second outcome: %v, want ErrNotWaiting", err)
	}
	s.give(2, "0").wantResult("1")
	if _, err := s.x.Deliver(t.Context(), snippet.Delivery{Call: 2, At: epoch}); !errors.Is(err, engine.ErrEnded) {
		t.Errorf("after the end: %v, want ErrEnded", err)
	}
	s.x.Close()
	if _, err := s.x.Deliver(t.Context(), snippet.Delivery{Call: 2, At: epoch}); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("after close: %v, want ErrClosed", err)
	}
}

func TestCancelledContextEndsAStepAtOnce(t *testing.T) {
	e := newEngine(t, engine.Options{Limits: snippet.Limits{CPU: time.Minute, Wall: time.Minute}})
	s := start(t, e, program("await orders.get({}); for (;;) {}"))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if _, err := s.x.Deliver(ctx, snippet.Delivery{Call: 1, At: epoch}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v, want that of the context", err)
	}
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	if _, err := s.x.Deliver(t.Context(), snippet.Delivery{Call: 1, At: epoch}); !errors.Is(err, engine.ErrEnded) {
		t.Errorf("afterwards: %v, want ErrEnded", err)
	}
	end, _, _ := play(t, e, program("return 1"), echo)
	if string(end.Result) != "1" {
		t.Errorf("the next snippet ended with %+v", end)
	}
}

func TestInputIsAGlobal(t *testing.T) {
	e := newEngine(t, engine.Options{})
	p := program(`const seen = input.items.length; input.items.push(4); { const input = 1; void input } return [seen, input, typeof input]`)
	p.Input = json.RawMessage(`{"items":[1,2,3],"__proto__":{"x":1}}`)
	end, _, _ := play(t, e, p, echo)
	if want := `[3,{"items":[1,2,3,4],"__proto__":{"x":1}},"object"]`; end.Error != nil || string(end.Result) != want {
		t.Errorf("result %s, error %v, want %s", end.Result, end.Error, want)
	}
	if end, _, _ = play(t, e, program(`typeof input`), echo); string(end.Result) != `"undefined"` {
		t.Errorf("without an input there is %s", end.Result)
	}
	p.Input = json.RawMessage(`{"items":`)
	if _, _, err := e.Start(t.Context(), p); err == nil || !strings.Contains(err.Error(), "input: not valid JSON") {
		t.Errorf("an input that is no JSON gives %v", err)
	}
}
