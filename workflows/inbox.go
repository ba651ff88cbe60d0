package workflows

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/signals/contract"
)

// seenKept is how many submissions a thread remembers, so that one that comes
// again begins no second turn.
const seenKept = 128

// queued is a submission that waits for its turn.
type queued struct {
	contract.Submission
	Turn string `json:"turn"`
	// Body refers to a text that the run before put aside; Text is its beginning.
	Body *contract.Ref `json:"body,omitempty"`
}

// Seen is a submission that the thread has taken.
type Seen struct {
	ID     string `json:"id"`
	Digest string `json:"digest"`
	Turn   string `json:"turn"`
}

// inbox holds what came in and has not been worked on.
type inbox struct {
	queue []queued
	seen  []Seen
	// refusals counts the signals that were refused.
	refusals int
	// drain takes the signals that wait, of which there are as many as arrived says.
	drain   func()
	arrived func() int
}

func (in *inbox) dequeue() queued {
	next := in.queue[0]
	in.queue = in.queue[1:]
	return next
}

// receive sets up everything by which the thread is spoken to.
func (t *thread) receive(ctx workflow.Context) error {
	if err := workflow.SetUpdateHandlerWithOptions(ctx, contract.UpdateSubmit,
		func(_ workflow.Context, s contract.Submission) (contract.Submitted, error) { return t.submit(s) },
		workflow.UpdateHandlerOptions{Validator: func(s contract.Submission) error {
			if err := t.stillHere(); err != nil {
				return err
			}
			_, err := t.known(s)
			return err
		}},
	); err != nil {
		return err
	}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, contract.UpdateDecide,
		func(ctx workflow.Context, d contract.Decision) (contract.Decided, error) {
			return t.takeDecision(ctx, d)
		},
		workflow.UpdateHandlerOptions{Validator: func(d contract.Decision) error {
			if err := t.stillHere(); err != nil {
				return err
			}
			_, err := t.check(d)
			return err
		}},
	); err != nil {
		return err
	}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, contract.UpdateAnswer,
		func(_ workflow.Context, a contract.Answer) (contract.Answered, error) { return t.takeAnswer(a) },
		workflow.UpdateHandlerOptions{Validator: func(a contract.Answer) error {
			if err := t.stillHere(); err != nil {
				return err
			}
			_, _, err := t.checkReply(a)
			return err
		}},
	); err != nil {
		return err
	}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, contract.UpdateSetMode,
		func(_ workflow.Context, m contract.SetMode) (contract.ModeSet, error) { return t.setMode(m), nil },
		workflow.UpdateHandlerOptions{Validator: func(m contract.SetMode) error {
			if err := t.stillHere(); err != nil {
				return err
			}
			return t.worker.checkMode(m)
		}},
	); err != nil {
		return err
	}
	t.receiveSignals(ctx)
	workflow.Go(ctx, func(ctx workflow.Context) {
		ctx.Done().Receive(ctx, nil)
		t.cancelled = true
		t.shut(contract.Close{Reason: "the workflow was cancelled"})
	})
	return nil
}

// receiveSignals takes signals as they come, and makes drain take what is left
// of them before the run ends. Nothing may block in a receive, on a channel or
// through a selector: a signal that wakes such a coroutine is no longer in its
// channel, where drain would find it, and would be lost with the run.
func (t *thread) receiveSignals(ctx workflow.Context) {
	submits := workflow.GetSignalChannel(ctx, contract.SignalSubmit)
	approvals := workflow.GetSignalChannel(ctx, contract.SignalApproval)
	answers := workflow.GetSignalChannel(ctx, contract.SignalAnswer)
	cancels := workflow.GetSignalChannel(ctx, contract.SignalCancelTurn)
	closes := workflow.GetSignalChannel(ctx, contract.SignalClose)
	findings := workflow.GetSignalChannel(ctx, contract.SignalReconcile)
	modes := workflow.GetSignalChannel(ctx, contract.SignalSetMode)
	revocations := workflow.GetSignalChannel(ctx, contract.SignalRevokeGrant)
	locks := workflow.GetSignalChannel(ctx, contract.SignalLock)

	t.drain = func() {
		each(t, modes, t.takeMode)
		each(t, revocations, t.revoke)
		each(t, submits, func(s contract.Submission) error {
			_, err := t.submit(s)
			return err
		})
		each(t, approvals, func(d contract.Decision) error {
			return t.takeSignalled(d)
		})
		each(t, findings, t.answerReconciliation)
		each(t, answers, func(a contract.Answer) error {
			_, err := t.takeAnswer(a)
			return err
		})
		each(t, cancels, t.cancelTurn)
		each(t, locks, t.takeLock)
		each(t, closes, func(c contract.Close) error {
			t.shut(c)
			return nil
		})
	}
	t.arrived = func() int {
		return submits.Len() + approvals.Len() + answers.Len() + cancels.Len() + closes.Len() + modes.Len() + revocations.Len() + findings.Len() + locks.Len()
	}
	workflow.Go(t.ctx, func(ctx workflow.Context) {
		for {
			err := workflow.Await(ctx, func() bool { return t.arrived() > 0 })
			if err != nil {
				return // t.ctx is never cancelled
			}
			t.drain()
		}
	})
}

