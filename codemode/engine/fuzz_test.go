package engine_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/codemode/engine"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

// FuzzSource runs any text as a snippet, and any text as what its first calls
// give. Whatever it is, it ends in time, with an error that is no crash or a
// result that is JSON, and the next snippet finds nothing amiss.
func FuzzSource(f *testing.F) {
	for n, feature := range table(f, "testdata/features.tsv") {
		if n%10 == 0 {
			f.Add(feature[1], "{}")
		}
	}
	f.Add("for (;;) [...'x'.repeat(1e6)].sort()", "1")
	f.Add("return await orders.get({ a: 1 })", `{"a":[1,{"b":null}]}`)
	f.Add("```ts\nexport default async () => 1", "[[[")
	f.Add("}\x00{\u2028`${", "\xff")
	e, err := engine.New(engine.Options{
		Command: childCommand, Limits: snippet.Limits{CPU: 150 * time.Millisecond, Wall: 5 * time.Second, Calls: 20}, Concurrency: 1,
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = e.Close() })
	f.Fuzz(func(t *testing.T, source, result string) {
		if len(source) > snippet.MaxSource {
			t.Skip("a source this long is refused before it runs")
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		x, step, err := e.Start(ctx, program(source))
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		for turn := 0; step.End == nil && turn < 20 && len(step.Calls) > 0; turn++ {
			d := snippet.Delivery{Call: step.Calls[0].Number, At: epoch, Result: json.RawMessage(result)}
			if !json.Valid(d.Result) {
				d.Result, d.Error = nil, &snippet.Error{Code: "x", Message: result}
			}
			if step, err = x.Deliver(ctx, d); err != nil {
				t.Fatal(err)
			}
		}
		if end := step.End; end != nil {
			if end.Error != nil && end.Error.Code == snippet.CodeCrashed {
				t.Errorf("it crashed: %v", end.Error)
			}
			if len(end.Result) > 0 && !json.Valid(end.Result) {
				t.Errorf("the result is no JSON: %s", end.Result)
			}
		}
		x.Close()
		next, step, err := e.Start(ctx, program("return 2"))
		if err != nil || step.End == nil || string(step.End.Result) != "2" {
			t.Fatalf("the next snippet: %+v, %v", step, err)
		}
		next.Close()
	})
}
