package lookup_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/codemode/lookup"
)

var everyone = catalog.Scope{Tenant: "acme", Thread: "t1", Agent: "support", Tools: []string{"*"}}

type source []catalog.Tool

func (source) Name() string                                    { return "test" }
func (s source) Tools(context.Context) ([]catalog.Tool, error) { return s, nil }

func tool(id, description string, operation catalog.Operation, input string) catalog.Tool {
	return catalog.Tool{
		Descriptor: catalog.Descriptor{ID: id, Description: description, Operation: operation, Input: json.RawMessage(input)},
		Call:       func(context.Context, catalog.Call) (json.RawMessage, error) { return nil, nil },
	}
}

// shop is a catalog of a shop, with the refund in first place of nothing.
func shop() source {
	refund := tool("orders.refund", "Pays an order back.\n\nIn part or as a whole.", catalog.Write,
		`{"type":"object","properties":{"order":{"type":"string","description":"Number of the order."},"reason":{"enum":["damaged","late"]}},"required":["order"]}`)
	refund.Destructive, refund.Examples = true, []catalog.Example{{Input: json.RawMessage(`{"order":"A-1"}`)}}
	refund.Output = json.RawMessage(`{"type":"object","properties":{"receipt":{"type":"string"}}}`)
	return source{
		refund,
		tool("orders.find", "Finds orders by customer.", catalog.Read, `{"type":"object","properties":{"customer":{"type":"string"}}}`),
		tool("mail.send", "Sends a letter by e-mail.", catalog.Write, `{"type":"object","properties":{"to":{"type":"string"}}}`),
		tool("hidden.purge", "Removes orders and refunds for good.", catalog.Write, `{"type":"object"}`),
	}
}

func of(t testing.TB, tools source) *lookup.Lookup {
	t.Helper()
	broker, err := catalog.New(tools)
	if err != nil {
		t.Fatal(err)
	}
	return lookup.New(broker)
}

func search(t testing.TB, l *lookup.Lookup, scope catalog.Scope, input string) lookup.Found {
	t.Helper()
	text, err := l.Search(t.Context(), scope, json.RawMessage(input))
	if err != nil {
		t.Fatalf("%s: %v", input, err)
	}
	var found lookup.Found
	if err := json.Unmarshal(text, &found); err != nil {
		t.Fatal(err)
	}
	return found
}

func ids(found lookup.Found) []string {
	all := []string{}
	for _, hit := range found.Items {
		all = append(all, hit.ID)
	}
	return all
}

func TestAHitSaysEnoughToCall(t *testing.T) {
	found := search(t, of(t, shop()), everyone, `{"query":"refund an order","limit":1}`)
	if len(found.Items) != 1 || found.Total < 2 || found.Next != 1 {
		t.Fatalf("found %+v, want one of several", found)
	}
	want := lookup.Hit{
		ID:          "orders.refund",
		Signature:   `orders.refund(input: { order: string; reason?: "damaged" | "late" }): Promise<{ receipt?: string }>`,
		Description: "Pays an order back.", Operation: catalog.Write, Approval: "it is a write", Matched: found.Items[0].Matched,
	}
	if found.Items[0] != want {
		t.Errorf("hit is %+v, want %+v", found.Items[0], want)
	}
	if !strings.HasPrefix(want.Matched, "refund in name") {
		t.Errorf("matched is %q", want.Matched)
	}
}

func TestSearch(t *testing.T) {
	l := of(t, shop())
	for _, c := range []struct {
		input string
		want  []string
	}{
		{`{"query":"orders.find"}`, []string{"orders.find"}},
		{`{"queries":["letter","customer orders"]}`, []string{"orders.find", "mail.send"}},
		{`{"query":"damaged"}`, []string{"orders.refund"}}, // a value of a parameter
		{`{"query":"receipt"}`, []string{"orders.refund"}}, // a field of the output
	} {
		if got := ids(search(t, l, everyone, c.input)); !slices.Equal(got[:min(len(got), len(c.want))], c.want) {
			t.Errorf("%s finds %v, want %v first", c.input, got, c.want)
		}
	}
	for input, want := range map[string][]string{
		`{}`:                                    {"hidden.purge", "mail.send", "orders.find", "orders.refund"},
		``:                                      {"hidden.purge", "mail.send", "orders.find", "orders.refund"},
		`{"namespace":"orders"}`:                {"orders.find", "orders.refund"},
		`{"operation":"read"}`:                  {"orders.find"},
		`{"limit":2}`:                           {"hidden.purge", "mail.send"},
		`{"limit":2,"offset":2}`:                {"orders.find", "orders.refund"},
		`{"offset":900}`:                        {},
		`{"query":"orders","namespace":"mail"}`: {},
		`{"query":"order","operation":"read"}`:  {"orders.find"},
		`{"query":"a+b(*[","namespace":"no such"}`:     {},
		`{"query":"` + strings.Repeat("x", 9e4) + `"}`: {},
	} {
		if got := ids(search(t, l, everyone, input)); !slices.Equal(got, want) {
			t.Errorf("%.60s finds %v, want %v", input, got, want)
		}
	}
}

