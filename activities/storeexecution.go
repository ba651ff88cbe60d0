package activities

import (
	"context"

	"github.com/heddle-dev/heddle/signals/contract"
)

// StoreExecutionInput asks to store what is known of a snippet that goes on in the
// next run of its thread.
type StoreExecutionInput struct {
	// Call is the id of the call that runs the snippet, Outcomes how many outcomes of
	// effects the thread has given since what is stored of it.
	Call     string `json:"call"`
	Outcomes int    `json:"outcomes,omitempty"`
}

// StoreExecutionResult refers to what was stored.
type StoreExecutionResult struct {
	Execution contract.Ref `json:"execution"`
	// Input is the input of the call, if that is not in the store already.
	Input *contract.Ref `json:"input,omitempty"`
}

// StoreExecution puts all that the next segment of a snippet begins with into the
// store, so that a thread can carry it on however long it is.
func (a *Activities) StoreExecution(ctx context.Context, in StoreExecutionInput) (StoreExecutionResult, error) {
	page, err := a.Threads.Execution(ctx, runOf(ctx), SegmentInput{Call: in.Call, Outcomes: in.Outcomes})
	if err != nil {
		return StoreExecutionResult{}, unavailable(ErrTypeThread, "read the snippet's execution", err)
	}
	state, err := a.takeUp(ctx, page)
	if err != nil {
		return StoreExecutionResult{}, err
	}
	var result StoreExecutionResult
	if result.Execution, err = a.storeExecution(ctx, *state); err != nil || page.Call.Body != nil {
		return result, err
	}
	ref, err := a.Blobs.Put(ctx, page.Call.Input)
	if err != nil {
		return result, unavailable(ErrTypeBlobs, "store the input of call "+in.Call, err)
	}
	result.Input = &ref
	return result, nil
}
