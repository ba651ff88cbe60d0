package workflows

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// changeReconcile is the change by which the thread finds out what became of a write
// whose outcome is not known.
const changeReconcile = "reconcile"

// reconciliation is a write that may or may not have been applied. It outlives the
// call that waits for it, and the turn.
type reconciliation struct {
	contract.Reconciliation
	ref activities.CallRef
	// of is the call that waits; nil: it has ended as unknown. input is what it was
	// made with, for as long as the tool is asked.
	of    *call
	input contract.Call
	// thread is what activities are told of it, with the rules of the message.
	thread contract.Start
	// timeout bounds the call.
	timeout time.Duration
	// unknown is what the call ends with where nobody finds out.
	unknown activities.CallResult

	answer *contract.Reconcile
	found  *activities.ReconcileResult
	// expired says that the call has waited for long enough, news that something has
	// happened that the call's round has not seen.
	expired, news bool
	stopTimer     workflow.CancelFunc
	// locked says that the lock of the resource is the write's still. It stays so until
	// the reconciliation is over, so that no other thread works on it.
	locked bool
}

// asked reports whether a person is asked.
func (r *reconciliation) asked() bool { return r.AskedAt != nil }

// stirs reports whether something has happened that settleReconciled acts upon.
func (r *reconciliation) stirs() bool { return r != nil && r.news }

// over reports whether the call need not wait any longer.
func (r *reconciliation) over() bool { return r.found != nil || r.expired || r.abandoned() }

func (r *reconciliation) abandoned() bool {
	return r.answer != nil && r.answer.Finding == contract.FindingAbandoned
}

// reconciling holds the writes that may have been applied, and those that were
// answered.
type reconciling struct {
	doubts   []*reconciliation
	answered []Answered
}

// Answered is how a past reconciliation ended.
type Answered struct {
	Reconciliation string           `json:"reconciliation"`
	Finding        contract.Finding `json:"finding"`
	// Digest is that of what a person answered.
	Digest string `json:"digest,omitempty"`
}

// answeredKept is how many past reconciliations a thread remembers.
const answeredKept = 32

// lookedInto reports whether the call's tool is finding out what became of it.
func (c *call) lookedInto() bool {
	return !c.settled() && c.reconciliation != nil && !c.reconciliation.asked()
}

// doubt begins to find out what became of a call that may have been applied.
func (t *thread) doubt(turn *turn, c *call, unknown activities.CallResult) {
	if workflow.GetVersion(t.ctx, changeReconcile, workflow.DefaultVersion, 1) < 1 {
		t.settle(c, unknown)
		return
	}
	plan := c.planned.Plan
	r := &reconciliation{ref: c.ref(), of: c, thread: t.governed(), input: c.planned.Call, timeout: plan.Timeout, unknown: unknown, Reconciliation: contract.Reconciliation{
		ID: c.planned.ID + "-r", Turn: turn.ID, Call: c.planned.ID, Tool: c.planned.Tool,
		InputDigest: plan.InputDigest, Resource: plan.ResourceKey,
		Reason: cut(why(unknown.Problem), contract.MaxPartText), OpenedAt: workflow.Now(t.ctx),
	}}
	if c.doubts++; c.doubts > 1 {
		r.ID += fmt.Sprint(c.doubts)
	}
	c.reconciliation = r
	r.locked, c.place.taken = c.place.taken, false
	t.doubts = append(t.doubts, r)
	t.put(part(r.ID, contract.KindReconciliation, contract.PartRunning, "Finding out whether "+r.Tool+" was applied").in(turn).with(func(p *contract.Part) {
		p.Parent, p.Tool, p.Reconciliation = r.Call, r.Tool, r.shown()
	}))
	t.follow(r, turn.limits.ReconcileExpiry)
}

// why is a problem without what it tells the agent to do.
func why(p *contract.Problem) string {
	reason, _, _ := strings.Cut(p.Message, ": it may or may not have been applied")
	reason, _, _ = strings.Cut(reason, ". The call may or may not have been applied")
	return reason
}

// shown is the reconciliation as readers may keep it.
func (r *reconciliation) shown() *contract.Reconciliation {
	shown := r.Reconciliation
	return &shown
}

