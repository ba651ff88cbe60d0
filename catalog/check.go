package catalog

import (
	"context"
	"encoding/json"
	"fmt"
)

// call is a request that passed every check: what Plan describes and Dispatch
// carries out.
type call struct {
	tool  *Tool
	made  *made
	scope Scope
	key   string
	// input is what is shown, digested and called with.
	input json.RawMessage
	// resource names what the call works on.
	resource string
	// connection names, of a tool that is a tenant's own, whose listing it is from.
	connection string
	limits     callLimits
	secrets    CallSecrets
	consent    Consent
	// askConsent is the broker's.
	askConsent AskConsent
	// declaredUndo is how the write is undone where the tool itself does not say.
	declaredUndo UndoFunc
	// canAsk, answer and progress are those of the request.
	canAsk   bool
	answer   *Answer
	progress func(Progress)
	ruling   Ruling
	// here has the tool run on the caller's goroutine.
	here bool
}

// check is the way of every request, at Plan and at Dispatch alike: resolve it
// within the scope, see whether the mode admits the tool, read the tool's schemas,
// accept the input, ask the policy, see who must agree. It ends at the first step
// that refuses, and calls nothing.
func (b *Broker) check(ctx context.Context, scope Scope, req Request) (*call, *Error) {
	tool, owner, err := b.lookup(ctx, scope, req.Tool)
	if err != nil {
		return nil, err.before(req.Tool)
	}
	mode, err := b.modes.Of(scope.Mode)
	if err == nil {
		err = mode.Admits(tool.Descriptor)
	}
	if err != nil {
		return nil, err.before(req.Tool)
	}
	if err := tool.compiled(&b.schemas); err != nil {
		return nil, err.before(req.Tool)
	}
	c := b.newCall(tool, owner, scope)
	c.askConsent, c.canAsk, c.answer, c.progress = b.askConsent, req.CanAsk, req.Answer, req.Progress
	if err := c.accept(req); err != nil {
		return nil, err.before(req.Tool)
	}
	if err := c.nameResource(); err != nil {
		return nil, err.before(req.Tool)
	}
	if err := b.govern(c, mode); err != nil {
		return nil, err.before(req.Tool)
	}
	return c, nil
}

// newCall begins a call of a tool that is one of a source's, whatever is to be said of
// it.
func (b *Broker) newCall(tool *made, owner *source, scope Scope) *call {
	return &call{
		tool: &tool.Tool, made: tool, scope: scope, connection: owner.connection(scope), limits: b.gates.limits.of(scope.Tenant),
		declaredUndo: b.undos[tool.ID], secrets: CallSecrets{from: b.secrets, scope: scope, declared: tool.Secrets},
	}
}

// inputDigest is what an approval binds to, beside the digest of the tool.
func (c *call) inputDigest() string { return digest(c.input) }

func invalidTool(format string, args ...any) *Error {
	return &Error{
		Code:    CodeInvalidTool,
		Message: "the tool cannot be used: " + plain(fmt.Sprintf(format, args...), maxMessage),
		Hint:    "its source must put this right",
	}
}
