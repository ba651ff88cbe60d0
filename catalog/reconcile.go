package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	if c.tool.Reconcile == nil {
		return Reconciled{Found: FoundNothing, Reason: "the tool has no way of finding out"}, nil
	}
	found, err := c.reconcile(ctx)
	if err != nil {
		return Reconciled{}, b.redact(scope, Outcome{Error: err}).Error
	}
	return found, nil
}

// sent finds the call that a request was sent as. Neither mode nor policy have a
// say: the call was made, and what became of it is no question of what may be done
// now.
func (b *Broker) sent(ctx context.Context, scope Scope, req Request, plan Plan) (*call, *Error) {
	tool, err := b.lookup(ctx, scope, req.Tool)
	if err != nil {
		return nil, err.before(req.Tool)
	}
	c := &call{tool: tool, scope: scope, secrets: CallSecrets{from: b.secrets, scope: scope, declared: tool.Secrets}}
	schema, err := b.readSchemas(c)
	if err == nil {
		err = c.accept(req, schema)
	}
	if err == nil && c.inputDigest != plan.InputDigest {
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

// reconcile calls the tool's own function, guarded like every other call.
func (c *call) reconcile(ctx context.Context) (Reconciled, *Error) {
	ask := *c
	ask.tool.Operation = Read
	ask.tool.Call = func(ctx context.Context, call Call) (json.RawMessage, error) {
		found, err := c.tool.Reconcile(ctx, call)
		if err != nil {
			return nil, err
		}
		if len(found.Result) > 0 && !json.Valid(found.Result) {
			return nil, errors.New("the result that was found is no JSON")
		}
		return json.Marshal(found)
	}
	limit := c.tool.timeout()
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	a := ask.invoke(inner)
	if a.failed || a.crashed || a.lost {
		return Reconciled{}, ask.failure(ctx, inner, limit, a)
	}
	var found Reconciled
	if err := json.Unmarshal(a.output, &found); err != nil {
		return Reconciled{}, &Error{Code: CodeInvalidOutput, Message: "what was found cannot be read: " + err.Error(), Tool: c.tool.ID}
	}
	found.Reason = plain(c.secrets.text(found.Reason), maxMessage)
	switch found.Found {
	case FoundApplied:
		outcome := c.result(found.Result)
		if outcome.Error != nil {
			return Reconciled{}, outcome.Error
		}
		return Reconciled{Found: FoundApplied, Result: outcome.Result, Warning: outcome.Warning}, nil
	case FoundNotApplied:
		return Reconciled{Found: FoundNotApplied, Reason: found.Reason}, nil
	}
	if found.Reason == "" {
		found.Reason = "the tool could not tell"
	}
	return Reconciled{Found: FoundNothing, Reason: found.Reason}, nil
}
