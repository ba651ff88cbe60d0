package activities

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// dispatched is how a call ended, and whether it may succeed later.
type dispatched struct {
	CallResult
	retryable bool
	// effect is what is known of a call that failed.
	effect catalog.Effect
}

// dispatch takes one open call to the broker. The broker checks the call against
// the digests in ref, so a call is carried out as planned or not at all. The
// request is completed with the tool and the input.
func (a *Activities) dispatch(
	ctx context.Context, scope catalog.Scope, ref CallRef, call contract.Call, req catalog.Request,
) dispatched {
	input, fault := a.wholeInput(ctx, ref, call)
	if fault != nil {
		return refused(ref.ID, fault)
	}
	req.Tool, req.Input, req.CanAsk = call.Tool, input, true
	outcome := a.Broker.Dispatch(ctx, scope, req,
		catalog.Plan{
			Tool: ref.Tool, DescriptorDigest: ref.DescriptorDigest, InputDigest: ref.InputDigest,
			NeedsApproval: ref.Approved, Granted: ref.Granted, Approvers: ref.Approvers,
		})
	if outcome.Asks != nil {
		return a.asking(ctx, ref, outcome)
	}
	switch failed := outcome.Error; {
	case failed != nil && failed.Effect == catalog.EffectUnknown:
		unknown := refused(ref.ID, unknownOutcome(failed))
		unknown.effect = catalog.EffectUnknown
		return unknown
	case failed != nil:
		return refused(ref.ID, failed)
	}
	return dispatched{CallResult: CallResult{ID: ref.ID, Result: outcome.Result, Warning: outcome.Warning, Undo: outcome.Undo}}
}

// asking is a call that asks a person. Where nobody reads the question its problem
// says so.
func (a *Activities) asking(ctx context.Context, ref CallRef, outcome catalog.Outcome) dispatched {
	asked, err := a.asked(ctx, outcome.Asks)
	if err != nil {
		err.Tool = ref.Tool
		return refused(ref.ID, err)
	}
	d := refused(ref.ID, outcome.Error)
	d.Asks = asked
	return d
}

// wholeInput is the input of a call, also of one that is in the store.
func (a *Activities) wholeInput(ctx context.Context, ref CallRef, call contract.Call) (json.RawMessage, *catalog.Error) {
	input, err := a.inputOf(ctx, call)
	if err != nil {
		return nil, &catalog.Error{
			Code: catalog.CodeSourceUnavailable, Tool: ref.Tool, Retryable: true, Effect: catalog.EffectNone,
			Message: fmt.Sprintf("cannot read the input of the call from the blob store: %v", err),
		}
	}
	return input, nil
}

func refused(id string, err *catalog.Error) dispatched {
	return dispatched{CallResult: CallResult{ID: id, Problem: problem(err)}, retryable: err.Retryable, effect: err.Effect}
}
