package activities

import (
	"context"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// keepDescriptor stores what a person agrees to of a call's tool.
func (a *Activities) keepDescriptor(ctx context.Context, planned *PlannedCall) error {
	described := planned.Plan.Described
	if len(described) == 0 {
		return nil
	}
	ref, err := a.Blobs.Put(ctx, described)
	if err != nil {
		return unavailable(ErrTypeBlobs, "store the descriptor of "+planned.Tool, err)
	}
	planned.Described = &ref
	return nil
}

// differences says how a tool differs from how it was described before. Where that is no
// longer to be had, or the call needs nobody's consent by now, it says nothing.
func (a *Activities) differences(ctx context.Context, before *contract.Ref, planned PlannedCall) string {
	if before == nil || len(planned.Plan.Described) == 0 {
		return ""
	}
	was, err := a.Blobs.Get(ctx, *before)
	if err != nil {
		return "what it was cannot be read any more: " + err.Error()
	}
	return catalog.Differences(was, planned.Plan.Described)
}