// follow takes a reconciliation to its end: the tool is asked, then a person.
func (t *thread) follow(r *reconciliation, expiry time.Duration) {
	workflow.Go(t.ctx, func(ctx workflow.Context) {
		if !r.asked() {
			found := t.lookInto(ctx, r)
			if found.Found != catalog.FoundNothing {
				t.resolve(r, found)
				return
			}
			t.askAbout(ctx, r, found, expiry)
		}
		_ = workflow.Await(ctx, func() bool { return r.answer != nil }) // ctx is never cancelled
		if r.abandoned() {
			t.resolve(r, activities.ReconcileResult{Found: catalog.FoundNothing})
			return
		}
		t.resolve(r, t.writeDown(ctx, r))
	})
}

// lookInto asks the tool until it has an answer or has had its time.
func (t *thread) lookInto(ctx workflow.Context, r *reconciliation) activities.ReconcileResult {
	var found activities.ReconcileResult
	options := reconcileOptions("what became of "+r.Tool+"?", r.timeout)
	in := activities.ReconcileInput{Thread: r.thread, Root: t.info.FirstRunID, Call: r.ref}
	if err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options), a.Reconcile, in).Get(ctx, &found); err != nil {
		return activities.ReconcileResult{Found: catalog.FoundNothing, Reason: "the tool cannot be asked: " + cause(err)}
	}
	return found
}

// writeDown has what a person found written into the claim of the write, and returns
// what holds.
func (t *thread) writeDown(ctx workflow.Context, r *reconciliation) activities.ReconcileResult {
	in := activities.ConcludeInput{Thread: t.start, Root: t.info.FirstRunID, Call: r.ref, Finding: catalog.FoundNotApplied}
	if r.answer.Finding == contract.FindingApplied {
		in.Finding, in.Result = catalog.FoundApplied, r.answer.Result
	}
	var found activities.ReconcileResult
	options := concludeOptions("a person found: " + string(r.answer.Finding))
	if err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options), a.Conclude, in).Get(ctx, &found); err != nil {
		return activities.ReconcileResult{Found: catalog.FoundNothing, Reason: cause(err)} // it is retried for ever
	}
	return found
}

// askAbout asks a person. The call waits for an answer until the expiry.
func (t *thread) askAbout(ctx workflow.Context, r *reconciliation, found activities.ReconcileResult, expiry time.Duration) {
	now := workflow.Now(ctx)
	r.AskedAt, r.Key, r.news, r.input = &now, found.Key, true, contract.Call{}
	if found.Reason != "" {
		r.Reason = cut(r.Reason+"; "+found.Reason, contract.MaxPartText)
	}
	if r.of != nil {
		until := now.Add(expiry)
		r.ExpiresAt = &until
		var timing workflow.Context
		timing, r.stopTimer = workflow.WithCancel(ctx)
		timer := workflow.NewTimerWithOptions(timing, expiry, workflow.TimerOptions{Summary: "whether " + r.Tool + " was applied is waited for"})
		workflow.Go(timing, func(ctx workflow.Context) {
			if timer.Get(ctx, nil) == nil {
				r.expired, r.news = true, true
			}
		})
		t.update(r.Call, func(p *contract.Part) { p.Status = contract.PartWaiting })
	}
	t.holdLock(r)
	t.update(r.ID, func(p *contract.Part) {
		p.Status, p.Title, p.Reconciliation = contract.PartWaiting, "Was "+r.Tool+" applied?", r.shown()
	})
	t.show()
}

// resolve ends a reconciliation with what was found.
func (t *thread) resolve(r *reconciliation, found activities.ReconcileResult) {
	r.found, r.news = &found, true
	if r.stopTimer != nil {
		r.stopTimer()
	}
	t.doubts = slices.DeleteFunc(slices.Clone(t.doubts), func(other *reconciliation) bool { return other == r })
	t.noteFound(r.Call, found)
	if found.Found != catalog.FoundNotApplied || r.of == nil { // else the call is made again
		t.freeLock(r)
	}
	past := Answered{Reconciliation: r.ID, Finding: findingOf(found.Found)}
	if r.answer != nil {
		past.Digest = answerDigest(*r.answer)
	}
	t.answered = append(t.answered, past)
	if len(t.answered) > answeredKept {
		t.answered = t.answered[len(t.answered)-answeredKept:]
	}
	status, title := contract.PartDone, "Applied: "
	switch found.Found {
	case catalog.FoundNotApplied:
		title = "Not applied: "
	case catalog.FoundNothing:
		status, title = contract.PartCancelled, "Abandoned: was it applied? "
	}
	t.finish(r.ID, status, func(p *contract.Part) {
		p.Title, p.Reconciliation = title+r.Tool, r.shown()
		if r.answer != nil {
			told := *r.answer
			told.Result = nil // the call has it
			p.Finding = &told
		}
	})
	t.show()
}

