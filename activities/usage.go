package activities

import (
	"context"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// Meter counts the model turns of tenants, over all threads and workers, where the
// configuration limits their totals. The calls of tools are counted by the broker, see
// [catalog.Meter].
type Meter interface {
	// Step counts a model turn that is about to be made, or refuses it: with
	// [catalog.CodeLimit] where a total has no room for it, and with another code,
	// to be tried again, where that cannot be found out.
	Step(ctx context.Context, tenant string) *catalog.Error
	// Used counts what the turn has used. It returns when that is durable, or cannot be
	// made so now.
	Used(ctx context.Context, tenant string, used contract.Usage)
}

// step has a model turn counted before the model is asked. A refusal ends the turn.
func (a *Activities) step(ctx context.Context, tenant string) (refusal *contract.Problem, err error) {
	if a.Meter == nil {
		return nil, nil
	}
	switch refused := a.Meter.Step(ctx, tenant); {
	case refused == nil:
		return nil, nil
	case refused.Code == catalog.CodeLimit:
		return problem(refused), nil
	case ctx.Err() != nil: // the turn was cancelled, or the worker stops
		return nil, ctx.Err()
	default:
		return nil, unavailable(ErrTypeUsage, "count the model turn", refused)
	}
}

// used has counted what the model turn has used.
func (a *Activities) used(ctx context.Context, tenant string, used contract.Usage) {
	if a.Meter != nil {
		a.Meter.Used(ctx, tenant, used)
	}
}

// UsageInput is the argument of the workflow that counts what a tenant uses and,
// after a continue-as-new, what the run before left.
type UsageInput struct {
	contract.TenantUsage
	// Answered are the charges that were answered last, the newest at the end.
	Answered []AnsweredCharge `json:"answered,omitempty"`
}

// AnsweredCharge is a charge that may be sent again, with its answer.
type AnsweredCharge struct {
	Key string `json:"key"`
	contract.Charged
}
