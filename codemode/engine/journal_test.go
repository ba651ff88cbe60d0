package engine_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/codemode/engine"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

const branching = `
const id = crypto.randomUUID(), luck = Math.random(), begun = Date.now();
const read = async (n: number) => {
	const r: any = await orders.get({ n, id });
	console.log("read", n, r.v);
	if (r.v % 2) return (await orders.list({ n, luck })) as any;
	try { await orders.refund({ n }) } catch (e: any) { return { refused: e.code, at: Date.now() - begun } }
	return { refunded: n };
};
const all = await Promise.allSettled([1, 2, 3, 4].map(read));
const fastest = await Promise.race([orders.get({ n: 5 }), orders.get({ n: 6 })]);
return { all: all.map((r: any) => r.value), fastest, id, luck, order: Math.random() };
`

// outcome says what comes of a call, the same each time.
func outcome(c snippet.Call) snippet.Delivery {
	var input struct{ N int }
	_ = json.Unmarshal(c.Input, &input)
	d := snippet.Delivery{Call: c.Number, Result: json.RawMessage(`{"v":` + string(rune('0'+input.N)) + `}`)}
	if c.Tool == "shop.refund" && input.N == 4 {
		d.Result, d.Error = nil, &snippet.Error{Code: "denied", Message: "no"}
	}
	return d
}

// run plays a program to its end, taking a random call each time, and leaves it
// and takes it up again from the journal after each step that breaks says.
func run(t *testing.T, e *engine.Engine, p snippet.Program, seed uint64, breaks func() bool) (*snippet.End, []snippet.Line, snippet.Journal) {
	t.Helper()
	pick := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test's choice
	var journal snippet.Journal
	var waiting []snippet.Call
	var console []snippet.Line
	at := p.Now
	x, step, err := e.Start(t.Context(), p)
	for {
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range step.Calls {
			journal.Calls = append(journal.Calls, c.Record())
		}
		waiting, console = append(waiting, step.Calls...), append(console, step.Console...)
		if step.End != nil {
			x.Close()
			return step.End, console, journal
		}
		if breaks() {
			x.Close()
			p.Journal = journal
			if x, step, err = e.Start(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(step.Calls, waiting) && len(step.Calls)+len(waiting) > 0 {
				t.Fatalf("taken up with calls %+v, left with %+v", step.Calls, waiting)
			}
			console = step.Console
		}
		n := pick.IntN(len(waiting))
		d := outcome(waiting[n])
		waiting = append(waiting[:n:n], waiting[n+1:]...)
		at = at.Add(time.Second)
		d.At = at
		journal.Deliveries = append(journal.Deliveries, d)
		step, err = x.Deliver(t.Context(), d)
	}
}

// TestTakenUpFromAJournalItGoesOnAlike leaves an execution at random points and
// compares what becomes of it with one that was never left.
func TestTakenUpFromAJournalItGoesOnAlike(t *testing.T) {
	e := newEngine(t, engine.Options{})
	for seed := range uint64(12) {
		straight, lines, journal := run(t, e, program(branching), seed, func() bool { return false })
		if straight.Error != nil {
			t.Fatal(straight.Error)
		}
		breaks := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // a test's choice
		broken, brokenLines, brokenJournal := run(t, e, program(branching), seed, func() bool { return breaks.IntN(2) == 0 })
		if !reflect.DeepEqual(straight, broken) {
			t.Errorf("seed %d: left and taken up it ended with\n%s\nwant\n%s", seed, broken.Result, straight.Result)
		}
		if !reflect.DeepEqual(lines, brokenLines) {
			t.Errorf("seed %d: console\n%v\nwant\n%v", seed, brokenLines, lines)
		}
		if !reflect.DeepEqual(journal.Calls, brokenJournal.Calls) {
			t.Errorf("seed %d: calls\n%v\nwant\n%v", seed, brokenJournal.Calls, journal.Calls)
		}
	}
}

func TestTheSameEveryTime(t *testing.T) {
	e := newEngine(t, engine.Options{Reuse: 3})
	first, lines, _ := run(t, e, program(branching), 5, func() bool { return false })
	for range 20 {
		again, againLines, _ := run(t, e, program(branching), 5, func() bool { return false })
		if !reflect.DeepEqual(first, again) || !reflect.DeepEqual(lines, againLines) {
			t.Fatalf("got %s, then %s", first.Result, again.Result)
		}
	}
	other := program(branching)
	other.Seed = "another"
	if end, _, _ := run(t, e, other, 5, func() bool { return false }); reflect.DeepEqual(first.Result, end.Result) {
		t.Error("another seed gives the same random numbers")
	}
}

func TestDivergence(t *testing.T) {
	e := newEngine(t, engine.Options{})
	_, _, journal := run(t, e, program(branching), 1, func() bool { return false })
	journal.Deliveries = journal.Deliveries[:3]
	record := func(n int) *snippet.Record { r := journal.Calls[n-1]; return &r }
	tests := []struct {
		name     string
		change   func(*snippet.Program)
		recorded *snippet.Record
		made     string
		want     string
	}{
		{"another input", func(p *snippet.Program) { p.Seed = "other" }, record(1), "shop.get", "call 1 is another one"},
		{"another tool", func(p *snippet.Program) { p.API = json.RawMessage(`{"orders":{"get":"shop.fetch"}}`) }, record(1), "shop.fetch", "call 1 is another one"},
		{"fewer calls", func(p *snippet.Program) { p.Source = "return 1" }, nil, "", "holds an outcome of call"},
		{"no outcomes, fewer calls", func(p *snippet.Program) { p.Source = "return 1"; p.Journal.Deliveries = nil }, record(1), "", "the snippet made 0"},
		{"an outcome twice", func(p *snippet.Program) {
			p.Journal.Deliveries = append(p.Journal.Deliveries[:1:1], p.Journal.Deliveries[0])
		}, nil, "", "does not wait for one"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := program(branching)
			p.Journal = journal
			tt.change(&p)
			_, _, err := e.Start(t.Context(), p)
			var diverged *engine.DivergenceError
			if !errors.As(err, &diverged) {
				t.Fatalf("error = %v, want a divergence", err)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q in it", err, tt.want)
			}
			if tt.recorded != nil && !reflect.DeepEqual(diverged.Recorded, tt.recorded) {
				t.Errorf("recorded = %+v, want %+v", diverged.Recorded, tt.recorded)
			}
			if made := diverged.Made; (made == nil) != (tt.made == "") || made != nil && made.Tool != tt.made {
				t.Errorf("made = %+v, want %q", made, tt.made)
			}
		})
	}
}

func TestACrossCheckedJournalMayEndAnywhere(t *testing.T) {
	e := newEngine(t, engine.Options{})
	end, _, journal := run(t, e, program(branching), 3, func() bool { return false })
	for n := range journal.Deliveries {
		p := program(branching)
		p.Journal = snippet.Journal{Deliveries: journal.Deliveries[:n]}
		s := start(t, e, p)
		if s.step.End != nil {
			t.Fatalf("after %d outcomes it has ended: %+v", n, s.step.End)
		}
	}
	p := program(branching)
	p.Journal = journal
	if s := start(t, e, p); !reflect.DeepEqual(s.step.End, end) {
		t.Errorf("with the whole journal it ended with %+v, want %+v", s.step.End, end)
	}
}
