package catalog

import (
	"fmt"
	"time"
)

const (
	// maxTitle bounds a plan's title.
	maxTitle = 200
)

// plan describes the call.
func (c *call) plan() Plan {
	p := Plan{
		Tool:             c.tool.ID,
		Title:            c.made.title,
		Operation:        c.tool.Operation,
		NeedsApproval:    c.consent.NeedsApproval,
		Reason:           c.consent.Reason,
		Approvers:        c.consent.Approvers,
		Grantable:        c.consent.Grantable,
		Policy:           decidedBy(c.ruling),
		DescriptorDigest: c.made.digest,
		InputDigest:      c.inputDigest(),
		ResourceKey:      c.resource,
		Timeout:          c.timeout(),
		HonoursKeys:      c.tool.HonoursKeys,
	}
	if c.consent.NeedsApproval {
		c.show(&p)
	}
	return p
}

// agrees refuses a call that is not, or no longer, the one that was planned.
func (c *call) agrees(p Plan) *Error {
	changed := func(code, format string, args ...any) *Error {
		return &Error{
			Code:    code,
			Message: fmt.Sprintf(format, args...) + "; nothing was called",
			Tool:    c.tool.ID,
			Effect:  EffectNone,
			Hint:    "make the call again, so that it is planned and approved as it is now",
		}
	}
	switch {
	case p.Error != nil:
		return p.Error
	case p.Tool != c.tool.ID:
		return changed(CodeDescriptorChanged, "tool %s was planned and %s is to be called", quote(p.Tool), quote(c.tool.ID))
	case p.DescriptorDigest != c.made.digest:
		return changed(CodeDescriptorChanged, "the description of tool %s has changed since the call was planned", quote(c.tool.ID))
	case p.InputDigest != c.inputDigest():
		return changed(CodeInputChanged, "the input of tool %s is not the one that was planned", quote(c.tool.ID))
	case c.consent.NeedsApproval && !p.NeedsApproval:
		return changed(CodeApprovalRequired, "a call of tool %s needs approval by now, and was planned without: %s", quote(c.tool.ID), c.consent.Reason)
	case c.consent.NeedsApproval && p.Granted && !c.consent.Grantable:
		return changed(CodeApprovalRequired, "a call of tool %s needs an approval of its own by now, which no grant replaces: %s", quote(c.tool.ID), c.consent.Reason)
	case c.consent.NeedsApproval && p.Approvers < c.consent.Approvers:
		return changed(CodeApprovalRequired, "a call of tool %s needs the approval of %d people by now, and was planned for %d: %s",
			quote(c.tool.ID), c.consent.Approvers, max(p.Approvers, 1), c.consent.Reason)
	}
	return nil
}

// title names the tool for people.
func (d Descriptor) title() string {
	if d.Title != "" {
		return d.Title
	}
	return titleOf(d.ID)
}

// timeout bounds the call.
func (c *call) timeout() time.Duration {
	own := c.tool.timeout()
	if limit := c.limits.time.Value; limit > 0 {
		own = min(own, time.Duration(limit)*time.Millisecond)
	}
	return own
}

// bindingTime is the limit that ended a call after some time, if it was one.
func (c *call) bindingTime(ran time.Duration) *Exceeded {
	if limit := c.limits.time; limit.Value > 0 && ran.Milliseconds() >= limit.Value {
		return &limit
	}
	return nil
}

// timeout bounds one call.
func (d Descriptor) timeout() time.Duration {
	if d.Timeout <= 0 {
		return DefaultTimeout
	}
	return min(d.Timeout, MaxTimeout)
}