func findingOf(found catalog.Found) contract.Finding {
	switch found {
	case catalog.FoundApplied:
		return contract.FindingApplied
	case catalog.FoundNotApplied:
		return contract.FindingNotApplied
	}
	return contract.FindingAbandoned
}

// settleReconciled gives the calls that wait for a reconciliation their end, once it
// has come to one; a call that was not applied may be made again.
func (t *thread) settleReconciled(effects []*call) {
	for _, c := range effects {
		r := c.reconciliation
		if c.settled() || r == nil {
			continue
		}
		r.news = false
		switch {
		case !r.over():
		case r.found != nil && r.found.Found == catalog.FoundApplied:
			result := r.found.Result
			result.ID = c.planned.ID
			c.reconciliation = nil
			t.settle(c, result)
		case r.found != nil && r.found.Found == catalog.FoundNotApplied:
			c.reconciliation = nil
			c.place.taken, r.locked = r.locked, false
			t.update(r.Call, func(p *contract.Part) { p.Status = contract.PartRunning })
		default:
			t.leave(c)
		}
	}
}

// leaveInDoubt ends the calls that wait for a reconciliation as unknown.
func (t *thread) leaveInDoubt(effects []*call) {
	for _, c := range effects {
		if !c.settled() && c.reconciliation != nil {
			t.leave(c)
		}
	}
}

// leave ends a call as unknown. Its reconciliation stays open, unless it was
// abandoned.
func (t *thread) leave(c *call) {
	r := c.reconciliation
	r.of, r.Left = nil, true
	if r.stopTimer != nil {
		r.stopTimer()
	}
	t.settle(c, r.unknown)
	if r.found != nil {
		t.freeLock(r)
	} else {
		t.update(r.ID, func(p *contract.Part) { p.Reconciliation = r.shown() })
	}
}

// mayBegin reports whether a call may be made now. One that another write of unknown
// outcome stands in the way of waits while that one's tool finds out.
func (t *thread) mayBegin(c *call) bool { return c.ready() && t.inTheWay(c) == nil }

// inTheWay is the reconciliation because of which a call is not made now.
func (t *thread) inTheWay(c *call) *reconciliation {
	if len(t.doubts) == 0 || c.planned.Plan.Operation != catalog.Write {
		return nil
	}
	if i := slices.IndexFunc(t.doubts, func(r *reconciliation) bool { return r.blocks(c) }); i >= 0 {
		return t.doubts[i]
	}
	if len(t.doubts) >= contract.MaxReconciliations {
		return t.doubts[0]
	}
	return nil
}

// blocks reports whether a call would do once more, or upon an unknown state, what
// may have been done.
func (r *reconciliation) blocks(c *call) bool {
	plan := c.planned.Plan
	return r.Call != c.planned.ID &&
		(r.Resource != "" && r.Resource == plan.ResourceKey || r.Tool == c.planned.Tool && r.InputDigest == plan.InputDigest)
}

// refuseBlocked ends the calls that a reconciliation stands in the way of which only
// a person can end.
func (t *thread) refuseBlocked(effects []*call) {
	for _, c := range effects {
		if t.blocked(c) {
			r := t.inTheWay(c)
			t.withdraw([]*call{c})
			t.settle(c, refusedCall(c, contract.CodeReconciliationOpen, fmt.Sprintf(
				"the call was not made: %s of call %s may or may not have been applied, and %s waits for a person to find out (reconciliation %s)",
				r.Tool, r.Call, r.about(), r.ID)))
		}
	}
}

// blocked reports whether a call is refused because of a reconciliation.
func (t *thread) blocked(c *call) bool {
	if c.settled() || c.reconciliation != nil || c.attempts > 0 {
		return false
	}
	r := t.inTheWay(c)
	return r != nil && r.asked()
}

// about names what is blocked.
func (r *reconciliation) about() string {
	if r.Resource == "" {
		return "the same call"
	}
	return "its resource " + r.Resource
}

