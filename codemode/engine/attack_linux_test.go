package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/codemode/engine"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

// attackLimits are small, so that an attack is over soon. What comes after it has the
// engine's own.
var attackLimits = snippet.Limits{CPU: 250 * time.Millisecond, Wall: 10 * time.Second, ConsoleBytes: 4 << 10, OutputBytes: 4 << 10}

// TestAttacks runs snippets that want to hang the worker, fill its memory, crash
// it or get out. Each ends within its limits with an error that says which; the
// worker's memory does not move; and the next snippet finds nothing amiss.
func TestAttacks(t *testing.T) {
	e := newEngine(t, engine.Options{Concurrency: 2})
	before := resident(t)
	for _, attack := range table(t, "testdata/attacks.tsv") {
		name, outcomes, source := attack[0], strings.Fields(attack[1]), attack[2]
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			p := program(source)
			p.Limits = attackLimits
			end, calls, _ := play(t, e, p, echo)
			if took := time.Since(begun); took > attackLimits.Wall+10*time.Minute {
				t.Errorf("it took %s", took)
			}
			outcome := "ok"
			if end.Error != nil {
				outcome = end.Error.Code
			}
			// On a slow machine any of them may reach a limit of time first.
			outcomes := append(outcomes, snippet.CodeCPU, snippet.CodeTime)
			if !slices.Contains(outcomes, outcome) {
				t.Errorf("it ended with %s (%v), want one of %v; result %.100s", outcome, end.Error, outcomes, end.Result)
			}
			if outcome == snippet.CodeCrashed {
				t.Errorf("it ended in a crash: %v", end.Error)
			}
			for _, c := range calls {
				if c.Tool == "shop.refund" {
					t.Errorf("it made a call after its end: %+v", c)
				}
			}
			if end, _, _ := play(t, e, program("const a: any = await orders.get({ n: 1 }); a.n + 1"), echo); string(end.Result) != "2" {
				t.Errorf("the next snippet gave %s, %v", end.Result, end.Error)
			}
		})
	}
	if grown := resident(t) - before; grown > 32<<20 {
		t.Errorf("the worker grew by %d MiB", grown>>20)
	}
}
