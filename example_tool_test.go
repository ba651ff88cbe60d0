package heddle_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/heddle-dev/heddle"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/models/scripted"
)

// RefundInput is what the model must say to refund an order.
type RefundInput struct {
	Order  string `json:"order" jsonschema:"pattern=^[A-Z]-[0-9]+$" jsonschema_description:"Number of the order, such as A-17"`
	Cents  int64  `json:"cents" jsonschema:"minimum=1,maximum=50000"`
	Reason string `json:"reason,omitempty" jsonschema:"enum=damaged,enum=late,enum=other,default=other"`
}

// Receipt is what it gets to know.
type Receipt struct {
	ID string `json:"id"`
}

var errClosed = errors.New("the order is closed")

// refund hands the idempotency key on, so that the bank takes a repeated request
// for what it is.
func refund(ctx context.Context, in RefundInput) (Receipt, error) {
	id, err := bankRefund(heddle.ScopeFrom(ctx).Tenant, in.Order, in.Cents, heddle.IdempotencyKey(ctx))
	if errors.Is(err, errClosed) {
		return Receipt{}, &catalog.Error{
			Code: "order_closed", Message: err.Error(), Hint: "tell the customer", Effect: catalog.EffectNone,
		}
	}
	return Receipt{ID: id}, err
}

func bankRefund(tenant, order string, cents int64, key string) (string, error) {
	return "R-1", nil
}

// A tool is a typed function; the model, and the person who approves a write,
// see what its types say.
func ExampleTool() {
	tool := heddle.Tool("orders.refund", "Refunds an order, in part or as a whole.", refund,
		heddle.Write(), heddle.Title("Refund an order"))
	agent := heddle.Agent{
		Name: "support", Instructions: "Help customers.", Model: "house", Tools: []string{"orders.*"},
	}
	model, err := scripted.Parse("house.yaml", []byte("turns: [{steps: [{text: Good morning.}]}]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	app, err := heddle.New(tool, agent, heddle.Model("house", model))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("ready to run:", app != nil)
	// Output: ready to run: true
}

// What is wrong with a tool is an error of New, with the place of its
// definition.
func ExampleTool_mistake() {
	type input struct {
		Cents int64 `json:"cents" jsonschema:"minimun=1"`
	}
	pay := func(context.Context, input) (Receipt, error) { return Receipt{}, nil }
	_, err := heddle.New(heddle.Tool("bank.pay", "Pays.", pay, heddle.Write()))
	problem, _, _ := strings.Cut(err.Error(), "\n")
	fmt.Println(problem)
	// Output: example_tool_test.go:73: tool "bank.pay": input: field Cents has the keyword "minimun" in its jsonschema tag, which int64 does not take
}

// Tools that belong together are added as one, and an agent takes them by name.
func ExampleToolset() {
	model, err := scripted.Parse("house.yaml", []byte("turns: [{steps: [{text: Good morning.}]}]"))
	if err != nil {
		fmt.Println(err)
		return
	}
	app, err := heddle.New(
		heddle.Toolset{
			Name:   "orders",
			Shared: []heddle.ToolOption{heddle.Tags("shop"), heddle.Secrets("shop.key")},
			Tools: []heddle.Function{
				heddle.Tool("refund", "Refunds an order.", refund, heddle.Write(), heddle.Approvers(2)),
			},
		},
		heddle.Agent{Name: "support", Instructions: "Help customers.", Model: "house", Tools: []string{"orders"}},
		heddle.Model("house", model),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("ready to run:", app != nil)
	// Output: ready to run: true
}
