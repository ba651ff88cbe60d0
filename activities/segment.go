package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/codemode/snippet"
	"github.com/heddle-dev/heddle/signals/contract"
)

// Snippets runs snippets.
type Snippets interface {
	// Run takes a snippet up where its journal ends and goes on until it can move no
	// further without the thread, or is done. What the snippet does wrong ends it,
	// with a report; an error says that it could not be run. One that wraps
	// [ErrDiverged] is for ever.
	Run(ctx context.Context, stretch Stretch) (StretchResult, error)
}

// maxServed bounds the calls of one segment that the timeline is told one by one.
const maxServed = 200

// Segment runs the next stretch of a snippet. It has no effect: one that died is
// run again from the same journal.
func (a *Activities) Segment(ctx context.Context, in SegmentInput) (SegmentResult, error) {
	agent, ok := a.Agents[in.Thread.Agent]
	if !ok {
		return SegmentResult{}, unknownAgent(in.Thread.Agent)
	}
	if a.Snippets == nil {
		return SegmentResult{}, temporal.NewApplicationError("this worker runs no snippets: no agent of its configuration has the exposure code or auto", ErrTypeSnippets)
	}
	var made, over atomic.Int64
	defer heartbeat(ctx, func() []any {
		return []any{contract.Beat{Progress: map[string]contract.Progress{
			in.Call: {Done: int(over.Load()), Total: int(made.Load())},
		}}}
	})()

	page, err := a.Threads.Execution(ctx, runOf(ctx), in)
	if err != nil {
		return SegmentResult{}, unavailable(ErrTypeThread, "read the snippet's execution", err)
	}
	state, err := a.takeUp(ctx, page)
	if err != nil {
		return SegmentResult{}, err
	}
	began := time.Now()
	came, err := a.Snippets.Run(ctx, Stretch{
		Call: in.Call, Scope: agent.scope(in.Thread), Results: keptResults(page.Results),
		Program: snippet.Program{
			Tenant: in.Thread.Tenant, Source: state.source, Input: state.input, Seed: in.Root + "/" + in.Call, Now: in.Now, Journal: state.Journal,
		},
		Effects: state.waiting(), Outcomes: state.Late, Spent: in.Spent, Dry: in.Dry, Allowed: in.Allowed,
		Progress: func(m, o int) { made.Store(int64(m)); over.Store(int64(o)) },
	})
	if err != nil {
		return SegmentResult{}, segmentFailure(ctx, err)
	}
	result, err := a.segmentResult(ctx, in, page, state, came)
	result.Spent = time.Since(began)
	return result, err
}

// segmentFailure tells what another attempt may mend from what it cannot.
func segmentFailure(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrDiverged):
		return temporal.NewNonRetryableApplicationError(err.Error(), ErrTypeDiverged, nil)
	}
	return unavailable(ErrTypeSnippets, "run the snippet", err)
}

// executionState is what is known of an execution. In this form it is stored.
type executionState struct {
	Journal snippet.Journal `json:"journal"`
	// Effects are the numbers of all calls that the thread was handed.
	Effects []int `json:"effects,omitempty"`
	// Late are outcomes of those that have not been delivered.
	Late []snippet.Delivery `json:"late,omitempty"`

	source string
	// input is that of a saved script.
	input json.RawMessage
}

// waiting are the effects without a delivery.
func (s *executionState) waiting() []int {
	delivered := map[int]bool{}
	for _, d := range s.Journal.Deliveries {
		delivered[d.Call] = true
	}
	return slices.DeleteFunc(slices.Clone(s.Effects), func(n int) bool { return delivered[n] })
}

// segmentRecord is what one segment adds to the state of an execution.
type segmentRecord struct {
	Calls      []snippet.Record   `json:"calls,omitempty"`
	Deliveries []recordedDelivery `json:"deliveries,omitempty"`
	Effects    []int              `json:"effects,omitempty"`
}

// recordedDelivery is a delivery, or where Given says so only that the outcome
// which the thread gave for the call was delivered.
type recordedDelivery struct {
	snippet.Delivery
	Given bool `json:"given,omitempty"`
}

