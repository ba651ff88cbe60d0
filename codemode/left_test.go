package codemode_test

import (
	"slices"
	"testing"
)

// Tools that keep or end the goroutine that they run on cost the snippet their own calls.
func TestToolsThatDoNotComeBack(t *testing.T) {
	w := newWorld(t)
	end := w.end(w.run(stretch(`
		const first = await Promise.allSettled([test.deaf({ name: "d" }), test.exits({ name: "x" }), test.get({ name: "a" })]);
		const then = [];
		for (let i = 0; i < 100; i++) then.push((await test.get({ name: "n" + i })) === "n" + i);
		const exits = await Promise.allSettled(Array.from({ length: 4 }, () => test.exits({ name: "x" })));
		const all = await Promise.all(Array.from({ length: 100 }, (_, i) => test.get({ name: "m" + i })));
		return [...first.map((s: any) => s.value ?? s.reason.code), then.filter(Boolean).length, exits.filter((s: any) => s.reason?.code === "tool_failed").length, all.length];
	`)))
	if want := `["timeout","tool_failed","a",100,4,100]`; string(end.Result) != want {
		t.Errorf("result is %s, want %s (%+v)", end.Result, want, end.Error)
	}
	close(w.hold) // what comes now is too late
	if made := w.made(); !slices.Contains(made, "test.deaf d") {
		t.Errorf("calls are %q", made)
	}
}
