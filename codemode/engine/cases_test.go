package engine_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/codemode/engine"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

// TestCases runs snippets that broke other engines. Each file holds one snippet per
// "// variant" and stands for a fault that was reported; what is expected is below.
func TestCases(t *testing.T) {
	e := newEngine(t, engine.Options{Limits: snippet.Limits{Wall: time.Minute}})
	limit := func(t *testing.T, end *snippet.End) {
		t.Helper()
		if end.Error == nil {
			t.Errorf("it ended with %.100s", end.Result)
			return
		}
		switch end.Error.Code {
		case snippet.CodeCPU, snippet.CodeMemory, snippet.CodeStack, snippet.CodeInvalidInput:
		default:
			t.Errorf("error = %v, want that of a limit", end.Error)
		}
	}
	result := func(want string) func(*testing.T, *snippet.End) {
		return func(t *testing.T, end *snippet.End) {
			t.Helper()
			if end.Error != nil || string(end.Result) != want {
				t.Errorf("got %s, %v, want %s", end.Result, end.Error, want)
			}
		}
	}
	finishes := func(t *testing.T, end *snippet.End) {
		t.Helper()
		if end.Error != nil {
			t.Error(end.Error)
		}
	}
	either := func(t *testing.T, end *snippet.End) {
		t.Helper()
		if end.Error != nil {
			limit(t, end)
		}
	}
	tests := map[string][]func(*testing.T, *snippet.End){
		// A regular expression of variant 3 is matched in linear time.
		"infinite-loop.ts":   {limit, limit, result("false"), limit, limit},
		"deep-nesting.ts":    {limit, limit, limit, either, limit, limit},
		"source-map-read.ts": {result("1")},
		"host-reentry.ts":    {finishes, limit, limit, limit},
		"error-in-async-executor.ts": {func(t *testing.T, end *snippet.End) {
			if end.Error == nil || end.Error.Code != snippet.CodeNeverSettles || !strings.Contains(end.Error.Message, "undefinedFn is not defined") {
				t.Errorf("error = %v", end.Error)
			}
		}},
		"silent-empty-result.ts": {result(`{"a":{"n":1},"b":{"n":2},"c":{"n":3},"nope":"undefined"}`)},
		"escape-probes.ts":       {result(`["undefined","undefined","undefined","undefined","undefined","undefined","blocked",true,"github,orders,tools","[\"length\",\"name\"]"]`)},
		"output-limits.ts": {func(t *testing.T, end *snippet.End) {
			for _, want := range []string{`"nested":{"keep":1}`, `"fn":"[Function fn]"`, `"sym":"[Symbol s]"`, `"date":"1970-01-01T00:00:00.000Z"`, `"map":{"[Map]":[[1,2]]}`, `"n":"NaN"`, `"big2":10`, "(3000000 characters)"} {
				if !strings.Contains(string(end.Outline), want) {
					t.Errorf("the outline has no %s: %s", want, end.Outline)
				}
			}
			if !json.Valid(end.Outline) || len(end.Outline) > engine.DefaultLimits.OutputBytes {
				t.Errorf("outline of %d bytes", len(end.Outline))
			}
		}},
	}
	for file, wants := range tests {
		text, err := os.ReadFile(filepath.Join("testdata", "cases", file))
		if err != nil {
			t.Fatal(err)
		}
		prelude, variants, _ := strings.Cut(string(text), "// variant")
		parts := strings.Split(variants, "// variant")
		if len(parts) != len(wants) {
			t.Fatalf("%s: %d variants, %d expectations", file, len(parts), len(wants))
		}
		for n, part := range parts {
			_, body, _ := strings.Cut(part, "\n")
			t.Run(file, func(t *testing.T) {
				end, _, _ := play(t, e, program(prelude+body), echo)
				wants[n](t, end)
			})
		}
	}
}
