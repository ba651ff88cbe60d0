package heddle

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
)

var _ activities.Broker = (*catalog.Broker)(nil)

type refundInput struct {
	Order string `json:"order" jsonschema:"pattern=^A-[0-9]+$"`
	Cents int64  `json:"cents,omitempty" jsonschema:"minimum=1,default=100"`
}

// gather builds the catalog of the options alone.
func gather(options ...Option) (*catalog.Broker, []error) {
	p := &parts{}
	for _, option := range options {
		option.apply(p)
	}
	return p.openCatalog(), p.problems
}

func TestToolIsDescribed(t *testing.T) {
	refund := func(context.Context, refundInput) (string, error) { return "", nil }
	broker, problems := gather(
		Tool("orders.refund", "Refunds an order.", refund, Write(), Title("Refund"), Timeout(5*time.Second)),
		Tool("orders.free", "Refunds without asking.", refund, Write(), WithoutApproval()),
		Tool("orders.read", "Reads with asking.", refund, Approval()),
	)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	tools, err := broker.Tools(t.Context(), catalog.Scope{Tools: []string{"*"}})
	if err != nil || len(tools) != 3 {
		t.Fatalf("%d tools, %v", len(tools), err)
	}
	free, read, full := tools[0], tools[1], tools[2]
	if free.Operation != catalog.Write || free.Approval != catalog.ApprovalNever {
		t.Errorf("WithoutApproval gives %+v", free)
	}
	if read.Operation != catalog.Read || read.Approval != catalog.ApprovalAlways {
		t.Errorf("Approval gives %+v", read)
	}
	if full.Title != "Refund" || full.Timeout != 5*time.Second || !strings.HasPrefix(full.Source, "tool_test.go:") {
		t.Errorf("the options give %+v", full)
	}
}

func TestBrokenToolsAreProblemsOfNew(t *testing.T) {
	fn := func(context.Context, struct{ C chan int }) (int, error) { return 0, nil }
	fine := func(context.Context, struct{}) (int, error) { return 0, nil }
	_, err := New(
		Tool("orders.get", "Has an input of no form.", fn),
		Tool("get", "Has no namespace.", fine),
		Tool("orders.list", "Is there twice.", fine),
		Tool("orders.list", "Is there twice.", fine),
	)
	if err == nil {
		t.Fatal("New takes broken tools")
	}
	for _, part := range []string{`tool "orders.get": input: field C is a chan int`, "no namespace", `tool id "orders.list" is used twice`} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error lacks %q: %v", part, err)
		}
	}
	if n := strings.Count(err.Error(), "tool_test.go:"); n != 4 {
		t.Errorf("the error names %d places, want those of 4 calls of Tool: %v", n, err)
	}
	if strings.Contains(err.Error(), "/tool_test.go") {
		t.Errorf("the error shows a path of this machine: %v", err)
	}
}

func TestFunctionSeesItsCall(t *testing.T) {
	fn := func(ctx context.Context, in refundInput) (string, error) {
		s := ScopeFrom(ctx)
		return strings.Join([]string{s.Tenant, s.User, s.Thread, in.Order, IdempotencyKey(ctx)}, " "), nil
	}
	broker, problems := gather(Tool("orders.refund", "Refunds an order.", fn, Write()))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	scope := catalog.Scope{Tenant: "acme", User: "ann", Thread: "t1", Tools: []string{"orders.*"}}
	req := catalog.Request{Tool: "orders.refund", Input: json.RawMessage(`{"order":"A-17"}`), IdempotencyKey: "key-1"}
	plan := broker.Plan(t.Context(), scope, req)
	if string(plan.Preview) != `{"cents":100,"order":"A-17"}` {
		t.Errorf("a person is shown %s", plan.Preview)
	}
	out := broker.Dispatch(t.Context(), scope, req, plan)
	if string(out.Result) != `"acme ann t1 A-17 key-1"` {
		t.Errorf("outcome is %+v", out)
	}
	if IdempotencyKey(t.Context()) != "" || ScopeFrom(t.Context()).Tenant != "" {
		t.Error("there is a call outside of a tool")
	}
}

// A person who is asked about a change of a file is shown the difference, without the
// secrets in it.
func TestPreviewOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(path, []byte("one\ntwo\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	type input struct {
		Content string `json:"content"`
	}
	broker, problems := gather(Tool("files.write", "Writes the notes.",
		func(_ context.Context, in input) (struct{}, error) {
			return struct{}{}, os.WriteFile(path, []byte(in.Content), 0o600)
		},
		Write(), Preview(func(in input) string {
			before, _ := os.ReadFile(path)
			return Diff("notes.txt", string(before), in.Content)
		})))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	req := catalog.Request{Tool: "files.write", Input: json.RawMessage(`{"content":"one\n2\nthree\n"}`)}
	plan := broker.Plan(t.Context(), catalog.Scope{Tools: []string{"files.*"}}, req)
	const want = "--- notes.txt\n+++ notes.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
	if !plan.NeedsApproval || plan.Does != want {
		t.Errorf("a person is told %q (asked: %t)", plan.Does, plan.NeedsApproval)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "one\ntwo\nthree\n" {
		t.Errorf("the file has become %q, %v", text, err)
	}
}
