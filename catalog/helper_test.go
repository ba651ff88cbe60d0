package catalog_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
)

// everyone may use every tool.
var everyone = catalog.Scope{Tenant: "acme", Thread: "t1", Agent: "support", Tools: []string{"*"}}

// source is a source that tests script.
type source struct {
	name string
	list func(ctx context.Context) ([]catalog.Tool, error)
}

func (s *source) Name() string                                      { return s.name }
func (s *source) Tools(ctx context.Context) ([]catalog.Tool, error) { return s.list(ctx) }

// of is a source of fixed tools.
func of(name string, tools ...catalog.Tool) *source {
	return &source{name, func(context.Context) ([]catalog.Tool, error) { return tools, nil }}
}

type function = func(ctx context.Context, call catalog.Call) (json.RawMessage, error)

// read is a tool that takes anything and answers what it got.
func read(id string) catalog.Tool {
	return catalog.Tool{
		Descriptor: catalog.Descriptor{
			ID: id, Description: "Answers what it got.", Operation: catalog.Read,
			Input: json.RawMessage(`{"type":"object"}`), Source: "helper_test.go:1",
		},
		Call: func(_ context.Context, call catalog.Call) (json.RawMessage, error) { return call.Input, nil },
	}
}

func write(id string) catalog.Tool {
	t := read(id)
	t.Operation = catalog.Write
	return t
}

func withSchema(t catalog.Tool, schema string) catalog.Tool {
	t.Input = json.RawMessage(schema)
	return t
}

func withFunction(t catalog.Tool, f function) catalog.Tool {
	t.Call = f
	return t
}

func broker(t testing.TB, sources ...catalog.Source) *catalog.Broker {
	t.Helper()
	b, err := catalog.New(sources...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// do plans and dispatches one call.
func do(t testing.TB, b *catalog.Broker, id, input string) catalog.Outcome {
	t.Helper()
	req := catalog.Request{Tool: id, Input: json.RawMessage(input), IdempotencyKey: "key-1"}
	plan := b.Plan(t.Context(), everyone, req)
	if plan.Error != nil {
		return catalog.Outcome{Error: plan.Error}
	}
	return b.Dispatch(t.Context(), everyone, req, plan)
}

// wantError fails the test unless err has the code, and returns it.
func wantError(t testing.TB, err *catalog.Error, code string) *catalog.Error {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with code %s", code)
	}
	if err.Code != code {
		t.Fatalf("error is %v, want code %s", err, code)
	}
	return err
}

// sharedCase reads a recorded case: the file of that name below the folder that
// HEDDLE_SHARED names, or ../shared beside the repository.
func sharedCase(t *testing.T, name string, into any) {
	t.Helper()
	root := os.Getenv("HEDDLE_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "shared")
	}
	text, err := os.ReadFile(filepath.Join(root, "cases", "inputs", name))
	if os.IsNotExist(err) {
		t.Skipf("no folder of recorded cases (%v); set HEDDLE_SHARED to it", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}
