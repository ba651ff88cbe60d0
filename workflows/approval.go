package workflows

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// decidedKept is how many past approvals a thread remembers, to answer a second
// decision on one of them.
const decidedKept = 64

// approval is a call that waits for a person.
type approval struct {
	contract.Approval
	// of is the call, asked by are those who cannot agree to it where that counts.
	of       *call
	askedBy  []string
	decision *contract.Decision
	// withdrawn says that the turn ended first.
	withdrawn bool
	expiry    workflow.Future
	stopTimer workflow.CancelFunc
}

// verdict is what the person decided; empty while nothing is decided.
func (ap *approval) verdict() contract.Verdict {
	if ap.decision == nil {
		return ""
	}
	return ap.decision.Verdict
}

// agreed reports whether the call may be made.
func (ap *approval) agreed() bool {
	return ap.verdict() == contract.Approve || ap.verdict() == contract.Edit
}

func (ap *approval) decided() bool { return ap.decision != nil || ap.withdrawn || ap.expiry.IsReady() }

// Ended is how a past approval ended.
type Ended struct {
	Approval string              `json:"approval"`
	Digest   string              `json:"digest"`
	Status   contract.PartStatus `json:"status"`
	Verdict  contract.Verdict    `json:"verdict,omitempty"`
	// Edited tells edits of one approval apart.
	Edited string `json:"edited,omitempty"`
}

// waiting holds what waits for people, and what has waited.
type waiting struct {
	approvals []*approval
	endedRing []Ended
}

// askFor opens an approval for each effect that needs one, all at once, so that
// a person can decide them in any order.
func (t *thread) askFor(turn *turn, effects []*call) {
	t.refuseBlocked(effects)
	for _, c := range effects {
		if !c.planned.Plan.NeedsApproval || c.settled() {
			continue
		}
		if was := t.takeChange(c); was != nil {
			t.planAgain(turn, c, was)
			continue
		}
		if c.grant = t.byGrant(c.planned.Plan); c.grant == nil {
			c.approval = t.ask(turn, c)
			continue
		}
		t.update(c.planned.ID, func(p *contract.Part) { p.GrantID = c.grant.ID })
	}
}

func (t *thread) ask(turn *turn, c *call) *approval {
	now := workflow.Now(t.ctx)
	plan := c.planned.Plan
	ap := &approval{of: c, askedBy: []string{t.start.User, turn.user}, Approval: contract.Approval{
		ID: c.planned.ID + "-a", Turn: turn.ID, Call: c.planned.ID, Tool: c.planned.Tool,
		Title: plan.Title, Reason: plan.Reason, Preview: plan.Preview, Does: plan.Does, Changed: c.planned.Changed,
		DescriptorDigest: plan.DescriptorDigest, InputDigest: plan.InputDigest,
		Digest:   approvalDigest(c.planned.Tool, plan.DescriptorDigest, plan.InputDigest),
		Resource: plan.ResourceKey, Approvers: plan.Approvers, Grantable: plan.Grantable,
		RequestedAt: now, ExpiresAt: now.Add(turn.limits.ApprovalExpiry),
	}}
	var ctx workflow.Context
	ctx, ap.stopTimer = workflow.WithCancel(t.ctx)
	ap.expiry = workflow.NewTimerWithOptions(ctx, turn.limits.ApprovalExpiry, workflow.TimerOptions{
		Summary: "approval of " + c.planned.Tool + " expires",
	})
	t.remind(ctx, ap, turn.limits.ApprovalReminder)
	t.approvals = append(t.approvals, ap)
	t.update(c.planned.ID, func(p *contract.Part) { p.Status = contract.PartWaiting })
	t.put(part(ap.ID, contract.KindApproval, contract.PartWaiting, approvalTitle(ap.Approval)).in(turn).with(func(p *contract.Part) {
		p.Parent, p.Tool, p.Approval = c.planned.ID, c.planned.Tool, &ap.Approval
	}))
	return ap
}

