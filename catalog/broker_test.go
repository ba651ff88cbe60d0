package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/catalog"
)

func TestNewNamesBothPlacesOfADuplicate(t *testing.T) {
	first, second := read("orders.get"), read("orders.get")
	first.Source, second.Source = "orders.go:10", "billing.go:20"
	for name, sources := range map[string][]catalog.Source{
		"in one source":  {of("local", first, second)},
		"in two sources": {of("local", first), of("remote", second)},
	} {
		_, err := catalog.New(sources...)
		if err == nil {
			t.Fatalf("%s: no error", name)
		}
		for _, part := range []string{`"orders.get"`, "orders.go:10", "billing.go:20"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: error %q does not name %s", name, err, part)
			}
		}
	}
}

func TestNewRefusesIncompleteTools(t *testing.T) {
	for part, change := range map[string]func(*catalog.Tool){
		"no namespace":             func(t *catalog.Tool) { t.ID = "get" },
		"operation":                func(t *catalog.Tool) { t.Operation = "" },
		"approval":                 func(t *catalog.Tool) { t.Approval = "sometimes" },
		"approvers":                func(t *catalog.Tool) { t.Approvers = catalog.MaxApprovers + 1 },
		"capability is empty":      func(t *catalog.Tool) { t.Capabilities = []string{""} },
		"named twice":              func(t *catalog.Tool) { t.Capabilities = []string{"a.b", "a.b"} },
		"tag 'ä' is not allowed":   func(t *catalog.Tool) { t.Tags = []string{"ä"} },
		"timeout":                  func(t *catalog.Tool) { t.Timeout = -time.Second },
		"not valid UTF-8":          func(t *catalog.Tool) { t.Description = "\xff" },
		"no input schema":          func(t *catalog.Tool) { t.Input = nil },
		"no function to call":      func(t *catalog.Tool) { t.Call = nil },
		`helper_test.go:1 (source`: func(t *catalog.Tool) { t.Call = nil },
	} {
		tool := read("orders.get")
		change(&tool)
		_, err := catalog.New(of("s", tool, read("orders.list")))
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error is %v, want one that says %q", err, part)
		}
	}
}

func TestNewRefusesNil(t *testing.T) {
	if _, err := catalog.New(of("s"), nil); err == nil || !strings.Contains(err.Error(), "number 2") {
		t.Errorf("error is %v, want one that names the nil source", err)
	}
}

func TestPlanDescribesTheCall(t *testing.T) {
	refund := write("orders.issue_refund")
	refund.Timeout = 90 * time.Second
	b := broker(t, of("s", refund))
	plan := b.Plan(t.Context(), everyone, catalog.Request{Tool: refund.ID, Input: json.RawMessage(` { "b" : 1.0, "a" : "<é>" } `)})
	want := catalog.Plan{
		Tool: refund.ID, Title: "orders: issue refund", Operation: catalog.Write,
		NeedsApproval: true, Reason: "it is a write", Grantable: true,
		Preview: json.RawMessage(`{"a":"<é>","b":1}`), Timeout: 90 * time.Second,
		DescriptorDigest: plan.DescriptorDigest, InputDigest: plan.InputDigest, Described: plan.Described,
	}
	if described := string(plan.Described); !strings.Contains(described, `"id":"orders.issue_refund"`) || strings.Contains(described, "timeout") {
		t.Errorf("the tool is described as %s", described)
	}
	if diff := cmp.Diff(want, plan); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(plan.InputDigest, "sha256:") || len(plan.DescriptorDigest) != len("sha256:")+64 {
		t.Errorf("digests are %q and %q", plan.DescriptorDigest, plan.InputDigest)
	}
}

func TestApprovalRule(t *testing.T) {
	for _, c := range []struct {
		tool catalog.Tool
		rule catalog.Approval
		want bool
	}{
		{read("a.b"), catalog.ApprovalDefault, false},
		{read("a.b"), catalog.ApprovalAlways, true},
		{read("a.b"), catalog.ApprovalNever, false},
		{write("a.b"), catalog.ApprovalDefault, true},
		{write("a.b"), catalog.ApprovalAlways, true},
		{write("a.b"), catalog.ApprovalNever, false},
	} {
		c.tool.Approval = c.rule
		plan := broker(t, of("s", c.tool)).Plan(t.Context(), everyone, catalog.Request{Tool: "a.b"})
		if plan.NeedsApproval != c.want || (plan.Reason != "") != c.want || (plan.Preview != nil) != c.want {
			t.Errorf("%s with rule %q: plan is %+v, want approval %v", c.tool.Operation, c.rule, plan, c.want)
		}
	}
}

func TestPlanTimeout(t *testing.T) {
	for set, want := range map[time.Duration]time.Duration{
		0: catalog.DefaultTimeout, time.Second: time.Second, 2 * time.Hour: catalog.MaxTimeout,
	} {
		tool := read("a.b")
		tool.Timeout = set
		plan := broker(t, of("s", tool)).Plan(t.Context(), everyone, catalog.Request{Tool: "a.b"})
		if plan.Timeout != want {
			t.Errorf("timeout %s is planned as %s, want %s", set, plan.Timeout, want)
		}
	}
}

