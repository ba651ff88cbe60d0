package workflows

import (
	"slices"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// maxChanged bounds for how many tools a thread remembers what they were.
const maxChanged = 16

// ChangedTool is a tool that was not called since it is no longer what people had agreed
// to.
type ChangedTool struct {
	Tool string `json:"tool"`
	// Described refers to its descriptor as it was.
	Described contract.Ref `json:"described"`
}

// noteChange remembers what a tool was, if a call was not made since it has changed: who
// is asked about the next call of it is shown the difference.
func (t *thread) noteChange(c *call, result activities.CallResult) {
	if c.planned.Described == nil || result.Problem == nil || result.Problem.Code != catalog.CodeDescriptorChanged {
		return
	}
	if t.changed = append(t.changed, ChangedTool{c.planned.Tool, *c.planned.Described}); len(t.changed) > maxChanged {
		t.changed = slices.Clone(t.changed[1:])
	}
}

// takeChange returns what a call's tool was when people were asked about it first, once,
// if it is another now.
func (t *thread) takeChange(c *call) *contract.Ref {
	var was *contract.Ref
	t.changed = slices.DeleteFunc(t.changed, func(changed ChangedTool) bool {
		same := changed.Tool == c.planned.Tool
		if same && was == nil {
			was = &changed.Described
		}
		return same
	})
	if was == nil || c.planned.Described == nil || was.Digest == c.planned.Described.Digest {
		return nil
	}
	return was
}

// approvalTitle is that of the approval in the timeline.
func approvalTitle(ap contract.Approval) string {
	if ap.Changed != "" {
		return "Approve " + ap.Tool + ", which has changed"
	}
	return "Approve " + ap.Tool
}