// approvalDigest is what a decision must quote.
func approvalDigest(tool, descriptor, input string) string {
	sum := sha256.Sum256([]byte(tool + "\n" + descriptor + "\n" + input))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// check says why a decision cannot be taken, or that it was taken before.
func (t *thread) check(d contract.Decision) (duplicate bool, refusal error) {
	if err := d.Validate(); err != nil {
		return false, refuse(contract.ErrInvalid, "%v", err)
	}
	if ap := t.approval(d.Approval); ap != nil {
		if d.Digest != ap.Digest {
			return false, refuse(contract.ErrDigestMismatch,
				"digest: approval %s is for another call than the decision; it has digest %s", ap.ID, ap.Digest)
		}
		if !ap.decided() {
			return t.checkVote(ap, d)
		}
		return decidedAlike(d, t.endedNow(ap))
	}
	for _, past := range t.endedRing {
		if past.Approval == d.Approval {
			return decidedAlike(d, past)
		}
	}
	return false, refuse(contract.ErrUnknownApproval, "approval: the thread has no approval %q", d.Approval)
}

func decidedAlike(d contract.Decision, past Ended) (bool, error) {
	if past.Digest == d.Digest && past.Verdict == d.Verdict && past.Edited == contentOf(d) {
		return true, nil
	}
	return false, refuse(contract.ErrAlreadyDecided, "approval: %s is over: %s", d.Approval, past.Status)
}

// settleDecided gives the effects that a person denied, or that nobody decided in
// time, their end.
func (t *thread) settleDecided(effects []*call) {
	for _, c := range effects {
		ap := c.approval
		switch {
		case c.reconciliation != nil: // it was made
		case c.begun: // and its own calls are decided one by one
		case !c.settled() && c.grant != nil && slices.Contains(t.revoked, c.grant.ID):
			t.settle(c, refusedCall(c, contract.CodeGrantRevoked, "the grant "+c.grant.ID+" that let the call pass was revoked; it was not made"))
		case ap == nil || c.settled() || !ap.decided() || ap.agreed():
		case ap.verdict() == contract.Deny:
			t.settle(c, refusedCall(c, contract.CodeApprovalDenied, denial(*ap.decision)))
		default:
			ap.stopTimer()
			t.noteDecision(ap, catalog.Decision{Verdict: verdictExpire})
			t.finish(ap.ID, contract.PartExpired, func(p *contract.Part) { p.Title = "Expired: approve " + ap.Tool })
			t.retire(ap)
			t.settle(c, refusedCall(c, contract.CodeApprovalExpired, fmt.Sprintf(
				"nobody decided within %s; the call was not made", ap.ExpiresAt.Sub(ap.RequestedAt).Round(time.Second))))
		}
	}
}

func refusedCall(c *call, code, message string) activities.CallResult {
	return activities.CallResult{ID: c.planned.ID, Problem: &contract.Problem{Code: code, Message: message}}
}

func denial(d contract.Decision) string {
	message := "a person denied the call; it was not made"
	if d.Comment != "" {
		message += ": " + d.Comment
	}
	return message
}

// withdraw takes back what is still asked, since the turn ends.
func (t *thread) withdraw(effects []*call) {
	for _, c := range effects {
		t.withdrawQuestion(c)
		ap := c.approval
		if ap == nil || ap.decided() {
			continue
		}
		ap.withdrawn = true
		ap.stopTimer()
		t.finish(ap.ID, contract.PartCancelled, func(p *contract.Part) { p.Title = "Withdrawn: approve " + ap.Tool })
		t.retire(ap)
	}
}

// retire moves an approval from those that wait to those that have.
func (t *thread) retire(ap *approval) {
	t.endedRing = append(t.endedRing, t.endedNow(ap))
	if len(t.endedRing) > decidedKept {
		t.endedRing = t.endedRing[len(t.endedRing)-decidedKept:]
	}
	t.approvals = slices.DeleteFunc(t.approvals, func(other *approval) bool { return other == ap })
}

func (t *thread) endedNow(ap *approval) Ended {
	past := Ended{Approval: ap.ID, Digest: ap.Digest, Verdict: ap.verdict(), Status: contract.PartExpired}
	if ap.decision != nil { // an edit quotes what it was made of
		past.Digest, past.Edited = ap.decision.Digest, contentOf(*ap.decision)
	}
	switch {
	case ap.withdrawn:
		past.Status = contract.PartCancelled
	case past.Verdict == contract.Approve, past.Verdict == contract.Edit:
		past.Status = contract.PartDone
	case past.Verdict == contract.Deny:
		past.Status = contract.PartDenied
	}
	return past
}

func (t *thread) approval(id string) *approval {
	i := slices.IndexFunc(t.approvals, func(ap *approval) bool { return ap.ID == id })
	if i < 0 {
		return nil
	}
	return t.approvals[i]
}

func refuse(code, format string, args ...any) error {
	return temporal.NewNonRetryableApplicationError(fmt.Sprintf(format, args...), code, nil)
}
