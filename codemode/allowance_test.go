package codemode_test

import (
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
)

func left(name string, n int64) *activities.Left {
	return &activities.Left{Left: n, Exceeded: catalog.Exceeded{Limit: "limits." + name, Value: 10, Unit: "calls", SetBy: "agent", Used: 10 - n}}
}

// A snippet's calls stay within what is left of the turn's and the thread's limits,
// and it can catch what goes past.
func TestCallsStayWithinWhatIsAllowed(t *testing.T) {
	const source = `
		const codes = [];
		for (const name of ["a", "b", "c"]) {
			codes.push(await test.get({ name }).then(() => "ok").catch((e: any) => e.code + " " + e.details.limit.limit));
		}
		codes.join(", ")`
	for want, allowed := range map[string]activities.Allowance{
		`"ok, ok, ok"`:                          {},
		`"ok, ok, limit_exceeded limits.calls"`: {Calls: left("calls", 2)},
		`"ok, limit_exceeded limits.input_bytes, limit_exceeded limits.input_bytes"`:   {InputBytes: left("input_bytes", 20)},
		`"ok, limit_exceeded limits.output_bytes, limit_exceeded limits.output_bytes"`: {OutputBytes: left("output_bytes", 5)},
	} {
		w := newWorld(t)
		in := stretch(source)
		in.Allowed = allowed
		came := w.run(in)
		if r := w.end(came); string(r.Result) != want {
			t.Errorf("result = %s, want %s", r.Result, want)
		}
		if ok := strings.Count(want, "ok"); came.Used.Calls != ok && allowed.OutputBytes == nil {
			t.Errorf("used = %+v, want %d calls", came.Used, ok)
		}
	}
}

// Calls that an earlier stretch made are not counted again.
func TestCallsAreCountedOnce(t *testing.T) {
	w := newWorld(t)
	in := stretch(`const a = await test.get({ name: "a" }); await test.write({ name: "w" }); await test.get({ name: "b" }); a`)
	in.Allowed.Calls = left("calls", 3)
	came := w.run(in)
	if came.Used.Calls != 2 || came.Used.InputBytes == 0 || came.Used.OutputBytes == 0 {
		t.Errorf("used = %+v", came.Used)
	}
	in = next(in, came, result(2, `1`))
	in.Allowed.Calls = left("calls", 1)
	came = w.run(in)
	if r := w.end(came); string(r.Result) != `"a"` || came.Used.Calls != 1 {
		t.Errorf("result = %s, used = %+v", r.Result, came.Used)
	}
}