// answer takes what a person found out.
func (t *thread) answerReconciliation(in contract.Reconcile) error {
	r, err := t.checkAnswer(in)
	if err != nil || r == nil {
		return err
	}
	r.answer, r.news = &in, true
	return nil
}

// checkAnswer says why an answer cannot be taken; no reconciliation and no error:
// it was answered so before.
func (t *thread) checkAnswer(in contract.Reconcile) (*reconciliation, error) {
	if err := in.Validate(); err != nil {
		return nil, refuse(contract.ErrInvalid, "%v", err)
	}
	for _, r := range t.doubts {
		switch {
		case r.ID != in.Reconciliation:
		case !r.asked():
			return nil, refuse(contract.ErrInvalid, "reconciliation: %s: the tool itself is finding out; a person is not asked yet", r.ID)
		case r.answer == nil:
			return r, nil
		default:
			return nil, answeredAlike(in, Answered{Reconciliation: r.ID, Finding: r.answer.Finding, Digest: answerDigest(*r.answer)})
		}
	}
	for _, past := range t.answered {
		if past.Reconciliation == in.Reconciliation {
			return nil, answeredAlike(in, past)
		}
	}
	return nil, refuse(contract.ErrUnknownReconciliation, "reconciliation: the thread has no reconciliation %q", in.Reconciliation)
}

func answeredAlike(in contract.Reconcile, past Answered) error {
	if past.Digest == answerDigest(in) {
		return nil
	}
	return refuse(contract.ErrAlreadyDecided, "reconciliation: %s is over: %s", past.Reconciliation, past.Finding)
}

// answerDigest tells two answers apart, whoever gave them.
func answerDigest(in contract.Reconcile) string {
	sum := sha256.Sum256([]byte(string(in.Finding) + "\n" + string(in.Result)))
	return hex.EncodeToString(sum[:8])
}

// unsettled reports whether a run must not end yet: a tool is being asked, or the
// result that a person gave, or what they decided, is not written down.
func (t *thread) unsettled() bool {
	return t.noting > 0 || slices.ContainsFunc(t.doubts, func(r *reconciliation) bool {
		return !r.asked() || r.answer != nil && r.answer.Finding == contract.FindingApplied
	})
}

// asks counts the reconciliations that a person is asked about: all, and those that
// a call waits for.
func (t *thread) asks() (all, waited int) {
	for _, r := range t.doubts {
		if r.asked() && r.answer == nil {
			all++
			if r.of != nil {
				waited++
			}
		}
	}
	return all, waited
}

// dropDoubts ends the reconciliations of a thread that is closed.
func (t *thread) dropDoubts() {
	for _, r := range t.doubts {
		t.freeLock(r)
		t.finish(r.ID, contract.PartCancelled, func(p *contract.Part) {
			p.Title, p.Text = "Unanswered: was "+r.Tool+" applied?", "the thread was closed"
		})
	}
	t.doubts = nil
}

// CarriedReconciliation is an open reconciliation that goes on in the next run.
type CarriedReconciliation struct {
	contract.Reconciliation
	Ref    activities.CallRef  `json:"ref"`
	Answer *contract.Reconcile `json:"answer,omitempty"`
	Locked bool                `json:"locked,omitempty"`
}

// carryDoubts makes the reconciliations that go on.
func (t *thread) carryDoubts() []CarriedReconciliation {
	var carried []CarriedReconciliation
	for _, r := range t.doubts {
		c := CarriedReconciliation{Reconciliation: shortReconciliation(r.Reconciliation), Ref: r.ref, Locked: r.locked}
		if r.answer != nil {
			answer := *r.answer
			answer.Comment = cutEncoded(answer.Comment, activities.MaxCarriedText)
			c.Answer = &answer
		}
		carried = append(carried, c)
	}
	return carried
}

func shortReconciliation(r contract.Reconciliation) contract.Reconciliation {
	r.Reason = cutEncoded(r.Reason, activities.MaxCarriedText)
	return r
}

// resumeDoubts goes on with the reconciliations of the run before.
func (t *thread) resumeDoubts(carried []CarriedReconciliation) {
	for _, c := range carried {
		r := &reconciliation{Reconciliation: c.Reconciliation, ref: c.Ref, answer: c.Answer, locked: c.Locked}
		t.doubts = append(t.doubts, r)
		for _, p := range t.parts {
			if p.ID == r.ID {
				p.Reconciliation = r.shown()
			}
		}
		t.follow(r, 0)
	}
}
