package catalog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
)

const orderSchema = `{"type":"object","properties":{
	"order":{"type":"string","pattern":"^[A-Z]-[0-9]+$"},"cents":{"type":"integer","minimum":1,"maximum":100000},
	"reason":{"type":"string","enum":["damaged","late","other"]},
	"lines":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string"},"count":{"type":"integer"}},"required":["sku"],"additionalProperties":false}}},
	"required":["order","cents"],"additionalProperties":false}`

var orderInput = json.RawMessage(`{"order":"A-17","cents":1250,"reason":"late","lines":[{"sku":"x","count":2},{"sku":"y","count":1}]}`)

// BenchmarkCall plans and dispatches a call of a tool that does nothing, with
// few and with many tools beside it.
func BenchmarkCall(b *testing.B) {
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprintf("tools=%d", n), func(b *testing.B) {
			tools := make([]catalog.Tool, n)
			for i := range tools {
				tools[i] = withSchema(read(fmt.Sprintf("shop.tool_%d", i)), orderSchema)
				tools[i].Output = json.RawMessage(`{"type":"object","properties":{"ok":{"type":"boolean"}}}`)
				tools[i].Call = func(context.Context, catalog.Call) (json.RawMessage, error) {
					return json.RawMessage(`{"ok":true}`), nil
				}
			}
			broker := broker(b, of("s", tools...))
			req := catalog.Request{Tool: tools[n-1].ID, Input: orderInput}
			b.ReportAllocs()
			for b.Loop() {
				plan := broker.Plan(b.Context(), everyone, req)
				if out := broker.Dispatch(b.Context(), everyone, req, plan); out.Error != nil {
					b.Fatal(out.Error)
				}
			}
		})
	}
}

// BenchmarkTools lists a thousand tools, as a model turn does.
func BenchmarkTools(b *testing.B) {
	tools := make([]catalog.Tool, 1000)
	for i := range tools {
		tools[i] = withSchema(read(fmt.Sprintf("shop.tool_%d", i)), orderSchema)
	}
	broker := broker(b, of("s", tools...))
	for b.Loop() {
		if _, err := broker.Tools(b.Context(), everyone); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkValidate checks inputs of several sizes at Plan.
func BenchmarkValidate(b *testing.B) {
	broker := broker(b, of("s", withSchema(read("shop.order"), orderSchema)))
	for _, lines := range []int{1, 100, 10_000} {
		input := json.RawMessage(`{"order":"A-1","cents":1,"lines":[` + strings.Repeat(`{"sku":"abc","count":3},`, lines-1) + `{"sku":"abc"}]}`)
		b.Run(fmt.Sprintf("bytes=%d", len(input)), func(b *testing.B) {
			b.SetBytes(int64(len(input)))
			for b.Loop() {
				if plan := broker.Plan(b.Context(), everyone, catalog.Request{Tool: "shop.order", Input: input}); plan.Error != nil {
					b.Fatal(plan.Error)
				}
			}
		})
	}
}

// BenchmarkWrite plans and dispatches, each by itself, a call of a small write.
func BenchmarkWrite(b *testing.B) {
	tool := withSchema(read("shop.add"), `{"type":"object","properties":{"repo":{"type":"string"}},"required":["repo"]}`)
	tool.Operation = catalog.Write
	tool.Call = func(context.Context, catalog.Call) (json.RawMessage, error) {
		return json.RawMessage(`[{"id":7}]`), nil
	}
	broker := broker(b, of("s", tool))
	req := catalog.Request{Tool: tool.ID, Input: json.RawMessage(`{"repo":"shop"}`)}
	plan := broker.Plan(b.Context(), everyone, req)
	b.Run("plan", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if p := broker.Plan(b.Context(), everyone, req); p.Error != nil {
				b.Fatal(p.Error)
			}
		}
	})
	b.Run("dispatch", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if out := broker.Dispatch(b.Context(), everyone, req, plan); out.Error != nil {
				b.Fatal(out.Error)
			}
		}
	})
}
