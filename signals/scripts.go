package signals

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/heddle-dev/heddle/signals/contract"
)

// ToolCall asks to call a tool.
type ToolCall struct {
	// ID makes the call idempotent, as the id of a submission does. Empty: one of its
	// own.
	ID string
	// Tool is the tool's id.
	Tool string
	// Input is what it takes, a JSON object. Empty: {}.
	Input json.RawMessage
	// User is on whose behalf, where that is not the thread's user.
	User string
	// Policy are rules for this call.
	Policy []contract.Rule
}

// CallTool calls a tool as a turn of the thread, opening it if need be: no model is
// asked, and the call goes the way of all calls, with the tools of the thread's agent,
// its mode, the policy and approvals. The turn's answer, which [Client.Wait] waits
// for, is the result as JSON, or {"error": {...}}. CallTool refuses what [Client.Send]
// refuses.
func (c *Client) CallTool(ctx context.Context, start contract.Start, call ToolCall) (contract.Submitted, error) {
	return c.Send(ctx, start, contract.Submission{
		ID: call.ID, Tool: call.Tool, Text: cmp.Or(string(call.Input), "{}"), User: call.User, Policy: call.Policy, Run: contract.RunCall,
	})
}

// ScriptRun asks to run a saved script.
type ScriptRun struct {
	// ID makes the run idempotent, as the id of a submission does. Empty: one of its
	// own.
	ID string
	// Script is its name in the worker's configuration.
	Script string
	// Input is what it takes, as JSON. Empty: {}.
	Input json.RawMessage
	// User is on whose behalf, where that is not the thread's user.
	User string
	// Dry makes the reads and only plans the writes.
	Dry bool
}

// RunScript runs a saved script as a turn of the thread, opening it if need be: no
// model is asked, and each call of the script is under the policy of the thread's
// agent, whose tools have to name the script (scripts.NAME). The turn's answer is
// the report of the run, as JSON, which [Client.Wait] waits for. A script that there
// is not, and an input that does not fit, are errors in that report. RunScript
// refuses what [Client.Send] refuses.
func (c *Client) RunScript(ctx context.Context, start contract.Start, run ScriptRun) (contract.Submitted, error) {
	submission := contract.Submission{
		ID: run.ID, Script: run.Script, Text: cmp.Or(string(run.Input), "{}"), User: run.User, Run: contract.RunSnippet,
	}
	if run.Dry {
		submission.Run = contract.RunDry
	}
	if run.Script == "" { // else it would be a snippet
		return contract.Submitted{}, invalid(errors.New("script: is empty"))
	}
	return c.Send(ctx, start, submission)
}
