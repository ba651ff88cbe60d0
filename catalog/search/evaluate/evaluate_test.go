package evaluate_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/catalog/search"
	"github.com/heddle-dev/heddle/catalog/search/evaluate"
)

func TestReadTools(t *testing.T) {
	const text = "\uFEFF" + `{"id": "a.b", "namespace": "a", "name": "b", "title": "B", "description": "Does b.", "tags": ["t"], "operation": "read",
"parameters": {"properties": {"z": {"description": "last"}, "a": {"properties": {"in": {"description": 7}}, "items": 3},
"list": {"type": "array", "items": {"properties": {"each": {"enum": ["big", 7, "small"]}}}}}}, "output": {"properties": {"done": {}}}}`
	got, err := evaluate.ReadTools(strings.NewReader(strings.ReplaceAll(text, "\n", " ")+"\r\n\r\n"), "f")
	if err != nil {
		t.Fatal(err)
	}
	want := []search.Document{{
		ID: "a.b", Namespace: "a", Name: "b", Title: "B", Description: "Does b.", Tags: []string{"t"}, Operation: "read",
		Parameters: []search.Parameter{{Name: "z", Description: "last"}, {Name: "a"}, {Name: "list"}, {Name: "in"}, {Name: "each", Values: []string{"big", "small"}}},
		Outputs:    []string{"done"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	endless := strings.NewReader(`{"id": "a"}` + "\n" + strings.Repeat("x", evaluate.MaxLine+1))
	if _, err := evaluate.ReadTools(endless, "f"); err == nil || !strings.Contains(err.Error(), "f:2: the line is longer") {
		t.Errorf("a line without end: %v", err)
	}
}

func TestFigures(t *testing.T) {
	documents := []search.Document{
		{ID: "one", Name: "alpha"}, {ID: "two", Name: "beta"}, {ID: "two~2", Name: "beta"}, {ID: "three", Name: "gamma"},
	}
	queries, err := evaluate.ReadQueries(strings.NewReader(`
{"query": "alpha", "relevant": ["one"]}
{"query": "beta", "relevant": ["two", "two~2"]}
{"query": "alpha beta", "relevant": ["two~2", "one", "three"]}
{"query": "alpha", "relevant": ["three"]}`), "q", documents)
	if err != nil {
		t.Fatal(err)
	}
	var outcomes []int
	got, err := evaluate.Run(t.Context(), search.Build(documents), queries, func(o evaluate.Outcome) { outcomes = append(outcomes, o.Found) })
	if err != nil {
		t.Fatal(err)
	}
	// Of three wanted tools the third query finds two: one in the first place, and
	// two~2 in the third, behind its equal two, since equals are ordered by id.
	third := (1 + 1/math.Log2(4)) / (1 + 1/math.Log2(3) + 1/math.Log2(4))
	want := evaluate.Figures{
		HitAt1: 75, RecallAt5: 66.67, RecallAt10: 66.67, NDCGAt10: math.Round(25*(2+third)*100) / 100, P50MS: got.P50MS,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{1, 1, 2, 0}, outcomes); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	x := search.Build([]search.Document{{ID: "a"}})
	_, err := evaluate.Run(ctx, x, make([]evaluate.Query, 3), func(evaluate.Outcome) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	if _, err := evaluate.Run(t.Context(), x, nil, nil); err == nil {
		t.Error("no queries have figures")
	}
}
