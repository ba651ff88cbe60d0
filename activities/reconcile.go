package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// ReconcileInput asks what became of a write that may or may not have been applied.
type ReconcileInput struct {
	Thread contract.Start `json:"thread"`
	// Root is the run id with which the thread began; see [IdempotencyKey].
	Root string  `json:"root"`
	Call CallRef `json:"call"`
}

// ConcludeInput says what a person found out about a write.
type ConcludeInput struct {
	Thread  contract.Start `json:"thread"`
	Root    string         `json:"root"`
	Call    CallRef        `json:"call"`
	Finding catalog.Found  `json:"finding"`
	// Result is the output, of a write that was applied.
	Result json.RawMessage `json:"result,omitempty"`
}

// ReconcileResult is what is known of a write. One that was applied has its
// result.
type ReconcileResult struct {
	Found catalog.Found `json:"found"`
	// Key is the write's idempotency key.
	Key    string     `json:"key,omitempty"`
	Result CallResult `json:"result,omitzero"`
	// Reason says why nothing was found out.
	Reason string `json:"reason,omitempty"`
}

// settleGrace is how long after the end of a call its worker may still be telling
// how it ended.
const settleGrace = ledgerTimeout

// lookAgain is how often it is looked meanwhile whether the worker has told by now.
const lookAgain = 5 * time.Second

// Reconcile finds out what became of a write, and writes that into its claim. An
// outcome that the claim has already is the truth. That nothing was applied, or that
// a person must look, holds only of what was asked once the time of the call was
// over: until then a worker that was taken for lost may send it still, and a target
// that gave no answer may be at it.
//
// It fails, to be tried again, where the target cannot be asked now.
func (a *Activities) Reconcile(ctx context.Context, in ReconcileInput) (ReconcileResult, error) {
	agent, ok := a.Agents[in.Thread.Agent]
	if !ok {
		return ReconcileResult{}, unknownAgent(in.Thread.Agent)
	}
	defer heartbeat(ctx, func() []any { return nil })()
	q := a.question(in.Root, in.Call)
	claim, known, err := q.look(ctx)
	if err != nil || known != nil {
		return q.result(known), err
	}
	calls, err := a.Threads.Calls(ctx, runOf(ctx), []string{in.Call.ID})
	if err != nil {
		return ReconcileResult{}, unavailable(ErrTypeThread, "read the call", err)
	}
	input, err := a.inputOf(ctx, calls[0])
	if err != nil {
		return ReconcileResult{}, unavailable(ErrTypeBlobs, "read the input of the call", err)
	}
	asked := time.Now() // an answer may be long on its way, or wait for a worker that is paused
	found, err := a.Broker.Reconcile(ctx, agent.scope(in.Thread),
		catalog.Request{Tool: in.Call.Tool, Input: input, IdempotencyKey: q.key},
		catalog.Plan{Tool: in.Call.Tool, DescriptorDigest: in.Call.DescriptorDigest, InputDigest: in.Call.InputDigest})
	if err != nil {
		return ReconcileResult{}, unavailable(ErrTypeReconcile, "find out what became of the call", err)
	}
	if found.Found != catalog.FoundApplied {
		if err := tooEarly(claim, asked, "found: "+string(found.Found)); err != nil {
			return ReconcileResult{}, err
		}
	}
	switch found.Found {
	case catalog.FoundApplied:
		result, err := a.inlineResult(ctx, CallResult{ID: in.Call.ID, Result: found.Result, Warning: found.Warning, Undo: found.Undo}, contract.MaxInline)
		if err != nil {
			return ReconcileResult{}, err
		}
		return q.applied(ctx, claim, result)
	case catalog.FoundNotApplied:
		return q.notApplied(ctx, claim, "the target has not applied it")
	}
	return ReconcileResult{Found: catalog.FoundNothing, Key: q.key, Reason: found.Reason}, nil
}