// takeUp puts together what is known of an execution.
func (a *Activities) takeUp(ctx context.Context, page contract.ExecutionPage) (*executionState, error) {
	state := &executionState{}
	if page.Stored != nil {
		stored, err := a.Blobs.Get(ctx, *page.Stored)
		if err != nil {
			return nil, unavailable(ErrTypeBlobs, "read the snippet's journal", err)
		}
		if err := json.Unmarshal(stored, state); err != nil {
			return nil, fmt.Errorf("the snippet's journal: %w", err)
		}
	}
	input := page.Call.Input
	if page.Call.Body != nil {
		body, err := a.Blobs.Get(ctx, *page.Call.Body)
		if err != nil {
			return nil, unavailable(ErrTypeBlobs, "read the snippet", err)
		}
		input = body
	}
	if page.Source != nil {
		script, err := a.Blobs.Get(ctx, *page.Source)
		if err != nil {
			return nil, unavailable(ErrTypeBlobs, "read the script", err)
		}
		state.source, state.input = string(script), input
	} else {
		source, fault := sourceOf(input)
		if fault != nil {
			return nil, temporal.NewNonRetryableApplicationError(fault.Error(), fault.Code, nil)
		}
		state.source = source
	}
	given, err := a.deliveries(ctx, page.Outcomes)
	if err != nil {
		return nil, err
	}
	return state, state.goOn(page.Records, given)
}

// goOn adds what segments recorded, and the outcomes that the thread gave.
func (s *executionState) goOn(records []json.RawMessage, given []snippet.Delivery) error {
	s.Late = append(s.Late, given...)
	for _, encoded := range records {
		var record segmentRecord
		if err := json.Unmarshal(encoded, &record); err != nil {
			return fmt.Errorf("the snippet's journal: %w", err)
		}
		s.Journal.Calls = append(s.Journal.Calls, record.Calls...)
		s.Effects = append(s.Effects, record.Effects...)
		for _, d := range record.Deliveries {
			i := slices.IndexFunc(s.Late, func(late snippet.Delivery) bool { return late.Call == d.Call })
			switch {
			case i < 0 && d.Given:
				return fmt.Errorf("the snippet's journal: the outcome of call %d is missing", d.Call)
			case d.Given:
				d.Result, d.Error = s.Late[i].Result, s.Late[i].Error
			}
			if i >= 0 {
				s.Late = slices.Delete(s.Late, i, i+1)
			}
			s.Journal.Deliveries = append(s.Journal.Deliveries, d.Delivery)
		}
	}
	return nil
}

// deliveries are outcomes as a snippet gets them.
func (a *Activities) deliveries(ctx context.Context, outcomes []contract.Outcome) ([]snippet.Delivery, error) {
	given := make([]snippet.Delivery, len(outcomes))
	for i, o := range outcomes {
		given[i] = snippet.Delivery{Call: o.Number, At: o.At}
		switch {
		case o.Problem != nil:
			given[i].Error = snippetError(o.Problem)
		case o.Body != nil:
			body, err := a.Blobs.Get(ctx, *o.Body)
			if err != nil {
				return nil, unavailable(ErrTypeBlobs, fmt.Sprintf("read the outcome of call %d", o.Number), err)
			}
			given[i].Result = body
		default:
			given[i].Result = o.Result
		}
	}
	return given, nil
}

// snippetError is a problem as a snippet catches it.
func snippetError(p *contract.Problem) *snippet.Error {
	e := &snippet.Error{Code: p.Code, Message: p.Message}
	var more rest
	if len(p.Details) > 0 && json.Unmarshal(p.Details, &more) == nil {
		e.Retryable, e.Effect, e.Hint, e.Details = more.Retryable, string(more.Effect), more.Hint, more.Details
	}
	if more.Limit != nil && len(e.Details) == 0 {
		e.Details, _ = json.Marshal(map[string]any{"limit": more.Limit}) // it came from JSON
	}
	switch p.Code {
	case contract.CodeApprovalDenied, contract.CodeApprovalExpired:
		e.Effect = string(catalog.EffectNone)
	case contract.CodeOutcomeUnknown:
		e.Effect = string(catalog.EffectUnknown)
	}
	return e
}

func keptResults(kept []contract.KeptResult) map[string]contract.Ref {
	results := make(map[string]contract.Ref, len(kept))
	for _, k := range kept {
		results[k.Call] = k.Ref
	}
	return results
}
