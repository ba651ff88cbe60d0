package codemode_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/codemode"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

func TestReadsAreServedInOneStretch(t *testing.T) {
	w := newWorld(t)
	r := w.end(w.run(stretch(`
		let last = "";
		for (let i = 0; i < 20; i++) last = await test.get({ name: "n" + i }) as string;
		const failed = await test.fail({ name: "x" }).catch((e: any) => e.code + ", " + e.hint);
		const batch = await tools.batch({ calls: [{ id: "test.get", input: { name: "b" } }, { id: "test.fail", input: { name: "y" } }] });
		return { last, failed, batch: batch.map((b: any) => b.ok) };`)))
	if want := `{"last":"n19","failed":"no_such_order, look again","batch":[true,false]}`; string(r.Result) != want {
		t.Errorf("result = %s, want %s", r.Result, want)
	}
	if r.Calls["test.get"] != 21 || r.Calls["test.fail"] != 2 || len(r.Failed) != 2 || r.Left.Calls != 1977 ||
		min(r.Left.Memory, r.Left.TimeMS, r.Left.CPUMS, r.Left.Bytes) <= 0 {
		t.Errorf("report = %+v", r)
	}
}

func TestReadsRunManyAtOnceAndNotTooMany(t *testing.T) {
	w := newWorld(t)
	r := w.end(w.run(stretch(`(await Promise.all(Array.from({ length: 100 }, (_, i) => test.short({ name: String(i) })))).length`)))
	if string(r.Result) != "100" || r.Calls["test.short"] != 100 {
		t.Errorf("report = %+v", r)
	}
	if w.most > 50 || w.most < 2 {
		t.Errorf("%d reads were under way at once, want 2 to 50", w.most)
	}
}

func TestEffectsAreHandedOver(t *testing.T) {
	w := newWorld(t)
	in := stretch(`
		const [written, asked] = await Promise.allSettled([test.write({ name: "w" }), test.ask({ name: "a" }), test.get({ name: "r" })]);
		return [written.status, (asked as any).reason?.code, Date.now()];`)
	came := w.run(in)
	if came.End != nil || len(came.Effects) != 2 || came.Effects[0].Tool != "test.write" || !came.Effects[1].Plan.NeedsApproval || came.Cut {
		t.Fatalf("came to %+v", came)
	}
	if made := w.made(); !slices.Equal(made, []string{"test.get r"}) {
		t.Errorf("carried out %v, want the read alone", made)
	}
	in = next(in, came, result(1, `"w"`))
	came = w.run(in)
	if came.End != nil || len(came.Effects) != 0 {
		t.Fatalf("with one outcome of two it came to %+v", came)
	}
	r := w.end(w.run(next(in, came, problem(2, "approval_denied"))))
	if !strings.HasPrefix(string(r.Result), `["fulfilled","approval_denied",`) {
		t.Errorf("result = %s", r.Result)
	}
	if len(r.NotMade) != 1 || r.NotMade[0].Tool != "test.ask" || r.NotMade[0].Code != "approval_denied" || r.Calls["test.write"] != 1 {
		t.Errorf("report = %+v", r)
	}
	if made := w.made(); len(made) != 1 {
		t.Errorf("the read was repeated: %v", made)
	}
}

// An effect does not wait for the long reads of another branch, and those are made
// again.
func TestLongReadsDoNotHoldUpAnEffect(t *testing.T) {
	w := newWorld(t)
	in := stretch(`const [a, b] = await Promise.all([test.write({ name: "w" }), test.slow({ name: "s" })]); [a, b]`)
	began := time.Now()
	came := w.run(in)
	if took := time.Since(began); took > 4*time.Minute || came.End != nil || len(came.Effects) != 1 || !came.Cut {
		t.Fatalf("after %s: %+v", took, came)
	}
	close(w.hold)
	in = next(in, came)
	came = w.run(in)
	if came.End != nil || came.Cut || len(came.Effects) != 0 {
		t.Fatalf("the next stretch came to %+v", came)
	}
	if r := w.end(w.run(next(in, came, result(1, `1`)))); string(r.Result) != `[1,"s"]` {
		t.Errorf("result = %s", r.Result)
	}
}

