package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
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
	needsApproval    bool
	reason           string
}

// check is the way of every request, at Plan and at Dispatch alike: resolve it
// within the scope, read the tool's schemas, accept the input, see who must
// agree. It ends at the first step that refuses, and calls nothing.
func (b *Broker) check(ctx context.Context, scope Scope, req Request) (*call, *Error) {
	tool, err := b.lookup(ctx, scope, req.Tool)
	if err != nil {
		return nil, err.before(req.Tool)
	}
	c := &call{tool: tool, scope: scope}
	input, err := b.readSchemas(c)
	if err != nil {
		return nil, err.before(req.Tool)
	}
	if err := c.accept(req, input); err != nil {
		return nil, err.before(req.Tool)
	}
	c.needsApproval, c.reason = approval(c.tool.Descriptor)
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

// checkTool says why a tool that a source lists cannot be used. Its schemas are
// looked at on first use.
func checkTool(t Tool) error {
	if err := CheckID(t.ID); err != nil {
		return err
	}
	switch {
	case t.Operation != Read && t.Operation != Write:
		return fmt.Errorf("tool %s: operation is %s, want %q or %q", t.ID, quote(string(t.Operation)), Read, Write)
	case t.Approval != ApprovalDefault && t.Approval != ApprovalAlways && t.Approval != ApprovalNever:
		return fmt.Errorf("tool %s: approval is %s, want %q, %q or nothing", t.ID, quote(string(t.Approval)), ApprovalAlways, ApprovalNever)
	case t.Timeout < 0:
		return fmt.Errorf("tool %s: timeout is %s, want 0 or more", t.ID, t.Timeout)
	case !utf8.ValidString(t.Title) || !utf8.ValidString(t.Description):
		return fmt.Errorf("tool %s: its title or description is not valid UTF-8", t.ID)
	case len(t.Input) == 0 && t.Schemas == nil:
		return fmt.Errorf("tool %s: has no input schema", t.ID)
	case t.Call == nil:
		return fmt.Errorf("tool %s: has no function to call", t.ID)
	case t.Approvers < 0 || t.Approvers > MaxApprovers:
		return fmt.Errorf("tool %s: approvers are %d, want 0 to %d", t.ID, t.Approvers, MaxApprovers)
	}
	if err := errors.Join(checkLabels("capability", t.Capabilities), checkLabels("tag", t.Tags)); err != nil {
		return fmt.Errorf("tool %s: %w", t.ID, err)
	}
	return nil
}

// approval says whether a person must agree to a call of the tool, and why.
func approval(d Descriptor) (needed bool, reason string) {
	switch {
	case d.Approval == ApprovalAlways:
		return true, "the tool asks for approval of each call"
	case d.Approval == ApprovalDefault && d.Operation == Write:
		return true, "it is a write"
	}
	return false, ""
}
