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
	// output is the schema of the output, nil for anything.
	output *compiledSchema
	// descriptorDigest and inputDigest are what an approval binds to.
	descriptorDigest string
	inputDigest      string
	// resource names what the call works on.
	resource string
	// connection names, of a tool that is a tenant's own, whose listing it is from.
	connection string
	limits     callLimits
	secrets    CallSecrets
	consent    Consent
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
	c := &call{tool: tool, scope: scope, connection: owner.connection(scope), limits: b.gates.limits.of(scope.Tenant), secrets: CallSecrets{from: b.secrets, scope: scope, declared: tool.Secrets}}
	input, err := b.readSchemas(c)
	if err != nil {
		return nil, err.before(req.Tool)
	}
	if err := c.accept(req, input); err != nil {
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

// readSchemas finds the compiled schemas of the tool, and from them its digest.
func (b *Broker) readSchemas(c *call) (*compiledSchema, *Error) {
	input, err := b.schemas.get(c.tool.Input)
	if err != nil {
		return nil, invalidTool("the input schema %s", err)
	}
	outputDigest := ""
	if len(c.tool.Output) > 0 {
		if c.output, err = b.schemas.get(c.tool.Output); err != nil {
			return nil, invalidTool("the output schema %s", err)
		}
		outputDigest = c.output.digest
	}
	c.descriptorDigest = descriptorDigest(c.tool.Descriptor, input.digest, outputDigest)
	return input, nil
}

func invalidTool(format string, args ...any) *Error {
	return &Error{
		Code:    CodeInvalidTool,
		Message: "the tool cannot be used: " + plain(fmt.Sprintf(format, args...), maxMessage),
		Hint:    "its source must put this right",
	}
}