// changeSignalsFirst is the change by which what came as a signal holds before anything
// else is begun.
const changeSignalsFirst = "signals-first"

// catchUp takes the signals that wait, before something is begun that they may have a
// say in: a mode, a grant that was taken back, the end of the turn. The SDK runs what
// an update or an activity has woken ahead of the coroutine that takes signals, also of
// signals that came before.
func (t *thread) catchUp() {
	if t.arrived() > 0 && workflow.GetVersion(t.ctx, changeSignalsFirst, workflow.DefaultVersion, 1) >= 1 {
		t.drain()
	}
}

// incoming is a signal's payload, or why it is none. The SDK would pass over a
// payload of the wrong form in silence, after it has decoded half of it into the
// variable that then takes the next.
type incoming[T any] struct {
	payload T
	fault   error
}

// UnmarshalJSON always succeeds.
func (in *incoming[T]) UnmarshalJSON(text []byte) error {
	var payload T
	if err := json.Unmarshal(text, &payload); err != nil {
		*in = incoming[T]{fault: err}
		return nil
	}
	*in = incoming[T]{payload: payload}
	return nil
}

// each hands the signals of a channel to take, and shows those that it refuses.
func each[T any](t *thread, channel workflow.ReceiveChannel, take func(T) error) {
	for {
		var in incoming[T]
		if !channel.ReceiveAsync(&in) {
			return
		}
		err := refuse(contract.ErrInvalid, "payload: %v", in.fault)
		if in.fault == nil {
			err = take(in.payload)
		}
		t.refused(channel.Name(), err)
	}
}

// stillHere refuses updates that this run can no longer serve.
func (t *thread) stillHere() error {
	switch {
	case t.closed || t.closing != nil:
		return refuse(contract.ErrThreadClosed, "thread %s is closed", t.start.ThreadRef)
	case t.info.WorkflowExecution.ID != t.start.WorkflowID():
		return refuse(contract.ErrInvalid, "the workflow's id is %q, want %q for this tenant and thread",
			t.info.WorkflowExecution.ID, t.start.WorkflowID())
	case t.admitting:
		return refuse(contract.ErrUnknownAgent,
			"agent: the worker has no agent %q; if another is about to have it, send it again", t.start.Agent)
	case t.rolling:
		return temporal.NewApplicationError("the thread is about to continue as new: send it again", contract.ErrRollingOver)
	}
	return nil
}

// known looks for an earlier submission of the same id, and refuses what cannot
// be taken.
func (t *thread) known(s contract.Submission) (*Seen, error) {
	if err := s.Validate(); err != nil {
		return nil, refuse(contract.ErrInvalid, "%v", err)
	}
	for i := range t.seen {
		if t.seen[i].ID != s.ID {
			continue
		}
		if t.seen[i].Digest != digest(s) {
			return nil, refuse(contract.ErrSubmissionConflict,
				"id: submission %s began turn %s with other content; use a new id for a new message", s.ID, t.seen[i].Turn)
		}
		return &t.seen[i], nil
	}
	if len(t.queue) >= contract.MaxQueue {
		return nil, refuse(contract.ErrQueueFull, "%d messages wait already; wait for a turn to end", len(t.queue))
	}
	return nil, nil
}

// submit queues a message for a turn of its own.
func (t *thread) submit(s contract.Submission) (contract.Submitted, error) {
	if t.closing != nil {
		return contract.Submitted{}, t.stillHere()
	}
	before, err := t.known(s)
	if err != nil {
		return contract.Submitted{}, err
	}
	if before != nil {
		return contract.Submitted{Turn: before.Turn, Duplicate: true}, nil
	}
	t.turns++
	turn := fmt.Sprintf("t%d", t.turns)
	t.queue = append(t.queue, queued{Submission: s, Turn: turn})
	t.seen = append(t.seen, Seen{ID: s.ID, Digest: digest(s), Turn: turn})
	if len(t.seen) > seenKept {
		t.seen = t.seen[len(t.seen)-seenKept:]
	}
	return contract.Submitted{Turn: turn}, nil
}

