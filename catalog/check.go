package catalog

import (
	"context"
	"encoding/json"
	"fmt"
)

// call is a request that passed every check: what Plan describes and Dispatch
// carries out.
type call struct {
	tool  Tool
	scope Scope
	key   string
	// input is what is shown, digested and called with.
	input json.RawMessage
	// accepts is the schema of the input, output that of the output, nil for anything.
	accepts, output *compiledSchema
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
	c := &call{
		tool: tool, scope: scope, connection: owner.connection(scope), limits: b.gates.limits.of(scope.Tenant),
		declaredUndo: b.undos[tool.ID], askConsent: b.askConsent, canAsk: req.CanAsk, answer: req.Answer, progress: req.Progress,
		secrets: CallSecrets{from: b.secrets, scope: scope, declared: tool.Secrets},
	}
	if err := b.readSchemas(c); err != nil {
		return nil, err.before(req.Tool)
	}
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

// readSchemas finds the compiled schemas of the tool.
func (b *Broker) readSchemas(c *call) *Error {
	var err error
	if c.accepts, err = b.schemas.get(c.tool.Input); err != nil {
		return invalidTool("the input schema %s", err)
	}
	if len(c.tool.Output) > 0 {
		if c.output, err = b.schemas.get(c.tool.Output); err != nil {
			return invalidTool("the output schema %s", err)
		}
	}
	return nil
}

// descriptorDigest and inputDigest are what an approval binds to.
func (c *call) descriptorDigest() string {
	output := ""
	if c.output != nil {
		output = c.output.digest
	}
	return descriptorDigest(c.tool.Descriptor, c.accepts.digest, output)
}

func (c *call) inputDigest() string { return digest(c.input) }

func invalidTool(format string, args ...any) *Error {
	return &Error{
		Code:    CodeInvalidTool,
		Message: "the tool cannot be used: " + plain(fmt.Sprintf(format, args...), maxMessage),
		Hint:    "its source must put this right",
	}
}