func TestRaceLeavesTheLoser(t *testing.T) {
	w := newWorld(t)
	in := stretch(`await Promise.race([test.write({ name: "w" }), test.get({ name: "r" })])`)
	came := w.run(in)
	r := w.end(came)
	if string(r.Result) != `"r"` || len(came.Effects) != 0 || len(r.Open) != 1 || r.Open[0].Tool != "test.write" {
		t.Errorf("report = %+v, effects %+v", r, came.Effects)
	}
}

// A call that the snippet forgot to wait for is carried out, and told of.
func TestForgottenCallsAreCarriedOut(t *testing.T) {
	w := newWorld(t)
	in := stretch(`const pending = test.write({ name: "w" }); const read = test.short({ name: "r" }); "done"`)
	came := w.run(in)
	if came.End != nil || len(came.Effects) != 1 {
		t.Fatalf("came to %+v", came)
	}
	r := w.end(w.run(next(in, came, result(1, `1`))))
	if string(r.Result) != `"done"` || r.Calls["test.write"] != 1 || len(r.Awaited) != 2 || r.Awaited[0].Line != 1 {
		t.Errorf("report = %+v", r)
	}
	if !slices.Contains(w.made(), "test.short r") {
		t.Errorf("carried out %v, want the read too", w.made())
	}
}

func TestNothingRunsOfWhatCannotSucceed(t *testing.T) {
	w := newWorld(t)
	came := w.run(stretch(`await test.get({ name: "fine" }); await test.gett({}); await test.write({ nam: 1 }); test.get({ name: "dropped" });`))
	r := w.end(came)
	if r.Error == nil || r.Error.Code != "check_failed" || !strings.Contains(r.Error.Message, "nothing") || len(r.Findings) < 3 {
		t.Fatalf("report = %s", came.End.Report)
	}
	if !strings.Contains(string(came.End.Report), "test.get") || len(w.made()) != 0 {
		t.Errorf("report = %s, calls %v", came.End.Report, w.made())
	}
	if came.End.Problem == nil || came.End.Problem.Code != "check_failed" {
		t.Errorf("the timeline is told %v", came.End.Problem)
	}
}

func TestSleeps(t *testing.T) {
	w := newWorld(t)
	in := stretch(`
		const begun = Date.now();
		await sleep(30);
		const never = setTimeout(() => { throw new Error("called off") }, 5000);
		const long = sleep(90_000);
		clearTimeout(never);
		await long;
		return Date.now() - begun >= 90_000;`)
	came := w.run(in)
	if came.End != nil || len(came.Sleeps) != 1 || came.Sleeps[0].For != 90*time.Second {
		t.Fatalf("came to %+v", came)
	}
	late := result(came.Sleeps[0].Number, ``)
	late.At = time.Now().Add(2 * time.Minute)
	if r := w.end(w.run(next(in, came, late))); string(r.Result) != "true" {
		t.Errorf("report = %+v", r)
	}
	if r := w.end(w.run(stretch(`setTimeout(() => {}, 2 ** 40); await test.get({ name: "a" }); await sleep(2 ** 40)`))); r.Error == nil {
		t.Errorf("a sleep of years came to %+v", r)
	}
}

func TestBudgets(t *testing.T) {
	w := newWorld(t, func(o *codemode.Options) { o.Budget.Wall = 8 * time.Second })
	if r := w.end(w.run(stretch(`await test.slow({ name: "s" })`))); r.Error == nil || r.Error.Code != snippet.CodeTime || len(r.Open) != 1 {
		t.Errorf("out of time: %+v", r)
	}
	w = newWorld(t, func(o *codemode.Options) { o.Budget.Bytes = 20 })
	r := w.end(w.run(stretch(`await test.get({ name: "0123456789" }); try { await test.get({ name: "0123456789" }) } catch (e: any) { return e.code }`)))
	if string(r.Result) != `"byte_limit"` {
		t.Errorf("out of bytes: %+v", r)
	}
}

func TestLargeResultsAreOutlinedAndKept(t *testing.T) {
	w := newWorld(t)
	came := w.run(stretch(`Array.from({ length: 8_000 }, (_, i) => ({ id: i, text: "order " + i }))`))
	r := w.end(came)
	if len(r.Result) > 0 || len(r.Outline) == 0 || r.Handle != "t1-s1-c1" || len(came.End.Whole) < 200_000 || !strings.Contains(r.Hint, `tools.result("t1-s1-c1"`) {
		t.Errorf("report of %d bytes, whole of %d, hint %q", len(came.End.Report), len(came.End.Whole), r.Hint)
	}
}

