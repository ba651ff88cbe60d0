package signals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/heddle-dev/heddle/signals/contract"
)

// Open starts a thread. A thread that runs already with the same agent and user
// is fine. It is refused with [contract.ErrThreadConflict] if the thread has
// another agent or user, and with [contract.ErrThreadClosed] if it has ended: a
// thread's name is used once.
//
// The server takes it whether or not a worker runs. That the agent exists only a
// worker can say: [Client.Send] and [Client.Watch] tell if it does not.
func (c *Client) Open(ctx context.Context, start contract.Start) error {
	if err := invalid(start.Validate()); err != nil {
		return err
	}
	_, err := c.temporal.ExecuteWorkflow(ctx, c.startOptions(start), contract.WorkflowType, start)
	if alreadyStarted(err) {
		if err = c.compare(ctx, start); err == nil {
			err = c.running(ctx, start.ThreadRef)
		}
	}
	return in("open", start.ThreadRef, typed(err))
}

// compare refuses a thread with another agent or user, or with other rules than
// those that are given, if some are. It asks the server alone,
// so that a message of one user reaches no other user's thread even while no
// worker can say whose it is.
func (c *Client) compare(ctx context.Context, start contract.Start) error {
	if c.owned.has(start) {
		return nil
	}
	opened, err := c.reader.opened(ctx, execution{workflowID: start.WorkflowID()})
	switch {
	case err != nil:
		return err
	case opened.Agent != start.Agent:
		return refuse(contract.ErrThreadConflict, "agent: the thread is with %q, not %q", opened.Agent, start.Agent)
	case opened.User != start.User:
		return refuse(contract.ErrThreadConflict, "user: the thread belongs to another user than %q", start.User)
	case len(start.Policy) > 0 && rulesOf(start) != rulesOf(opened):
		return refuse(contract.ErrThreadConflict, "policy: the thread was opened with other rules, which it keeps; give them with the message")
	}
	c.owned.add(start)
	return nil
}

// rulesOf tells the rules of threads apart.
func rulesOf(start contract.Start) string {
	if len(start.Policy) == 0 {
		return ""
	}
	encoded, _ := json.Marshal(start.Policy) // of words and numbers
	return string(encoded)
}

// running refuses a thread that does not exist or has ended.
func (c *Client) running(ctx context.Context, thread contract.ThreadRef) error {
	run, err := c.reader.describe(ctx, execution{workflowID: thread.WorkflowID()})
	if err == nil && run.closed() {
		err = c.why(ctx, run)
	}
	return err
}

// why says for what reason a closed thread takes nothing more: that its workflow
// failed, such as for an unknown agent, or that it was closed.
func (c *Client) why(ctx context.Context, run description) error {
	if run.status == enumspb.WORKFLOW_EXECUTION_STATUS_FAILED {
		var failure *temporal.ApplicationError
		err := c.temporal.GetWorkflow(ctx, run.workflowID, run.runID).Get(ctx, nil)
		if errors.As(err, &failure) && failure.Type() != "" {
			return typed(err)
		}
	}
	return refuse(contract.ErrThreadClosed, "the thread has ended (%s); open a new one", run.status)
}

// startOptions are alike for every way to start a thread. A thread that exists is
// an error, because only its first event says whose it is.
func (c *Client) startOptions(start contract.Start) client.StartWorkflowOptions {
	keyword := temporal.NewSearchAttributeKeyKeyword
	return client.StartWorkflowOptions{
		ID:                                       start.WorkflowID(),
		TaskQueue:                                c.taskQueue,
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowIDConflictPolicy:                 enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		StaticSummary:                            fmt.Sprintf("%s: %s", start.Agent, start.ThreadRef),
		TypedSearchAttributes: temporal.NewSearchAttributes(
			keyword(contract.AttributeTenant).ValueSet(start.Tenant),
			keyword(contract.AttributeAgent).ValueSet(start.Agent),
			keyword(contract.AttributeStatus).ValueSet(contract.SearchActive),
		),
	}
}

func alreadyStarted(err error) bool {
	var started *serviceerror.WorkflowExecutionAlreadyStarted
	return errors.As(err, &started)
}
