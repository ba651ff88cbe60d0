package workflows

import (
	"fmt"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// maxChanges bounds how often people are asked anew about one call whose tool has
// changed: one that changes each time is not called.
const maxChanges = 5

// changedMeanwhile reports whether a call was not made since its tool is no longer what
// people have agreed to. They are then asked anew, and shown what has changed. A call
// that was planned without a way to tell them comes to its problem.
func (c *call) changedMeanwhile(result activities.CallResult) bool {
	return c.planned.Described != nil && c.unknown == nil && c.changes < maxChanges &&
		result.Problem != nil && result.Problem.Code == catalog.CodeDescriptorChanged
}

// askAnew plans a call whose tool has changed, and has people decide about it as it is
// now. What they, or a grant, have agreed to before holds no more.
func (t *thread) askAnew(turn *turn, c *call) {
	c.changes++
	c.approval, c.grant, c.question = nil, nil, nil
	t.planAgain(turn, c, c.planned.Described)
}

// approvalID is the id of the approval that a call asks for next.
func (c *call) approvalID() string {
	if c.changes == 0 {
		return c.planned.ID + "-a"
	}
	return fmt.Sprintf("%s-a%d", c.planned.ID, c.changes+1)
}

// approvalTitle is that of the approval in the timeline.
func approvalTitle(ap contract.Approval) string {
	if ap.Changed != "" {
		return "Approve " + ap.Tool + ", which has changed"
	}
	return "Approve " + ap.Tool
}