func TestAMissNamesWhatThereIs(t *testing.T) {
	found := search(t, of(t, shop()), everyone, `{"query":"mailsendr"}`)
	if found.Total != 0 || !slices.Equal(found.Nearest, []string{"mail.send"}) || !slices.Equal(found.Namespaces, []string{"hidden", "mail", "orders"}) {
		t.Errorf("a miss is %+v", found)
	}
}

// TestScope: what a scope may not use shows neither in hits nor in anything else.
func TestScope(t *testing.T) {
	l := of(t, shop())
	narrow := catalog.Scope{Tenant: "acme", Tools: []string{"orders.*", "mail.*"}}
	with := of(t, shop()[:3])
	for _, input := range []string{`{}`, `{"query":"purge"}`, `{"query":"hidden.purge"}`, `{"query":"remove orders"}`, `{"namespace":"hidden"}`, `{"query":"zzz"}`} {
		for range 2 {
			a, errA := l.Search(t.Context(), narrow, json.RawMessage(input))
			b, errB := with.Search(t.Context(), narrow, json.RawMessage(input))
			if string(a) != string(b) || errA != nil || errB != nil {
				t.Errorf("%s:\n%s, %v with a hidden tool\n%s, %v without", input, a, errA, b, errB)
			}
		}
	}
	for _, input := range []string{`{"id":"hidden.purge"}`, `{"ids":["hidden.purge","orders.find"]}`} {
		a, errA := l.Describe(t.Context(), narrow, json.RawMessage(input))
		b, errB := with.Describe(t.Context(), narrow, json.RawMessage(input))
		if string(a) != string(b) || fmt.Sprint(errA) != fmt.Sprint(errB) {
			t.Errorf("%s:\n%s, %v with a hidden tool\n%s, %v without", input, a, errA, b, errB)
		}
	}
}

func TestDescribe(t *testing.T) {
	l := of(t, shop())
	text, err := l.Describe(t.Context(), everyone, json.RawMessage(`{"id":"orders.refund"}`))
	if err != nil {
		t.Fatal(err)
	}
	var d lookup.Description
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"interface OrdersRefundInput {", "/** Number of the order. */", "Pays an order back.", "refund(input: OrdersRefundInput)"} {
		if !strings.Contains(d.Declaration, part) {
			t.Errorf("the declaration lacks %q:\n%s", part, d.Declaration)
		}
	}
	if d.ID != "orders.refund" || d.Operation != catalog.Write || d.Approval == "" || len(d.Examples) != 1 ||
		!slices.Equal(d.Hints, []string{"destructive"}) || d.Input != nil || d.Output != nil {
		t.Errorf("description is %+v", d)
	}

	text, err = l.Describe(t.Context(), everyone, json.RawMessage(`{"ids":["orders.find","orders.fnd","x"],"schema":true}`))
	if err != nil {
		t.Fatal(err)
	}
	var all lookup.Descriptions
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Items) != 1 || all.Items[0].Input == nil || len(all.Unknown) != 2 {
		t.Fatalf("descriptions are %s", text)
	}
	if u := all.Unknown[0]; u.ID != "orders.fnd" || u.Error.Code != catalog.CodeToolNotFound || u.Nearest[0] != "orders.find" {
		t.Errorf("an unknown id is told as %+v", u)
	}
}

func TestInputsThatAreRefused(t *testing.T) {
	l := of(t, shop())
	many, err := json.Marshal(map[string]any{"ids": make([]string, 21), "queries": make([]string, 9)})
	if err != nil {
		t.Fatal(err)
	}
	var both struct{ IDs, Queries json.RawMessage }
	if err := json.Unmarshal(many, &both); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ask     func(context.Context, catalog.Scope, json.RawMessage) (json.RawMessage, error)
		input   string
		pointer string
	}{
		{l.Search, `[]`, ""},
		{l.Search, `"refund"`, ""},
		{l.Search, `{"query":`, ""},
		{l.Search, `{} {}`, ""},
		{l.Search, `{"query":5}`, "/query"},
		{l.Search, `{"q":"x"}`, "/q"},
		{l.Search, `{"limit":0}`, "/limit"},
		{l.Search, `{"limit":51}`, "/limit"},
		{l.Search, `{"offset":-1}`, "/offset"},
		{l.Search, `{"operation":"delete"}`, "/operation"},
		{l.Search, `{"queries":` + string(both.Queries) + `}`, "/queries"},
		{l.Describe, `{}`, "/id"},
		{l.Describe, `{"id":"a.b","ids":["a.b"]}`, "/ids"},
		{l.Describe, `{"ids":` + string(both.IDs) + `}`, "/ids"},
	} {
		_, err := c.ask(t.Context(), everyone, json.RawMessage(c.input))
		var typed *catalog.Error
		if !errors.As(err, &typed) || typed.Code != catalog.CodeInvalidInput || typed.Hint == "" || typed.Effect != catalog.EffectNone {
			t.Errorf("%s: error is %v, want one with code %s and a hint", c.input, err, catalog.CodeInvalidInput)
			continue
		}
		if got := append(typed.Violations, catalog.Violation{})[0].Pointer; got != c.pointer {
			t.Errorf("%s: the error points at %q, want %q", c.input, got, c.pointer)
		}
	}
	_, err = l.Describe(t.Context(), everyone, json.RawMessage(`{"id":"orders.fnd"}`))
	var typed *catalog.Error
	if !errors.As(err, &typed) || typed.Code != catalog.CodeToolNotFound || !strings.HasPrefix(typed.Hint, "did you mean orders.find") {
		t.Errorf("an unknown id: error is %v", err)
	}
}

