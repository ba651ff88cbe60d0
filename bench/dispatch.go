package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/providers/local"
)

// dispatchCalls is how many calls one measurement makes: one call alone takes
// less time than the clock is worth.
const dispatchCalls = 1000

// dispatch measures the one path to a tool: resolved, checked, validated,
// planned, checked again, called, validated. The baseline is the function itself
// with its input read from JSON and its output written to it.
func dispatch(ctx context.Context, report *Report) error {
	type lookup struct {
		Order string `json:"order" jsonschema:"pattern=^[A-Z]-[0-9]+$"`
		Lines int    `json:"lines" jsonschema:"minimum=1,maximum=100"`
	}
	type order struct {
		Number string   `json:"number"`
		Items  []string `json:"items"`
	}
	get := func(_ context.Context, in lookup) (order, error) {
		return order{Number: in.Order, Items: []string{"lamp", "chair"}}, nil
	}
	tool, err := local.Func("orders.get", "Returns one order.", get)
	if err != nil {
		return err
	}
	broker, err := catalog.New(local.New(tool))
	if err != nil {
		return err
	}
	scope := catalog.Scope{Tenant: "acme", Thread: "bench", Agent: "bench", Tools: []string{"orders.*"}}
	request := catalog.Request{Tool: "orders.get", Input: json.RawMessage(`{"order":"A-17","lines":10}`)}

	ours := func(ctx context.Context) error {
		for range dispatchCalls {
			plan := broker.Plan(ctx, scope, request)
			if outcome := broker.Dispatch(ctx, scope, request, plan); outcome.Error != nil {
				return fmt.Errorf("dispatch: %w", outcome.Error)
			}
		}
		return nil
	}
	bare := func(ctx context.Context) error {
		for range dispatchCalls {
			var in lookup
			if err := json.Unmarshal(request.Input, &in); err != nil {
				return err
			}
			out, err := get(ctx, in)
			if err != nil {
				return err
			}
			if _, err := json.Marshal(out); err != nil {
				return err
			}
		}
		return nil
	}
	call, baseline, err := pairs(ctx, 9, ours, bare)
	if err != nil {
		return err
	}
	return report.Compare("dispatch_call", perCall(call), perCall(baseline), "µs")
}

// perCall is the duration of one of [dispatchCalls], in microseconds.
func perCall(all time.Duration) float64 {
	return float64(all.Nanoseconds()) / 1000 / dispatchCalls
}
