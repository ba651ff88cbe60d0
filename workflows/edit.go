package workflows

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
)

// edit has a call planned anew with the input that a person gave it. An input that
// is refused changes nothing: the call waits on. Else the person has agreed to the
// call as it is then, and to that alone.
//
// Other decisions may come in while the input is looked at; the first to be right
// holds.
func (t *thread) edit(ctx workflow.Context, d contract.Decision) (contract.Decided, error) {
	ap := t.approval(d.Approval)
	in := activities.ReplanInput{Thread: t.governed(), Call: ap.Call, Tool: ap.Tool, Input: d.Input}
	ctx = workflow.WithActivityOptions(ctx, replanOptions("edit of "+ap.Call))
	var planned activities.ReplanResult
	if err := workflow.ExecuteActivity(ctx, a.Replan, in).Get(ctx, &planned); err != nil {
		return contract.Decided{}, refuse(contract.CodeInternal, "input: cannot be checked now: %s", cause(err))
	}
	if duplicate, err := t.check(d); err != nil || duplicate {
		return contract.Decided{Approval: d.Approval, Verdict: d.Verdict, Duplicate: duplicate}, err
	}
	if p := planned.Problem; p != nil {
		return contract.Decided{}, refuse(contract.ErrInvalid, "input: %s: %s", p.Code, p.Message)
	}
	t.replace(ap, planned.PlannedCall)
	return t.vote(ap, d), nil
}

// replace puts a call with another input in the place of one that waits. What was
// voted on the other counts no more.
func (t *thread) replace(ap *approval, planned activities.PlannedCall) {
	c, plan := ap.of, planned.Plan
	c.planned.Input, c.planned.Body, c.planned.Plan = planned.Input, planned.Body, plan
	c.planned.Described = planned.Described
	c.edited = true
	// An activity may be reading the open calls.
	t.open = slices.Clone(t.open)
	for i := range t.open {
		if t.open[i].ID == c.planned.ID {
			t.open[i] = c.planned.Call
		}
	}
	ap.Preview, ap.Does, ap.Reason, ap.Resource = plan.Preview, plan.Does, plan.Reason, plan.ResourceKey
	ap.DescriptorDigest, ap.InputDigest = plan.DescriptorDigest, plan.InputDigest
	ap.Digest = approvalDigest(ap.Tool, plan.DescriptorDigest, plan.InputDigest)
	ap.Approvers, ap.Grantable, ap.Votes = plan.Approvers, plan.Grantable, nil
}

// contentOf tells two edits of one approval apart.
func contentOf(d contract.Decision) string {
	if d.Verdict != contract.Edit {
		return ""
	}
	sum := sha256.Sum256(d.Input)
	return hex.EncodeToString(sum[:8])
}
