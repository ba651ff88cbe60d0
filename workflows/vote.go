package workflows

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/signals/contract"
)

// checkVote says why a person cannot decide so on an approval that waits, or that
// they have done so before.
func (t *thread) checkVote(ap *approval, d contract.Decision) (duplicate bool, refusal error) {
	if err := t.checkGrant(ap, d); err != nil {
		return false, err
	}
	if ap.Approvers == 0 || d.Verdict == contract.Deny { // anyone can stop a call
		return false, nil
	}
	if strings.TrimSpace(d.By) == "" {
		return false, refuse(contract.ErrNotPermitted, "by: is empty; %s must agree to %s, so each says who they are", people(ap.Approvers), ap.Tool)
	}
	if slices.ContainsFunc(ap.askedBy, func(user string) bool { return same(user, d.By) }) {
		return false, refuse(contract.ErrNotPermitted, "by: %q asked for the call, so others must agree to it", d.By)
	}
	for _, vote := range ap.Votes {
		if same(vote.By, d.By) && d.Verdict == contract.Approve {
			return true, nil
		}
	}
	return false, nil
}

// same reports whether two names are those of one person. It rather takes two for
// one than one for two.
func same(a, b string) bool {
	return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b))
}

func people(n int) string {
	if n == 1 {
		return "another person"
	}
	return fmt.Sprintf("%d people", n)
}

// missing is how many more people must agree.
func (ap *approval) missing() int { return max(max(ap.Approvers, 1)-len(ap.Votes), 0) }

// vote takes a decision that check has let pass. What was decided shows at once; the
// turn acts on it as soon as it can.
func (t *thread) vote(ap *approval, d contract.Decision) contract.Decided {
	decided := contract.Decided{Approval: d.Approval, Verdict: d.Verdict}
	vote := contract.Vote{By: d.By, Verdict: d.Verdict, Digest: ap.Digest, Comment: d.Comment, At: workflow.Now(t.ctx)}
	// Readers may hold the votes as they were.
	ap.Votes = append(slices.Clone(ap.Votes), vote)
	if decided.Missing = ap.missing(); decided.Missing > 0 && d.Verdict != contract.Deny {
		shown := ap.Approval
		t.update(ap.ID, func(p *contract.Part) { p.Approval = &shown })
		t.noteVote(ap, d, decided.Missing, nil)
		t.show()
		return decided
	}
	decided.Missing = 0
	ap.decision = &d
	ap.stopTimer()
	status, title := contract.PartDone, "Approved "
	switch d.Verdict {
	case contract.Deny:
		status, title = contract.PartDenied, "Denied "
	case contract.Edit:
		title = "Edited and approved "
	}
	shown, told := ap.Approval, d
	told.Input = nil // the preview shows it
	t.finish(ap.ID, status, func(p *contract.Part) {
		p.Approval, p.Decision, p.Title = &shown, &told, title+ap.Tool
	})
	if ap.agreed() {
		t.update(ap.Call, func(p *contract.Part) { p.Status = contract.PartRunning })
	}
	var grant *contract.Grant
	if d.Grant != nil {
		grant = t.give(ap, d)
	}
	t.noteVote(ap, d, 0, grant)
	t.retire(ap)
	return decided
}

// remind shows an approval anew while it waits: at first after a time, then after
// twice that, and so on, so that a long wait costs little.
func (t *thread) remind(ctx workflow.Context, ap *approval, after time.Duration) {
	if after <= 0 {
		return
	}
	workflow.Go(ctx, func(ctx workflow.Context) {
		for {
			timer := workflow.NewTimerWithOptions(ctx, after, workflow.TimerOptions{Summary: "reminder of the approval of " + ap.Tool})
			if timer.Get(ctx, nil) != nil || ap.decided() {
				return
			}
			ap.Reminders++
			shown := ap.Approval
			t.update(ap.ID, func(p *contract.Part) { p.Approval = &shown })
			after *= 2
		}
	})
}