// Conclude writes into a claim what a person found out, and returns what holds: an
// outcome that the claim has by then is better than what anyone says.
func (a *Activities) Conclude(ctx context.Context, in ConcludeInput) (ReconcileResult, error) {
	defer heartbeat(ctx, func() []any { return nil })()
	q := a.question(in.Root, in.Call)
	claim, known, err := q.look(ctx)
	if err != nil || known != nil && (known.Found == catalog.FoundApplied || in.Finding == known.Found) {
		return q.result(known), err
	}
	if in.Finding == catalog.FoundApplied {
		result, err := a.inlineResult(ctx, CallResult{ID: in.Call.ID, Result: in.Result}, contract.MaxInline)
		if err != nil {
			return ReconcileResult{}, err
		}
		return q.applied(ctx, claim, result)
	}
	const reason = "a person found that it was not applied"
	if err := tooEarly(claim, time.Now(), reason); err != nil {
		return ReconcileResult{}, err
	}
	return q.notApplied(ctx, claim, reason)
}

// question is what became of one write.
type question struct {
	ledger Ledger
	call   CallRef
	key    string
}

func (a *Activities) question(root string, call CallRef) question {
	return question{ledger: a.Ledger, call: call, key: IdempotencyKey(root, call)}
}

// look reads the claim, and what that alone says: its outcome, or that it was taken
// back since nothing was applied.
func (q question) look(ctx context.Context) (*Claimed, *ReconcileResult, error) {
	ctx, cancel := context.WithTimeout(ctx, ledgerTimeout)
	defer cancel()
	claim, err := q.ledger.Look(ctx, q.key)
	switch {
	case err != nil:
		return nil, nil, unavailable(ErrTypeReconcile, "look at the claim of the write", err)
	case claim == nil:
		return nil, &ReconcileResult{Found: catalog.FoundNotApplied}, nil
	case claim.Result != nil:
		result := *claim.Result
		result.ID = q.call.ID
		return claim, &ReconcileResult{Found: catalog.FoundApplied, Result: result}, nil
	}
	return claim, nil, nil
}

// result completes what is known with the key.
func (q question) result(known *ReconcileResult) ReconcileResult {
	if known == nil {
		return ReconcileResult{}
	}
	known.Key = q.key
	return *known
}

func (q question) applied(ctx context.Context, claim *Claimed, result CallResult) (ReconcileResult, error) {
	if claim != nil {
		if err := q.ledger.Record(ctx, q.key, claim.ID, result); err != nil {
			return ReconcileResult{}, unavailable(ErrTypeReconcile, "record the outcome in the claim of the write", err)
		}
	}
	return ReconcileResult{Found: catalog.FoundApplied, Key: q.key, Result: result}, nil
}

// tooEarly fails, to be tried again, where what was asked at a time says nothing
// since the write could still be sent.
func tooEarly(claim *Claimed, asked time.Time, reason string) error {
	left := claim.Claim.Until.Add(settleGrace).Sub(asked)
	if left <= 0 {
		return nil
	}
	return temporal.NewApplicationErrorWithOptions(
		fmt.Sprintf("%s, and until %s it may still be sent", reason, claim.Claim.Until.UTC().Format(time.TimeOnly)),
		ErrTypeTooEarly, temporal.ApplicationErrorOptions{NextRetryDelay: min(left, lookAgain)})
}

// notApplied takes the claim back, so that the write can be made again.
func (q question) notApplied(ctx context.Context, claim *Claimed, reason string) (ReconcileResult, error) {
	if err := q.ledger.Release(ctx, q.key, claim.ID, reason); err != nil {
		return ReconcileResult{}, unavailable(ErrTypeReconcile, "take the claim of the write back", err)
	}
	activity.GetLogger(ctx).Info("a write is made again: "+reason, "call", q.call.ID, "tool", q.call.Tool)
	return ReconcileResult{Found: catalog.FoundNotApplied, Key: q.key}, nil
}

// inputOf is the input of an open call.
func (a *Activities) inputOf(ctx context.Context, call contract.Call) ([]byte, error) {
	if call.Body == nil {
		return call.Input, nil
	}
	return a.Blobs.Get(ctx, *call.Body)
}
