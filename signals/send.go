package signals

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"go.temporal.io/sdk/client"

	"github.com/heddle-dev/heddle/signals/contract"
)

// Send gives the thread a message, opening it if need be, and returns the turn
// that answers it. [Client.Wait] waits for the answer.
//
// A submission with an empty id gets one of its own. With an id of the caller's,
// sending the same again is safe: it returns the same turn. What the thread may
// refuse: [contract.ErrUnknownAgent], [contract.ErrThreadConflict],
// [contract.ErrThreadClosed], [contract.ErrSubmissionConflict],
// [contract.ErrQueueFull].
//
// It waits for a worker until ctx ends. A message whose Send ended that way may
// still be taken: send it again with the same id to find out.
func (c *Client) Send(ctx context.Context, start contract.Start, submission contract.Submission) (contract.Submitted, error) {
	if submission.ID == "" {
		submission.ID = rand.Text()
	}
	if err := invalid(errors.Join(start.Validate(), submission.Validate())); err != nil {
		return contract.Submitted{}, err
	}
	update := client.UpdateWorkflowOptions{
		WorkflowID:   start.WorkflowID(),
		UpdateID:     updateID(submission),
		UpdateName:   contract.UpdateSubmit,
		Args:         []any{submission},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	}
	var submitted contract.Submitted
	before := c.places.of(start.WorkflowID())
	err := c.insist(ctx, start.ThreadRef, func() error {
		handle, opened, err := c.deliver(ctx, start, update)
		if err != nil {
			return err
		}
		run := execution{handle.WorkflowID(), handle.RunID()}
		if opened {
			before = place{run: run}
		}
		if err := handle.Get(ctx, &submitted); err != nil || before.run != run {
			return err
		}
		c.places.begin(before, submitted.Turn)
		return nil
	})
	return submitted, in("send to", start.ThreadRef, err)
}

// deliver starts the thread with the update, or sends it to a thread that exists. It
// reports whether it has opened the thread.
func (c *Client) deliver(
	ctx context.Context, start contract.Start, update client.UpdateWorkflowOptions,
) (handle client.WorkflowUpdateHandle, opened bool, err error) {
	if !c.owned.has(start) {
		handle, err = c.temporal.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
			StartWorkflowOperation: c.temporal.NewWithStartWorkflowOperation(
				c.startOptions(start), contract.WorkflowType, start),
			UpdateOptions: update,
		})
		switch {
		case err == nil:
			c.owned.add(start)
			return handle, true, nil
		case !alreadyStarted(err):
			return nil, false, err
		}
		if err := c.compare(ctx, start); err != nil {
			return nil, false, err
		}
	}
	handle, err = c.temporal.UpdateWorkflow(ctx, update)
	return handle, false, err
}

// updateID makes the server itself recognise a submission that comes again, which
// then costs no event. The content is part of it: the same id with other content
// has to reach the thread, which refuses it.
func updateID(s contract.Submission) string {
	text := s.User + "\x00" + s.Text + string(s.Run) + s.Script
	if s.Tool != "" {
		text += "\x00" + s.Tool
	}
	if len(s.Policy) > 0 {
		rules, _ := json.Marshal(s.Policy) // of words and numbers
		text += "\x00" + string(rules)
	}
	content := sha256.Sum256([]byte(text))
	return "submit-" + s.ID + "-" + hex.EncodeToString(content[:8])
}