func TestCancelled(t *testing.T) {
	l := of(t, shop())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, ask := range map[string]func(context.Context, catalog.Scope, json.RawMessage) (json.RawMessage, error){"search": l.Search, "describe": l.Describe} {
		_, err := ask(ctx, everyone, map[string]json.RawMessage{"search": nil, "describe": json.RawMessage(`{"ids":["a.b"]}`)}[name])
		var typed *catalog.Error
		if !errors.As(err, &typed) || typed.Code != catalog.CodeCancelled {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

// TestTheIndexIsBuiltOnce: schemas are made for the index once, whoever asks, and
// then only those of hits.
func TestTheIndexIsBuiltOnce(t *testing.T) {
	var made atomic.Int32
	var tools source
	for i := range 100 {
		lazy := tool(fmt.Sprintf("orders.tool_%d", i), "Does something.", catalog.Read, "")
		lazy.Schemas = func() (input, output json.RawMessage, err error) {
			made.Add(1)
			return json.RawMessage(`{"type":"object"}`), nil, nil
		}
		tools = append(tools, lazy)
	}
	l := of(t, tools)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			scope := catalog.Scope{Tenant: fmt.Sprint("tenant", i%3), Tools: []string{"orders.*", fmt.Sprintf("x%d.*", i%5)}}
			if found := search(t, l, scope, `{"query":"tool_7","limit":1}`); len(found.Items) != 1 || found.Items[0].ID != "orders.tool_7" {
				t.Errorf("found %+v", found)
			}
		})
	}
	wg.Wait()
	// The hit's are kept from then on; who asks for them at the same time makes them too.
	if got := made.Load(); got < 100+1 || got > 100+20 {
		t.Errorf("schemas were made %d times, want 100 for the index and one for each hit at most", got)
	}
}

func TestABrokenToolIsNotFound(t *testing.T) {
	broken := tool("orders.broken", "Breaks orders.", catalog.Read, "")
	broken.Schemas = func() (input, output json.RawMessage, err error) { return nil, nil, errors.New("no such schema") }
	l := of(t, append(shop(), broken, tool("orders.odd", "Odd orders.", catalog.Read, `{"type":"object","properties":{"a":{"$ref":"#/nowhere"}},"allOf":[{"$ref":"#"}]}`)))
	if got := ids(search(t, l, everyone, `{"namespace":"orders"}`)); !slices.Equal(got, []string{"orders.find", "orders.odd", "orders.refund"}) {
		t.Errorf("found %v", got)
	}
}

// FuzzInputs: whatever a model writes is answered or refused, in JSON.
func FuzzInputs(f *testing.F) {
	for _, seed := range []string{`{"query":"refund"}`, `{"id":"orders.find","schema":true}`, `{"ids":["a"]}`, `{"limit":1e9}`, "\xff", `{"query":"\ud800"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		l := of(t, shop())
		for _, ask := range []func(context.Context, catalog.Scope, json.RawMessage) (json.RawMessage, error){l.Search, l.Describe} {
			text, err := ask(t.Context(), everyone, input)
			var typed *catalog.Error
			if err != nil && (!errors.As(err, &typed) || len(typed.Message) > 1<<10) || err == nil && !json.Valid(text) {
				t.Errorf("%q: answer %.200q, error %v", input, text, err)
			}
		}
	})
}

func TestSignatures(t *testing.T) {
	l := of(t, shop())
	lines, total := l.Signatures(t.Context(), everyone, []string{"orders.*", "mail.send"}, 2)
	want := []string{
		"mail.send(input?: { to?: string }): Promise<unknown> // Sends a letter by e-mail.",
		"orders.find(input?: { customer?: string }): Promise<unknown> // Finds orders by customer.",
	}
	if total != 3 || !slices.Equal(lines, want) {
		t.Errorf("%d tools, signatures %q, want 3 and %q", total, lines, want)
	}
	scope := everyone
	scope.Tools = []string{"mail.*"}
	if lines, total := l.Signatures(t.Context(), scope, []string{"*"}, 9); total != 1 || len(lines) != 1 {
		t.Errorf("an agent of other tools is told %q", lines)
	}
}
