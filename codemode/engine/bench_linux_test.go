package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/codemode/engine"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

// BenchmarkTrivial is a snippet that makes no call, in a warm child.
func BenchmarkTrivial(b *testing.B) {
	e := newEngine(b, engine.Options{})
	var used time.Duration
	for b.Loop() {
		x, step, err := e.Start(b.Context(), program("return 1 + 1"))
		if err != nil {
			b.Fatal(err)
		}
		used += step.CPU
		x.Close()
	}
	b.ReportMetric(float64(used.Microseconds())/float64(b.N), "child-µs/op")
}

// BenchmarkTypical is a snippet of 2 KB that makes five calls one after another.
func BenchmarkTypical(b *testing.B) {
	e := newEngine(b, engine.Options{})
	source := "interface Order { id: number; total: number; lines: { sku: string; qty: number }[] }\n" +
		strings.Repeat("const pad = (x: string, n: number): string => x.length >= n ? x : pad(' ' + x, n); // padding that is long\n", 1) +
		strings.Repeat("// a comment that takes room in the source, as models write them, for ever and ever\n", 20) +
		"let sum = 0;\nfor (let id = 1; id <= 5; id++) { const o = (await orders.get({ id })) as { id: number }; sum += o.id; }\nreturn { sum };"
	for b.Loop() {
		play(b, e, program(source), echo)
	}
}

// BenchmarkStep is one call and its outcome.
func BenchmarkStep(b *testing.B) {
	e := newEngine(b, engine.Options{Limits: snippet.Limits{Calls: 1e9, CPU: time.Hour}})
	s := start(b, e, program("for (let id = 0; ; id++) await orders.get({ id })"))
	for b.Loop() {
		s.give(s.step.Calls[0].Number, `{"total":12}`)
	}
	b.ReportMetric(float64(s.step.CPU.Microseconds())/float64(b.N), "child-µs/op")
}

// BenchmarkResume takes up an execution with so many outcomes in its journal.
func BenchmarkResume(b *testing.B) {
	for _, results := range []int{0, 200, 1000} {
		b.Run(fmt.Sprintf("results=%d", results), func(b *testing.B) {
			e := newEngine(b, engine.Options{Limits: snippet.Limits{Calls: 1e9}})
			p := program("let sum = 0; for (let id = 0; ; id++) sum += (await orders.get({ id }) as any).total")
			s := start(b, e, p)
			for range results {
				c := s.step.Calls[0]
				p.Journal.Calls = append(p.Journal.Calls, c.Record())
				p.Journal.Deliveries = append(p.Journal.Deliveries, snippet.Delivery{Call: c.Number, Result: json.RawMessage(`{"total":12,"note":"some text of a result"}`), At: epoch})
				s.give(c.Number, `{"total":12}`)
			}
			s.x.Close()
			var used time.Duration
			for b.Loop() {
				x, step, err := e.Start(b.Context(), p)
				if err != nil {
					b.Fatal(err)
				}
				used += step.CPU
				x.Close()
			}
			b.ReportMetric(float64(used.Microseconds())/float64(b.N), "child-µs/op")
		})
	}
}

// BenchmarkNamespaces is a snippet that sees a catalog of 2,000 tools.
func BenchmarkNamespaces(b *testing.B) {
	e := newEngine(b, engine.Options{})
	api := map[string]map[string]string{}
	for n := range 40 {
		methods := map[string]string{}
		for m := range 50 {
			methods[fmt.Sprintf("method%d", m)] = fmt.Sprintf("source%d.method%d", n, m)
		}
		api[fmt.Sprintf("source%d", n)] = methods
	}
	p := program("await source7.method3({})")
	p.API, _ = json.Marshal(api)
	for b.Loop() {
		play(b, e, p, echo)
	}
}

// BenchmarkColdChild is a child from its start to its first snippet's end.
func BenchmarkColdChild(b *testing.B) {
	for b.Loop() {
		e := newEngine(b, engine.Options{})
		play(b, e, program("return 1"), echo)
		_ = e.Close()
	}
}

// BenchmarkMemory tells what a child takes: idle, and with a snippet that waits.
func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		e := newEngine(b, engine.Options{})
		idle := residentOf(b, e.Children()[0])
		s := start(b, e, program("const rows = await orders.get({}); return rows"))
		waiting := residentOf(b, s.x.PID())
		s.give(1, "1")
		b.ReportMetric(float64(idle>>20), "idle-MiB")
		b.ReportMetric(float64(waiting>>20), "waiting-MiB")
		s.x.Close()
		_ = e.Close()
	}
}
