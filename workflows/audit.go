package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// The verdicts of an audit log that nobody can give.
const (
	verdictExpire = "expire"
	verdictRevoke = "revoke"
)

// auditing is what a thread tells an audit log.
type auditing struct {
	// audited says that the worker of the last turn keeps a log: so said the result of
	// its first step.
	audited bool
	// noting counts what is being written.
	noting int
}

// noteVote tells the audit log of a person's part in a decision.
func (t *thread) noteVote(ap *approval, d contract.Decision, missing int, grant *contract.Grant) {
	noted := catalog.Decision{Verdict: string(d.Verdict), By: d.By, Comment: d.Comment, Missing: missing}
	if grant != nil {
		noted.Grant = &catalog.GrantEntry{ID: grant.ID, Resource: grant.Resource, Calls: grant.Calls, Until: grant.Until}
	}
	t.noteDecision(ap, noted)
}

// noteDecision tells the audit log what became of asking people about a call.
func (t *thread) noteDecision(ap *approval, d catalog.Decision) {
	d.Approval, d.Call, d.Digest = ap.ID, ap.Call, ap.Digest
	plan := ap.of.planned.Plan
	t.note(catalog.Entry{
		Tool: ap.Tool, Operation: plan.Operation, Resource: ap.Resource, Policy: plan.Policy, NeedsApproval: true,
		DescriptorDigest: ap.DescriptorDigest, InputDigest: ap.InputDigest,
	}, d)
}

// noteRevoked tells the audit log of a grant that was taken back.
func (t *thread) noteRevoked(g contract.Grant, r contract.RevokeGrant) {
	t.note(catalog.Entry{Tool: g.Tool, DescriptorDigest: g.DescriptorDigest}, catalog.Decision{
		Verdict: verdictRevoke, Approval: g.Approval, By: r.By, Comment: r.Reason,
		Grant: &catalog.GrantEntry{ID: g.ID, Resource: g.Resource, Calls: g.Calls, Until: g.Until},
	})
}

// note writes an entry. What was decided holds also where it cannot be written: the
// write that follows cannot be recorded then either, and is not made.
func (t *thread) note(e catalog.Entry, d catalog.Decision) {
	if !t.audited {
		return
	}
	d.At = workflow.Now(t.ctx)
	e.Kind, e.Decision = catalog.EntryDecision, &d
	in := activities.NoteInput{Thread: t.governed(), Entry: e}
	t.noting++
	workflow.Go(t.ctx, func(ctx workflow.Context) {
		err := workflow.ExecuteLocalActivity(workflow.WithLocalActivityOptions(ctx, noteOptions()), a.Note, in).Get(ctx, nil)
		if err != nil {
			t.log.Error("the audit log lacks a decision", "approval", d.Approval, "verdict", d.Verdict, "error", err)
		}
		t.noting--
	})
}

// noteOptions bound how long a decision waits for a disk.
func noteOptions() workflow.LocalActivityOptions {
	return workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: 10 * time.Second,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: 200 * time.Millisecond, MaximumAttempts: 3},
		Summary:                "audit log",
	}
}
