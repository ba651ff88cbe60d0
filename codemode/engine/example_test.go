package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/codemode/engine"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

func Example() {
	ctx := context.Background()
	e, err := engine.New(engine.Options{Command: childCommand})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close() //nolint:errcheck // it gives none

	x, step, err := e.Start(ctx, snippet.Program{
		Tenant: "acme",
		Source: "const order: { total: number } = await orders.get({ id: 42 });\norder.total * 2",
		Seed:   "thread/acme/1",
		Now:    time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		API:    json.RawMessage(`{"orders":{"get":"shop.orders_get"}}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer x.Close()
	for step.End == nil {
		call := step.Calls[0]
		fmt.Printf("%s %s %s\n", call.Kind, call.Tool, call.Input)
		step, err = x.Deliver(ctx, snippet.Delivery{Call: call.Number, Result: json.RawMessage(`{"total":21}`), At: time.Now()})
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Printf("%s\n", step.End.Result)
	// Output:
	// call shop.orders_get {"id":42}
	// 42
}
