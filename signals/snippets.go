package signals

import (
	"context"

	"github.com/heddle-dev/heddle/signals/contract"
)

// Execution returns what the next segment of a snippet begins with, in one page:
// as many outcomes as were asked for.
func (r *Reader) Execution(ctx context.Context, workflowID, runID string, q contract.ExecutionQuery) (contract.ExecutionPage, error) {
	whole, err := query[contract.ExecutionPage](ctx, r, execution{workflowID, runID}, contract.QueryExecution, q)
	for next := whole.Next; err == nil && next > 0; {
		q.From = next
		var page contract.ExecutionPage
		page, err = query[contract.ExecutionPage](ctx, r, execution{workflowID, runID}, contract.QueryExecution, q)
		whole.Outcomes = append(whole.Outcomes, page.Outcomes...)
		next = page.Next
	}
	whole.Next = 0
	return whole, err
}
