package local_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/catalogtest"
	"github.com/heddle-dev/heddle/providers/local"
)

func TestConformance(t *testing.T) {
	catalogtest.Run(t, func(t testing.TB) catalogtest.Fixture {
		var reached atomic.Int64
		type refund struct {
			Order string `json:"order" jsonschema:"pattern=^A-[0-9]+$"`
			Cents int64  `json:"cents,omitempty" jsonschema:"minimum=1,default=100"`
		}
		type receipt struct {
			Order string   `json:"order"`
			Notes []string `json:"notes"`
		}
		tools := []catalog.Tool{
			must(local.Func("orders.refund", "Refunds an order.", func(_ context.Context, in refund) (receipt, error) {
				reached.Add(1)
				if in.Order == "A-404" {
					return receipt{}, errors.New("no such order")
				}
				if in.Order == "A-409" {
					return receipt{}, &catalog.Error{Code: "closed", Message: "the order is closed", Effect: catalog.EffectNone}
				}
				return receipt{Order: in.Order}, nil
			}, local.Write())),
			must(local.Func("orders.wait", "Waits for news.", func(ctx context.Context, _ struct{}) (any, error) {
				reached.Add(1)
				<-ctx.Done()
				return nil, ctx.Err()
			})),
		}
		return catalogtest.Fixture{
			Source: local.New(tools...),
			Good:   []catalogtest.Call{{Tool: "orders.refund", Input: `{"order":"A-17","cents":5}`}, {Tool: "orders.refund", Input: `{"order":"A-18"}`}},
			Bad:    []catalogtest.Call{{Tool: "orders.refund", Input: `{}`}, {Tool: "orders.refund", Input: `{"order":"17"}`}, {Tool: "orders.refund", Input: `{"order":"A-1","cents":0}`}, {Tool: "orders.wait", Input: `{"x":1}`}},
			Failing: []catalogtest.Failure{
				{Call: catalogtest.Call{Tool: "orders.refund", Input: `{"order":"A-404"}`}, Code: catalog.CodeToolFailed, Effect: ""},
				{Call: catalogtest.Call{Tool: "orders.refund", Input: `{"order":"A-409"}`}, Code: "closed", Effect: catalog.EffectNone},
			},
			Slow:    &catalogtest.Call{Tool: "orders.wait", Input: ``},
			Reached: func() int { return int(reached.Load()) },
		}
	})
}

func must(tool catalog.Tool, err error) catalog.Tool {
	if err != nil {
		panic(err)
	}
	return tool
}
