package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Found says whether a write was applied.
type Found string

// What can be found out of a write. The zero value tells nothing.
const (
	// FoundApplied: the target has applied it.
	FoundApplied Found = "applied"
	// FoundNotApplied: the target has not applied it.
	FoundNotApplied Found = "not_applied"
	// FoundNothing: it cannot be told, and asking again tells no more.
	FoundNothing Found = "nothing"
)

// Reconciled is what was found out about a write whose outcome is not known.
type Reconciled struct {
	Found Found `json:"found"`
	// Result is the output of the write, of one that was applied.
	Result json.RawMessage `json:"result,omitempty"`
	// Warning says how the result does not fit what the tool promises.
	Warning string `json:"warning,omitempty"`
	// Undo says how a write that was applied is undone. The broker asks the tool.
	Undo *Undo `json:"undo,omitempty"`
	// Reason says, for people, why nothing was found out.
	Reason string `json:"reason,omitempty"`
}

// Applied is what was found of a write that was applied: its result is what
// encoding/json makes of a value. Of one that it cannot write, nothing was found.
func Applied(result any) Reconciled {
	text, err := json.Marshal(result)
	if err != nil {
		return Reconciled{Found: FoundNothing, Reason: "the write was applied, and its result cannot be written: " + err.Error()}
	}
	return Reconciled{Found: FoundApplied, Result: text}
}

// Reconcile asks what became of a write that was dispatched, and may or may not have
// been applied. It only reads. The request is the one that was dispatched, with its
// idempotency key.
//
// An error says that the question could not be asked or answered now: it may be
// asked again.
func (b *Broker) Reconcile(ctx context.Context, scope Scope, req Request, plan Plan) (Reconciled, error) {
	c, err := b.sent(ctx, scope, req, plan)
	if err != nil {
		return Reconciled{}, b.redact(scope, Outcome{Error: err}).Error
	}
	var found Reconciled
	switch declared := b.lookups[c.tool.ID]; {
	case c.tool.Reconcile != nil:
		found, err = b.askTool(ctx, c)
	case declared != nil:
		found, err = b.lookUp(ctx, c, declared, req.IdempotencyKey)
	default:
		return Reconciled{Found: FoundNothing, Reason: "the tool has no way of finding out"}, nil
	}
	if err != nil {
		return Reconciled{}, b.redact(scope, Outcome{Error: err}).Error
	}
	return found, nil
}

// Lookup is a declared way of finding out what became of the calls of a write: by a
// tool that reads. The package lookup has one.
type Lookup interface {
	// Tool is the id of the tool that reads.
	Tool() string
	// Input is what that is called with, for a call with a key and an input.
	Input(key string, input json.RawMessage) (json.RawMessage, error)
	// Judge says what the read's outcome tells of the call. An error says that it
	// tells nothing yet.
	Judge(key string, input json.RawMessage, outcome Outcome) (Reconciled, error)
}

// LookUp sets the lookups, by the id of the tool that writes. A tool that has a
// function of its own uses that. It is called before the broker is used.
func (b *Broker) LookUp(lookups map[string]Lookup) { b.lookups = lookups }

// lookUp asks a tool that reads, on the call's behalf. It goes the way of every call,
// but for two things: the agent need not be allowed the tool, and no mode binds it,
// since it is the application that asks.
func (b *Broker) lookUp(ctx context.Context, c *call, l Lookup, key string) (Reconciled, *Error) {
	input, err := l.Input(key, c.input)
	if err != nil {
		return Reconciled{Found: FoundNothing, Reason: "it cannot be looked up: " + plain(err.Error(), maxMessage)}, nil
	}
	began, req := time.Now(), Request{Tool: l.Tool(), Input: input}
	scope := c.scope
	scope.Tools, scope.Mode = []string{l.Tool()}, ""
	read, refused := b.check(ctx, scope, req)
	if refused != nil {
		b.noteCall(scope, req, Plan{}, nil, Outcome{Error: refused}, began)
	}
	switch {
	case refused != nil && refused.Retryable:
		return Reconciled{}, refused
	case refused != nil:
		return Reconciled{Found: FoundNothing, Reason: "it cannot be looked up: " + refused.Error()}, nil
	case read.tool.Operation != Read || read.consent.NeedsApproval:
		return Reconciled{Found: FoundNothing, Reason: fmt.Sprintf("it cannot be looked up: %s is no read that needs no approval", l.Tool())}, nil
	}
	if err := b.know(ctx, read); err != nil {
		return Reconciled{}, err
	}
	leave, _, refused := b.gates.enter(ctx, read)
	if refused != nil {
		return Reconciled{}, refused
	}
	defer leave()
	var outcome Outcome
	read.run(ctx, 0, nil, func(o Outcome, _ bool) { outcome = b.redact(scope, o) })
	b.noteCall(scope, req, Plan{}, read, outcome, began)
	found, err := l.Judge(key, c.input, outcome)
	if err != nil {
		return Reconciled{}, &Error{Code: CodeSourceUnavailable, Message: plain(err.Error(), maxMessage), Tool: l.Tool(), Retryable: true}
	}
	return c.judged(found)
}

