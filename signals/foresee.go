package signals

import (
	"context"

	"github.com/heddle-dev/heddle/signals/contract"
)

// foresee looks in the timeline for the part of what a person is to answer. Neither a
// part nor missing: it cannot be seen in time, and what comes of an answer is left to the
// thread.
func (c *Client) foresee(ctx context.Context, thread contract.ThreadRef, kind contract.Kind, id string) (found *contract.Part, missing bool) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	run := execution{workflowID: thread.WorkflowID()}
	for page, err := range c.reader.timeline(ctx, run, 0) {
		if err != nil {
			return nil, false
		}
		for _, part := range page.Parts {
			if part.Kind == kind && part.ID == id {
				return &part, false
			}
		}
		// What an earlier run asked is beyond this look, but not beyond the thread's
		// memory.
		if !page.More && page.First <= 1 {
			return nil, true
		}
	}
	return nil, false
}