func TestKeptResults(t *testing.T) {
	w := newWorld(t)
	for source, want := range map[string]string{
		`await tools.result("t0-s1-c1", { path: "orders", offset: 1, limit: 1 })`:                          `[{"id":2}]`,
		`await tools.result("t0-s1-c1", { path: "orders.2.id" })`:                                          `3`,
		`await tools.result("t0-s1-c1", { path: "note", offset: 2, limit: 4 })`:                            `"long"`,
		`((await tools.result("t0-s1-c1")) as any).orders.length`:                                          `3`,
		`await tools.result("t9-s1-c1").catch((e: any) => e.code)`:                                         `"invalid_input"`,
		`await tools.result("t0-s1-c1", { path: "none" }).catch((e: any) => e.code)`:                       `"invalid_input"`,
		`await tools.result("t0-s1-c1", { offset: -1 }).catch((e: any) => e.code)`:                         `"invalid_input"`,
		`await tools.result("t0-s1-c1", { limit: 3 }).catch((e: any) => e.code)`:                           `"invalid_input"`,
		`(await tools.result("t0-s1-c1", { path: "orders", limit: 1e9 })).length`:                          `3`,
		`(await tools.search({ query: "write" })) !== undefined`:                                           `true`,
		`(await tools.describe({ id: "test.get" })) !== undefined`:                                         `true`,
		`await tools.describe({ id: "test.none" }).catch((e: any) => "e")`:                                 ``,
		`const n = ["none"]; await tools.call({ id: "test." + n[0] }).catch((e: any) => e.code)`:           `"tool_not_found"`,
		`const g = ["get"]; await tools.call({ id: "test." + g[0], input: {} }).catch((e: any) => e.code)`: `"invalid_input"`,
	} {
		if r := w.end(w.run(stretch(source))); want != "" && string(r.Result) != want {
			t.Errorf("%s = %s (%v), want %s", source, r.Result, r.Error, want)
		}
	}
}

func TestDivergenceIsAnErrorOfItsOwn(t *testing.T) {
	w := newWorld(t)
	in := stretch(`await test.write({ name: String(Math.random()) })`)
	came := w.run(in)
	in = next(in, came)
	in.Program.Seed = "another"
	_, err := w.Run(t.Context(), in)
	if !errors.Is(err, activities.ErrDiverged) || !strings.Contains(err.Error(), "recorded:") || !strings.Contains(err.Error(), "made:") {
		t.Errorf("error = %v", err)
	}
}

func TestTheEndOfTheContextReachesReads(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	in := stretch(`await test.slow({ name: "s" })`)
	in.Progress = func(made, _ int) {
		if made == 1 {
			cancel()
		}
	}
	if _, err := w.Run(ctx, in); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
}

// A snippet that is broken off at each effect makes the same calls, and comes to
// the same end, as the same outcomes make of it without a break.
func TestBrokenOffItGoesOnAlike(t *testing.T) {
	w := newWorld(t)
	const source = `
		const log: string[] = [];
		const branch = async (n: number) => {
			log.push("begin " + n + " " + Math.random());
			const read = await test.get({ name: "r" + n });
			if (n % 2) try { log.push("wrote " + await test.write({ name: "w" + n })) } catch (e: any) { log.push(e.code + " " + n) }
			return read;
		};
		const all = await Promise.all([1, 2, 3, 4, 5].map(branch));
		return { all, log: log.sort(), id: crypto.randomUUID() };`
	ends := map[string]bool{}
	for order := range 6 {
		in := stretch(source)
		came := w.run(in)
		for pending := came.Effects; came.End == nil; {
			if len(pending) == 0 {
				t.Fatal("it waits for nothing")
			}
			n := order % len(pending)
			effect := pending[n]
			pending = slices.Delete(slices.Clone(pending), n, n+1)
			d := result(effect.Number, fmt.Sprintf("%q", string(effect.Input)))
			if strings.Contains(string(effect.Input), "w3") {
				d = problem(effect.Number, "approval_denied")
			}
			in = next(in, came, d)
			came = w.run(in)
			pending = append(pending, came.Effects...)
		}
		ends[string(w.end(came).Result)] = true
	}
	if len(ends) != 1 {
		t.Errorf("%d different ends: %v", len(ends), ends)
	}
}
