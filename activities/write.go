package activities

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

const (
	// sendGrace is how long after its deadline a call may still be under way:
	// its context has ended, and nothing more is sent.
	sendGrace = 2 * time.Second
	// ledgerTimeout bounds one question to the ledger.
	ledgerTimeout = 10 * time.Second
)

// Write carries out one write. It is scheduled with a single attempt, and sends
// nothing before two things are durable: the claim of its key, and its intent.
// Should it not come back, the workflow knows from the intent whether the write
// can have left.
//
// A result that is not known has the code [contract.CodeOutcomeUnknown].
func (a *Activities) Write(ctx context.Context, in WriteInput) (CallResult, error) {
	agent, ok := a.Agents[in.Thread.Agent]
	if !ok {
		return CallResult{}, unknownAgent(in.Thread.Agent)
	}
	w := &write{ledger: a.Ledger, in: in, key: IdempotencyKey(in.Root, in.Call)}
	w.standing = standing{locks: a.Locks, resource: in.Resource, placed: in.Waited, owner: contract.LockOwner{
		Key: w.key, ThreadRef: in.Thread.ThreadRef, Call: in.Call.ID, Tool: in.Call.Tool,
	}}
	defer w.keepAlive(ctx)()

	calls, err := a.Threads.Calls(ctx, runOf(ctx), []string{in.Call.ID})
	if err != nil {
		return CallResult{}, unavailable(ErrTypeThread, "read the call", err)
	}
	answer, err := a.answer(ctx, in.Answer)
	if err != nil {
		return CallResult{}, err
	}
	started := time.Now()
	done := a.dispatch(ctx, agent.scope(in.Thread), in.Call, calls[0], catalog.Request{
		IdempotencyKey: w.key, Before: w.begin, Answer: answer, Progress: w.progress.follow(in.Call.ID),
	})
	switch {
	case w.fault != nil:
		return CallResult{}, w.fault
	case w.notNow(in.Call.ID) != nil:
		return *w.notNow(in.Call.ID), nil
	case w.found != nil:
		return w.unlocked(ctx, w.ofAnother(), catalog.EffectUnknown), nil
	case WriteAttempts > 1 && done.effect == catalog.EffectUnknown:
		return CallResult{}, done.Problem
	}
	done.DurationMS = time.Since(started).Milliseconds()
	done.NotSent = done.Problem != nil && done.retryable && (!w.sent || done.effect == catalog.EffectNone)
	result, err := a.inlineResult(ctx, done.CallResult, contract.MaxInline)
	if err != nil {
		// The write has happened: losing its result is better than losing that.
		activity.GetLogger(ctx).Error("cannot store the result of a write; it is cut", "call", in.Call.ID, "error", err)
		result = cut(done.CallResult)
	}
	if result.Problem != nil && done.effect == catalog.EffectApplied {
		result.Undo = &catalog.Undo{Reason: "its result was of no use"}
	}
	w.end(ctx, result, done.effect)
	return w.unlocked(ctx, result, done.effect), nil
}

// write is a write that is being carried out.
type write struct {
	ledger Ledger
	in     WriteInput
	key    string

	progress progressOfCalls

	// beats keeps the intent from being overtaken by an older heartbeat.
	beats  sync.Mutex
	intent *Intent

	// claim is the name of the claim, once it is made.
	claim string
	standing
	// found is the claim of another attempt.
	found *Claimed
	// fault is why the claim or the intent could not be made durable.
	fault error
	// sent says that the tool is, or was, called.
	sent bool
}

var (
	errNotMine = errors.New("another attempt has claimed the write")
	errNotNow  = errors.New("another write has the resource")
	errLate    = errors.New("it took too long to get ready to send")
)

// begin gets the lock of the resource, if the write works on one, and makes the
// claim and the intent durable. After an error nothing is sent.
func (w *write) begin(ctx context.Context) error {
	if WriteAttempts > 1 {
		return nil
	}
	if w.resource != "" {
		if err := w.acquire(ctx); err != nil {
			w.fault = unavailable(ErrTypeNotSent, "get the lock of "+w.resource, err)
			return err
		}
		if w.notNow(w.in.Call.ID) != nil {
			return errNotNow
		}
	}
	until, ok := ctx.Deadline()
	if !ok {
		until = time.Now().Add(catalog.MaxTimeout)
	}
	until = until.Add(sendGrace)
	claimed, err := w.ledger.Claim(ctx, w.key, Claim{
		Thread: w.in.Thread.String(), Call: w.in.Call.ID, Tool: w.in.Call.Tool,
		Run: runOf(ctx).RunID, Attempt: max(w.in.Attempt, 1), Until: until,
	})
	switch {
	case err != nil:
		w.fault = unavailable(ErrTypeNotSent, "claim the write", err)
		return err
	case !claimed.Own && !(w.in.Again && claimed.Result == nil):
		w.found = &claimed
		return errNotMine
	}
	w.claim = claimed.ID
	if err := w.tell(ctx, &Intent{Key: w.key, Until: until}); err != nil {
		w.fault = unavailable(ErrTypeNotSent, "record the intent to write", err)
		w.takeBack(ctx, "the intent could not be recorded")
		return err
	}
	// A worker that was paused until now must not send: others may know by then that
	// nothing was applied, or have the lock.
	if w.late() || !time.Now().Before(until.Add(-sendGrace)) {
		w.fault = unavailable(ErrTypeNotSent, "get ready to send", errLate)
		w.takeBack(ctx, errLate.Error())
		return errLate
	}
	w.sent = true
	return nil
}

