package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// sending are the flags of send.
type sending struct {
	opening
	id, by      string
	yes, noWait bool
	// messagePolicy is a file with rules for the calls of the turn.
	messagePolicy string
}

func (c *cli) sendCommand() *cobra.Command {
	var s sending
	cmd := &cobra.Command{
		Use:   "send <tenant>/<thread> <message>",
		Short: "Send a message, and follow the turn that answers it",
		Long: `Send a message and follow the turn that answers it. A message of - is read from
standard input.

The thread is opened if need be; --agent is needed for that, and may be left out
for a thread that is open. With --agent, --user is whom the thread belongs to;
without it, --user is who wrote the message in an open thread.

--policy names a YAML file with a list of rules, as docs/policy.md describes them, for
the calls of this turn alone; --thread-policy one for all calls of a thread that is
opened. They tighten what the workers say and loosen nothing.

An approval is asked for on the terminal. Without one, or with --json, the command
shows what waits, says how to decide and ends with exit code 4; --yes approves
everything. The thread goes on in any case: follow it again with watch --turn.

With --json: {"submitted": ...}, then {"part": ...} for each part of the timeline,
then {"turn": ...}, each on a line of its own.

` + exitCodesHelp,
		Example: `  starter send acme/t1 "Refund the mug in order 4711" --agent support --user ann
  starter send acme/t1 "And the teapot?"
  starter send acme/t1 "I am his manager: do it" --user bob
  starter send acme/t1 - --id import-17 --no-wait < request.txt
  starter send acme/t1 "What would a refund cost?" --policy read-only.yaml
  starter send acme/t1 "Refund the mug" --yes --json | jq .part.title`,
		Args: arguments(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			thread, err := threadArg(args)
			if err != nil {
				return err
			}
			submission := contract.Submission{ID: cmp.Or(s.id, rand.Text()), Text: args[1]}
			if args[1] == "-" {
				if submission.Text, err = readMessage(c.stdin); err != nil {
					return err
				}
			}
			return c.begin(cmd.Context(), s, thread, submission, "message")
		},
	}
	s.flags(c, cmd)
	return cmd
}

// flags are those of whatever begins a turn.
func (s *sending) flags(c *cli, cmd *cobra.Command) {
	s.register(cmd)
	cmd.Flags().StringVar(&s.id, "id", "", "submission id: sending again with the same id is safe (default: a new one)")
	cmd.Flags().StringVar(&s.by, "by", c.person(), "who decides approvals, for the record")
	cmd.Flags().BoolVar(&s.yes, "yes", false, "approve everything that asks for approval")
	cmd.Flags().BoolVar(&s.noWait, "no-wait", false, "do not wait for the answer")
	cmd.Flags().StringVar(&s.messagePolicy, "policy", "", "file with rules for the calls of this turn")
	cmd.Flags().StringVar(&s.policyFile, "thread-policy", "", "file with rules for all calls of a thread that is opened")
}

// begin sends what begins a turn, once it is found right, and follows the turn.
func (c *cli) begin(ctx context.Context, s sending, thread contract.ThreadRef, submission contract.Submission, what string) (err error) {
	if submission.Policy, err = rulesOf(s.messagePolicy); err != nil {
		return err
	}
	if s.policy, err = rulesOf(s.policyFile); err != nil {
		return err
	}
	if err := submission.Validate(); err != nil {
		return misused("%s: %w", what, err)
	}
	if err := c.connect(ctx); err != nil {
		return err
	}
	return c.send(ctx, s, thread, submission)
}

// readMessage reads a message from standard input, without its last line break.
func readMessage(in io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(in, contract.MaxText+2))
	if err != nil {
		return "", fmt.Errorf("read the message from standard input: %w", err)
	}
	return strings.TrimSuffix(string(data), "\n"), nil
}

func (c *cli) send(ctx context.Context, s sending, thread contract.ThreadRef, submission contract.Submission) error {
	start, after, err := c.startOf(ctx, s.opening, thread)
	if err != nil {
		return err
	}
	if s.user != start.User {
		submission.User = s.user
	}
	var submitted contract.Submitted
	err = c.ask(ctx, func(ctx context.Context) error {
		submitted, err = c.threads.Send(ctx, start, submission)
		return err
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the message may be taken still, send it again with --id %s: %w", submission.ID, err)
	}
	if err != nil {
		return s.explain(err)
	}
	if s.id != "" {
		after = 0 // it may have been sent before: the turn began then
	}
	if c.json {
		if err := c.printJSON(map[string]contract.Submitted{"submitted": submitted}); err != nil {
			return err
		}
	}
	if s.noWait {
		if !c.json {
			fmt.Fprintf(c.stdout, "%s: turn %s; follow it with: starter watch %s --turn %s\n", thread, submitted.Turn, thread, submitted.Turn)
		}
		return nil
	}
	if !c.json {
		c.printLink(c.stdout, thread)
	}
	v := &conversation{
		cli: c, thread: thread, turn: submitted.Turn, by: s.by, decide: byNobody,
		view: newTimeline(c.stdout, c.screen(), start.Agent), keys: keyboard{in: c.stdin},
	}
	v.view.turn = v.turn
	switch {
	case s.yes:
		v.decide = byItself
	case c.interactive():
		v.decide = byPerson
	}
	v.view.quoting = v.decide != byPerson
	_, err = v.follow(ctx, after)
	v.view.wipe()
	switch {
	case ctx.Err() != nil:
		err = stoppedError{thread, v.turn}
	case err == nil && submission.Run == contract.RunCall && v.failed != nil:
		err = callError{submission.Tool, *v.failed}
	}
	return err
}

// startOf says how the thread was opened, or is to be opened, and the cursor of
// its timeline before the message.
func (c *cli) startOf(ctx context.Context, o opening, thread contract.ThreadRef) (contract.Start, int64, error) {
	state, err := c.state(ctx, thread)
	switch {
	case err == nil && o.agent == "":
		if len(o.policy) > 0 { // those of another thread are refused
			state.Policy = o.policy
		}
		return state.Start, state.Cursor, nil
	case err == nil:
		return o.start(thread), state.Cursor, nil
	case !refused(err, contract.ErrUnknownThread):
		return contract.Start{}, 0, err
	case o.agent == "":
		return contract.Start{}, 0, misused("%s is not open yet: name its agent with --agent", thread)
	}
	start := o.start(thread)
	if err := start.Validate(); err != nil {
		return start, 0, misused("%w", err)
	}
	return start, 0, nil
}

// refused reports whether a thread refused with a code.
func refused(err error, code string) bool {
	var refusal *signals.Error
	return errors.As(err, &refusal) && refusal.Code == code
}