// sent finds the call that a request was sent as. Neither mode nor policy have a
// say: the call was made, and what became of it is no question of what may be done
// now.
func (b *Broker) sent(ctx context.Context, scope Scope, req Request, plan Plan) (*call, *Error) {
	tool, owner, err := b.lookup(ctx, scope, req.Tool)
	if err != nil {
		return nil, err.before(req.Tool)
	}
	c := b.newCall(tool, owner, scope)
	err = tool.compiled(&b.schemas)
	if err == nil {
		err = c.accept(req)
	}
	if err == nil && c.inputDigest() != plan.InputDigest {
		err = &Error{Code: CodeInputChanged, Message: fmt.Sprintf("tool %s now reads the input otherwise than when the call was made", quote(tool.ID))}
	}
	if err != nil {
		return nil, err.before(req.Tool)
	}
	if err := b.know(ctx, c); err != nil {
		return nil, err
	}
	return c, nil
}

// askTool calls the tool's own function, within the limits of calls.
func (b *Broker) askTool(ctx context.Context, c *call) (Reconciled, *Error) {
	leave, _, err := b.gates.enter(ctx, c)
	if err != nil {
		return Reconciled{}, err
	}
	defer leave()
	return c.reconcile(ctx)
}

// reconcile calls the tool's own function, guarded like every other call.
func (c *call) reconcile(ctx context.Context) (Reconciled, *Error) {
	ask, tool := *c, *c.tool
	ask.tool = &tool
	tool.Operation = Read
	tool.Call = func(ctx context.Context, call Call) (json.RawMessage, error) {
		found, err := c.tool.Reconcile(ctx, call)
		if err != nil {
			return nil, err
		}
		if len(found.Result) > 0 && !json.Valid(found.Result) {
			return nil, errors.New("the result that was found is no JSON")
		}
		return json.Marshal(found)
	}
	limit := c.timeout()
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	a := ask.invokeApart(inner)
	if a.failed || a.crashed || a.lost {
		return Reconciled{}, ask.failure(ctx, inner, limit, a)
	}
	var found Reconciled
	if err := json.Unmarshal(a.output, &found); err != nil {
		return Reconciled{}, &Error{Code: CodeInvalidOutput, Message: "what was found cannot be read: " + err.Error(), Tool: c.tool.ID}
	}
	return c.judged(found)
}

// judged bounds what was found, and checks it like the result of a call.
func (c *call) judged(found Reconciled) (Reconciled, *Error) {
	found.Reason = plain(c.secrets.text(found.Reason), maxMessage)
	switch found.Found {
	case FoundApplied:
		outcome := c.result(found.Result)
		if outcome.Error != nil {
			return Reconciled{}, outcome.Error
		}
		return Reconciled{Found: FoundApplied, Result: outcome.Result, Warning: outcome.Warning, Undo: c.secrets.undo(c.undo(outcome.Result))}, nil
	case FoundNotApplied:
		return Reconciled{Found: FoundNotApplied, Reason: found.Reason}, nil
	}
	if found.Reason == "" {
		found.Reason = "the tool could not tell"
	}
	return Reconciled{Found: FoundNothing, Reason: found.Reason}, nil
}
