package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/signals/contract"
)

// deciding are the flags of approve and deny.
type deciding struct {
	verdict             contract.Verdict
	digest, by, comment string
}

func (c *cli) approveCommand() *cobra.Command {
	d := deciding{verdict: contract.Approve}
	cmd := &cobra.Command{
		Use:   "approve <tenant>/<thread> [approval]",
		Short: "Agree to a call that waits for a person",
		Long: `Agree to a call that waits for a person. Without an approval's id it is the one that
waits, if there is one only.

A decision quotes the digest of what was shown. --digest gives the one that a person
saw elsewhere; the decision is then refused if the call is another by now. Without
it the command shows what it approves and quotes that.`,
		Example: `  starter approve acme/t1
  starter approve acme/t1 t1-s2-c1-a --by ann --comment "customer is right"
  starter approve acme/t1 t1-s2-c1-a --digest sha256:9f86d0… --json`,
	}
	return c.decideCommand(cmd, &d)
}

func (c *cli) denyCommand() *cobra.Command {
	d := deciding{verdict: contract.Deny}
	cmd := &cobra.Command{
		Use:   "deny <tenant>/<thread> [approval]",
		Short: "Refuse a call that waits for a person",
		Long: `Refuse a call that waits for a person. The agent reads the comment. Without an
approval's id it is the one that waits, if there is one only.`,
		Example: `  starter deny acme/t1 --comment "ask for a photo first"
  starter deny acme/t1 t1-s2-c1-a --by ann`,
	}
	return c.decideCommand(cmd, &d)
}

func (c *cli) decideCommand(cmd *cobra.Command, d *deciding) *cobra.Command {
	cmd.Args = arguments(1, 2)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		thread, err := threadArg(args)
		if err != nil {
			return err
		}
		if err := c.connect(cmd.Context()); err != nil {
			return err
		}
		decision := contract.Decision{Digest: d.digest, Verdict: d.verdict, By: d.by, Comment: d.comment}
		if len(args) > 1 {
			decision.Approval = args[1]
		}
		if decision.Approval == "" || decision.Digest == "" {
			if err := c.quote(cmd.Context(), thread, &decision); err != nil {
				return err
			}
		}
		send := c.threads.Approve
		if d.verdict == contract.Deny {
			send = c.threads.Deny
		}
		if err := send(cmd.Context(), thread, decision); err != nil {
			return err
		}
		return c.print(decision, func(w io.Writer) {
			past := map[contract.Verdict]string{contract.Approve: "approved", contract.Deny: "denied"}
			fmt.Fprintf(w, "%s: %s %s\n", thread, past[d.verdict], decision.Approval)
		})
	}
	cmd.Flags().StringVar(&d.digest, "digest", "", "digest of the approval as it was shown")
	cmd.Flags().StringVar(&d.by, "by", c.person(), "who decides, for the record")
	cmd.Flags().StringVar(&d.comment, "comment", "", "comment, which the agent reads after a denial")
	return cmd
}

// quote fills in which approval is decided, and its digest, from those that wait.
func (c *cli) quote(ctx context.Context, thread contract.ThreadRef, decision *contract.Decision) error {
	state, err := c.state(ctx, thread)
	if err != nil {
		return err
	}
	if decision.Approval == "" {
		switch len(state.Pending) {
		case 0:
			return fmt.Errorf("%s waits for no approval", thread)
		case 1:
			decision.Approval = state.Pending[0].ID
		default:
			return misused("%s waits for several approvals, name one: %s", thread, approvalIDs(state.Pending))
		}
	}
	i := slices.IndexFunc(state.Pending, func(a contract.Approval) bool { return a.ID == decision.Approval })
	if i < 0 {
		return fmt.Errorf("%s waits for no approval %s; it waits for: %s", thread, decision.Approval, approvalIDs(state.Pending))
	}
	if decision.Digest == "" {
		decision.Digest = state.Pending[i].Digest
	}
	if !c.json {
		newTimeline(c.stdout, c.screen(), state.Agent).block(preview(state.Pending[i], 0), plain)
	}
	return nil
}

func approvalIDs(pending []contract.Approval) string {
	if len(pending) == 0 {
		return "none"
	}
	ids := make([]string, len(pending))
	for i, a := range pending {
		ids[i] = a.ID + " (" + a.Tool + ")"
	}
	return strings.Join(ids, ", ")
}