func digest(s contract.Submission) string {
	content := s.User + "\n" + s.Text
	if s.Run != "" {
		content += "\n" + string(s.Run)
	}
	if s.Script != "" {
		content += "\n" + s.Script
	}
	if s.Tool != "" {
		content += "\n" + s.Tool
	}
	if len(s.Policy) > 0 {
		rules, _ := json.Marshal(s.Policy) // of words and numbers
		content += "\n" + string(rules)
	}
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:16])
}

// takeDecision takes a decision, which for an edit takes a while.
func (t *thread) takeDecision(ctx workflow.Context, d contract.Decision) (contract.Decided, error) {
	duplicate, err := t.check(d)
	switch {
	case err != nil:
		return contract.Decided{}, err
	case duplicate:
		return contract.Decided{Approval: d.Approval, Verdict: d.Verdict, Duplicate: true}, nil
	case d.Verdict == contract.Edit:
		return t.edit(ctx, d)
	}
	return t.vote(t.approval(d.Approval), d), nil
}

// takeSignalled takes a decision that came as a signal. Other signals are taken
// while an edit is looked at; that it was refused shows as for any signal.
func (t *thread) takeSignalled(d contract.Decision) error {
	if d.Verdict != contract.Edit {
		_, err := t.takeDecision(t.ctx, d)
		return err
	}
	workflow.Go(t.ctx, func(ctx workflow.Context) {
		_, err := t.takeDecision(ctx, d)
		t.refused(contract.SignalApproval, err)
	})
	return nil
}

// cancelTurn ends the running turn, or takes a queued one from the queue.
func (t *thread) cancelTurn(c contract.CancelTurn) error {
	c.Reason = cut(c.Reason, contract.MaxReason)
	if i := slices.IndexFunc(t.queue, func(q queued) bool { return q.Turn == c.Turn }); i >= 0 {
		q := t.queue[i]
		t.queue = slices.Delete(t.queue, i, i+1)
		t.cancelQueued(q, c.Reason)
		return nil
	}
	if t.current == nil || (c.Turn != "" && c.Turn != t.current.ID) {
		return refuse(contract.ErrUnknownTurn, "turn: the thread has no turn %q that has not ended", c.Turn)
	}
	if t.current.cancelled == nil {
		t.current.cancelled = &c
		if t.current.cancel != nil {
			t.current.cancel()
		}
	}
	return nil
}

func (t *thread) cancelQueued(q queued, reason string) {
	now := workflow.Now(t.ctx)
	problem := &contract.Problem{Code: contract.CodeCancelled, Message: "the turn was cancelled before it began"}
	if reason != "" {
		problem.Message += ": " + reason
	}
	t.put(part(q.Turn, contract.KindMilestone, contract.PartCancelled, "Turn "+q.Turn+" cancelled").with(func(p *contract.Part) {
		p.Turn, p.Submission, p.Problem = q.Turn, q.ID, problem
	}))
	t.remember(contract.Turn{
		ID: q.Turn, Submission: q.ID, Status: contract.StatusCancelled, Problem: problem, EndedAt: &now,
	})
}

// shut makes the thread end: now if no turn runs, else when it has been cancelled.
func (t *thread) shut(c contract.Close) {
	if t.closing != nil {
		return
	}
	c.Reason = cut(c.Reason, contract.MaxReason)
	t.closing = &c
	if t.current != nil {
		_ = t.cancelTurn(contract.CancelTurn{Turn: t.current.ID, Reason: "the thread is being closed"})
	}
}

// refused shows a signal that could not be taken: its sender gets no answer.
func (t *thread) refused(signal string, err error) {
	if err == nil {
		return
	}
	t.refusals++
	code := contract.CodeInternal
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		code = app.Type()
	}
	t.put(part(fmt.Sprintf("refused-%d", t.refusals), contract.KindError, contract.PartFailed, "Signal "+signal+" refused").
		with(func(p *contract.Part) {
			p.Problem = &contract.Problem{Code: code, Message: cut(cause(err), contract.MaxPartText)}
		}))
}
