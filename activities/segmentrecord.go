package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/codemode/snippet"
	"github.com/heddle-dev/heddle/signals/contract"
)

// maxEffectsAtOnce bounds the effects that one segment hands over. A snippet that
// asks for more at once has the rest handed over later.
const maxEffectsAtOnce = MaxCallsAtOnce

// segmentResult turns what came of a stretch into the activity's result.
func (a *Activities) segmentResult(
	ctx context.Context, in SegmentInput, page contract.ExecutionPage, before *executionState, came StretchResult,
) (SegmentResult, error) {
	result := SegmentResult{
		Used: came.Used, Sleeps: came.Sleeps, Cancelled: came.Cancelled, Cut: came.Cut,
		Served: came.Served[:min(len(came.Served), maxServed)], More: max(len(came.Served)-maxServed, 0),
	}
	if came.End != nil {
		end, err := a.segmentEnd(ctx, in, came.End)
		result.End = end
		return result, err
	}
	handed := make([]int, 0, len(came.Effects)+len(came.Sleeps))
	for _, effect := range came.Effects[:min(len(came.Effects), maxEffectsAtOnce)] {
		call, err := a.inlineInput(ctx, contract.Call{
			ID: fmt.Sprintf("%s.%d", in.Call, effect.Number), Tool: effect.Tool, Input: effect.Input,
		})
		if err != nil {
			return result, err
		}
		planned := PlannedCall{Call: call, Plan: effect.Plan, Number: effect.Number}
		planned.Plan.Error = nil
		if effect.Asks != nil {
			asked, refused := a.asked(ctx, effect.Asks)
			planned.Asks, planned.Problem = asked, problem(refused)
		}
		if err := a.asScript(ctx, &planned); err != nil {
			return result, err
		}
		if err := a.keepDescriptor(ctx, &planned); err != nil {
			return result, err
		}
		result.Effects = append(result.Effects, planned)
		handed = append(handed, effect.Number)
	}
	for _, sleep := range came.Sleeps {
		handed = append(handed, sleep.Number)
	}
	if err := a.fitCalls(ctx, result.Effects); err != nil {
		return result, err
	}
	var err error
	result.Record, result.Stored, err = a.record(ctx, page, before, came, handed)
	return result, err
}

func (a *Activities) segmentEnd(ctx context.Context, in SegmentInput, end *StretchEnd) (*SegmentEnd, error) {
	if in.Nested {
		return a.segmentValue(ctx, end)
	}
	kept := &SegmentEnd{Report: end.Report, Problem: end.Problem}
	if len(end.Whole) == 0 {
		return kept, nil
	}
	ref, err := a.Blobs.Put(ctx, end.Whole)
	if err != nil {
		return nil, unavailable(ErrTypeBlobs, "store the result of the snippet", err)
	}
	kept.Whole = &ref
	return kept, nil
}

// record makes what the next segment needs: what this one adds, or once all there
// is to know is too long for history, a reference to that.
func (a *Activities) record(
	ctx context.Context, page contract.ExecutionPage, before *executionState, came StretchResult, handed []int,
) (json.RawMessage, *contract.Ref, error) {
	given := map[int]bool{}
	for _, outcome := range page.Outcomes {
		given[outcome.Number] = true
	}
	added := segmentRecord{Calls: came.Journal.Calls[len(before.Journal.Calls):], Effects: handed}
	for _, d := range came.Journal.Deliveries[len(before.Journal.Deliveries):] {
		recorded := recordedDelivery{Delivery: d}
		if given[d.Call] {
			recorded = recordedDelivery{Delivery: snippet.Delivery{Call: d.Call, At: d.At}, Given: true}
		}
		added.Deliveries = append(added.Deliveries, recorded)
	}
	encoded, err := json.Marshal(added)
	if err != nil {
		return nil, nil, fmt.Errorf("encode the snippet's journal: %w", err)
	}
	size := encodedLen(encoded)
	for _, record := range page.Records {
		size += encodedLen(record)
	}
	for _, outcome := range page.Outcomes {
		size += encodedLen(outcome.Result)
	}
	if size <= contract.MaxInline {
		return encoded, nil, nil
	}
	ref, err := a.storeExecution(ctx, executionState{
		Journal: came.Journal, Effects: slices.Concat(before.Effects, handed), Late: came.Late,
	})
	return nil, &ref, err
}

func (a *Activities) storeExecution(ctx context.Context, state executionState) (contract.Ref, error) {
	whole, err := json.Marshal(state)
	if err != nil {
		return contract.Ref{}, fmt.Errorf("encode the snippet's journal: %w", err)
	}
	ref, err := a.Blobs.Put(ctx, whole)
	if err != nil {
		return ref, unavailable(ErrTypeBlobs, "store the snippet's journal", err)
	}
	return ref, nil
}