func TestPreviewIsBounded(t *testing.T) {
	b := broker(t, of("s", write("a.b")))
	for name, text := range map[string]string{
		"ascii":    strings.Repeat("x", 20_000),
		"umlauts":  strings.Repeat("ü", 20_000),
		"emoji":    strings.Repeat("🧵", 20_000),
		"escapes":  strings.Repeat("\"\\\n", 20_000),
		"controls": strings.Repeat("\x01", 20_000),
	} {
		input, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		plan := b.Plan(t.Context(), everyone, catalog.Request{Tool: "a.b", Input: input})
		if len(plan.Preview) > catalog.MaxPreview || len(plan.Preview) < catalog.MaxPreview/2 {
			t.Errorf("%s: preview has %d bytes, want up to %d", name, len(plan.Preview), catalog.MaxPreview)
		}
		var beginning string
		if err := json.Unmarshal(plan.Preview, &beginning); err != nil {
			t.Fatalf("%s: preview is not a JSON string: %v", name, err)
		}
		if !strings.HasPrefix(beginning, `{"text":"`) || strings.ContainsRune(beginning, utf8.RuneError) {
			t.Errorf("%s: preview is not the beginning of the input: %.60q", name, beginning)
		}
	}
}

func TestUnknownTool(t *testing.T) {
	b := broker(t, of("s", read("orders.get"), read("orders.refund"), read("orders.items.list"), read("mail.send")))
	for id, hint := range map[string]string{
		"orders.refnd":  "did you mean orders.refund?",
		"orders_refund": "did you mean orders.refund?",
		"refund":        "did you mean orders.refund?",
		"ORDERS.GET":    "did you mean orders.get?",
		"weather.today": "",
		"":              "",
	} {
		plan := b.Plan(t.Context(), everyone, catalog.Request{Tool: id})
		err := wantError(t, plan.Error, catalog.CodeToolNotFound)
		if err.Hint != hint || err.Tool != id || err.Effect != catalog.EffectNone {
			t.Errorf("%q: error is %+v, want the hint %q", id, err, hint)
		}
	}
	long := b.Plan(t.Context(), everyone, catalog.Request{Tool: strings.Repeat("\xffx", 1<<20)})
	text, err := json.Marshal(long.Error)
	if err != nil || len(text) > 1000 {
		t.Errorf("the error for a huge id has %d bytes (%v)", len(text), err)
	}
}

func TestToolOutOfScopeLooksUnknown(t *testing.T) {
	narrow := catalog.Scope{Tools: []string{"orders.get"}}
	with := broker(t, of("s", read("orders.get"), write("orders.refund")))
	without := broker(t, of("s", read("orders.get")))
	req := catalog.Request{Tool: "orders.refund", Input: json.RawMessage(`not even JSON`)}
	if diff := cmp.Diff(without.Plan(t.Context(), narrow, req), with.Plan(t.Context(), narrow, req)); diff != "" {
		t.Errorf("a tool out of scope can be told from one that is not there (-not there +out of scope):\n%s", diff)
	}

	planned := with.Plan(t.Context(), everyone, catalog.Request{Tool: "orders.refund"})
	outcome := with.Dispatch(t.Context(), narrow, catalog.Request{Tool: "orders.refund"}, planned)
	wantError(t, outcome.Error, catalog.CodeToolNotFound)
}

func TestPlanAfterCancellation(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := broker(t, of("s", read("a.b")))
	for _, id := range []string{"a.b", "a.c"} {
		plan := b.Plan(ctx, everyone, catalog.Request{Tool: id})
		wantError(t, plan.Error, catalog.CodeCancelled)
	}
	if _, err := b.Tools(ctx, everyone); !errors.Is(err, context.Canceled) {
		t.Errorf("Tools returns %v, want the context's error", err)
	}
}

func TestInvalidToolIsNamedAndLeftAlone(t *testing.T) {
	for schema, part := range map[string]string{
		`{"type":"object"`:                             "not valid JSON",
		`{"type":"objekt"}`:                            "/type",
		`{"$ref":"https://a.example/s"}`:               "never fetched",
		`{"$ref":"other.json"}`:                        "never fetched",
		`{"$ref":"file:///etc/passwd"}`:                "never fetched",
		`{"$ref":"#/$defs/none"}`:                      "none",
		`{"properties":{"a":{"maximum":1e999999999}}}`: "exponent",
		`5`:                                 "want",
		`{"type":"object","type":"string"}`: "/type occurs twice",
	} {
		b := broker(t, of("s", withSchema(read("a.b"), schema), read("a.c")))
		plan := b.Plan(t.Context(), everyone, catalog.Request{Tool: "a.b"})
		err := wantError(t, plan.Error, catalog.CodeInvalidTool)
		if !strings.Contains(err.Message, part) || strings.Contains(err.Message, "heddle:///") {
			t.Errorf("%s: message is %q, want one that says %q", schema, err.Message, part)
		}
		if out := do(t, b, "a.c", "{}"); out.Error != nil {
			t.Errorf("another tool fails too: %v", out.Error)
		}
	}
}