// unlocked gives up the lock, unless the thread has yet to find out how the write
// ended or makes another attempt.
func (w *write) unlocked(ctx context.Context, result CallResult, effect catalog.Effect) CallResult {
	asks := result.Asks != nil && !w.in.Again // an answer can take days
	unsettled := result.Problem != nil && !asks && (effect == catalog.EffectUnknown || result.NotSent || w.in.Again)
	if !unsettled {
		if err := w.release(ctx); err != nil {
			activity.GetLogger(ctx).Warn("cannot release the lock of a write's resource", "call", w.in.Call.ID, "error", err)
		}
	}
	result.Held = w.placed
	return result
}

// tell records the intent, or that the activity is alive.
func (w *write) tell(ctx context.Context, intent *Intent) error {
	w.beats.Lock()
	defer w.beats.Unlock()
	if intent != nil {
		w.intent = intent
	}
	ctx, cancel := context.WithTimeout(ctx, ledgerTimeout)
	defer cancel()
	if w.intent == nil {
		return w.ledger.Beat(ctx, nil)
	}
	told := *w.intent
	told.Beat = w.progress.beat()
	return w.ledger.Beat(ctx, &told)
}

// keepAlive tells the server that the activity is alive until the returned
// function is called. That the server no longer listens is of no interest here:
// what was sent is let to its end, and nothing is sent without an intent.
func (w *write) keepAlive(ctx context.Context) (stop func()) {
	return eachBeat(ctx, func() { _ = w.tell(ctx, nil) })
}

// ofAnother is the result where another attempt has claimed the write: the one
// that it recorded, or that it is not known.
func (w *write) ofAnother() CallResult {
	if w.found.Result == nil {
		return CallResult{ID: w.in.Call.ID, Problem: problem(unknownOutcome(&catalog.Error{
			Code: catalog.CodeNotMade, Tool: w.in.Call.Tool, Effect: catalog.EffectUnknown,
			Message: "an earlier attempt of the call was begun and has recorded no outcome",
		}))}
	}
	result := *w.found.Result
	result.ID = w.in.Call.ID
	return result
}

// end closes the claim with what came of the write. One whose outcome is not
// known keeps it, and so does one that may have been sent before: that this attempt
// failed says nothing of the one before it.
func (w *write) end(ctx context.Context, result CallResult, effect catalog.Effect) {
	switch {
	case w.claim == "" || effect == catalog.EffectUnknown || w.in.Again && result.Problem != nil:
	case result.Problem != nil && effect != catalog.EffectApplied:
		w.takeBack(ctx, "nothing was applied")
	default:
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ledgerTimeout)
		defer cancel()
		if err := w.ledger.Record(ctx, w.key, w.claim, result); err != nil {
			activity.GetLogger(ctx).Warn("cannot record the outcome of a write in its claim", "call", w.in.Call.ID, "error", err)
		}
	}
}

// takeBack takes the claim back.
func (w *write) takeBack(ctx context.Context, reason string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ledgerTimeout)
	defer cancel()
	if err := w.ledger.Release(ctx, w.key, w.claim, reason); err != nil {
		activity.GetLogger(ctx).Warn("cannot release the claim of a write", "call", w.in.Call.ID, "error", err)
	}
}

// keys is the namespace of the idempotency keys (UUIDv5, RFC 9562 section 5.5).
var keys = uuid.MustParse("7c1d8a52-4f0e-4b8e-9a55-0d3c2f6e9b11")

// IdempotencyKey is the key of a write: the same for every attempt of the same
// call, and another for every other call, equal input or not. Root is the run id
// with which the thread began: continue-as-new and workflow reset keep it.
func IdempotencyKey(root string, call CallRef) string {
	return uuid.NewSHA1(keys, []byte(root+"\n"+call.ID+"\n"+call.InputDigest)).String()
}
