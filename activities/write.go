package activities

import (
	"context"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"

	"github.com/heddle-dev/heddle/signals/contract"
)

// Write carries out one write. It is scheduled with a single attempt: if it does
// not come back, nobody can know whether the write was applied, and the workflow
// says so instead of trying again.
func (a *Activities) Write(ctx context.Context, in WriteInput) (CallResult, error) {
	agent, ok := a.Agents[in.Thread.Agent]
	if !ok {
		return CallResult{}, unknownAgent(in.Thread.Agent)
	}
	defer heartbeat(ctx, func() []any { return nil })()

	calls, err := a.Threads.Calls(ctx, runOf(ctx), []string{in.Call.ID})
	if err != nil {
		return CallResult{}, unavailable(ErrTypeThread, "read the call", err)
	}
	started := time.Now()
	key := IdempotencyKey(in.Root, in.Call)
	result := a.dispatch(ctx, agent.scope(in.Thread), in.Call, calls[0], key).CallResult
	result.DurationMS = time.Since(started).Milliseconds()
	kept, err := a.inlineResult(ctx, result, contract.MaxInline)
	if err != nil {
		// The write has happened: losing its result is better than losing that.
		activity.GetLogger(ctx).Error("cannot store the result of a write; it is cut", "call", in.Call.ID, "error", err)
		return cut(result), nil
	}
	return kept, nil
}

// keys is the namespace of the idempotency keys (UUIDv5, RFC 9562 section 5.5).
var keys = uuid.MustParse("7c1d8a52-4f0e-4b8e-9a55-0d3c2f6e9b11")

// IdempotencyKey is the key of a write: the same for every attempt of the same
// call, and another for every other call, equal input or not. Root is the run id
// with which the thread began: continue-as-new and workflow reset keep it.
func IdempotencyKey(root string, call CallRef) string {
	return uuid.NewSHA1(keys, []byte(root+"\n"+call.ID+"\n"+call.InputDigest)).String()
}
