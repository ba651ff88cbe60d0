package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/signals/contract"
)

// deciding are the flags of approve and deny.
type deciding struct {
	verdict             contract.Verdict
	digest, by, comment string
	yes                 bool
	// edit is the input of an edit; grant that further calls are agreed to, with what
	// bounds them.
	edit          string
	grant         bool
	grantResource string
	grantCalls    int
	grantFor      time.Duration
}

// bounded reports whether a flag bounds a grant.
func (d *deciding) bounded() bool {
	return d.grantResource != "" || d.grantCalls != 0 || d.grantFor != 0
}

// consent completes a decision with what approves more, or other, than was asked.
func (c *cli) consent(d *deciding, decision *contract.Decision) error {
	switch {
	case d.edit != "" && (d.grant || d.bounded()):
		return misused("--edit does not go with --grant: an edit agrees to one call")
	case d.bounded() && !d.grant:
		return misused("--grant-resource, --grant-calls and --grant-for bound a --grant")
	case d.grantCalls < 0 || d.grantFor < 0:
		return misused("--grant-calls and --grant-for: want more than 0")
	case d.edit != "":
		input, err := c.jsonObject("--edit", d.edit)
		if err != nil {
			return err
		}
		decision.Verdict, decision.Input = contract.Edit, input
	case d.grant:
		decision.Grant = &contract.GrantTerms{Resource: d.grantResource, Calls: d.grantCalls}
		if d.grantFor > 0 {
			until := time.Now().Add(d.grantFor).UTC()
			decision.Grant.Until = &until
		}
	}
	return nil
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
it the command shows what waits and asks on the terminal; where there is none, or
with --json, it takes --digest, or --yes to approve whatever waits.

--edit approves the call with another input, once a worker has found it right. --grant
agrees to further calls of the tool in this thread too, see starter grants.`,
		Example: `  starter approve acme/t1
  starter approve acme/t1 t1-s2-c1-a --by ann --comment "customer is right"
  starter approve acme/t1 --edit '{"order": 4711, "cents": 500}'
  starter approve acme/t1 --grant --grant-calls 5 --grant-for 2h
  starter approve acme/t1 t1-s2-c1-a --digest sha256:9f86d0… --json`,
	}
	cmd.Flags().BoolVar(&d.yes, "yes", false, "do not ask, whatever waits")
	cmd.Flags().StringVar(&d.edit, "edit", "", "approve with this whole input instead, as JSON; @FILE reads a file, - standard input")
	cmd.Flags().BoolVar(&d.grant, "grant", false, "agree to further calls of the tool in this thread too")
	cmd.Flags().StringVar(&d.grantResource, "grant-resource", "", "only for calls with this resource key")
	cmd.Flags().IntVar(&d.grantCalls, "grant-calls", 0, "only for so many calls")
	cmd.Flags().DurationVar(&d.grantFor, "grant-for", 0, "only for so long, such as 2h")
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
		decision := contract.Decision{Digest: d.digest, Verdict: d.verdict, By: d.by, Comment: d.comment}
		if err := c.consent(d, &decision); err != nil {
			return err
		}
		if err := c.connect(cmd.Context()); err != nil {
			return err
		}
		if len(args) > 1 {
			decision.Approval = args[1]
		}
		if decision.Approval == "" || decision.Digest == "" {
			shown, err := c.quote(cmd.Context(), thread, &decision)
			if err != nil {
				return err
			}
			if d.verdict == contract.Approve && d.digest == "" && !d.yes {
				if err := c.confirm(cmd.Context(), thread, shown); err != nil {
					return err
				}
			}
		}
		if err := c.sendDecision(cmd.Context(), thread, decision); err != nil {
			return err
		}
		return c.print(decision, func(w io.Writer) {
			past := map[contract.Verdict]string{contract.Approve: "approved", contract.Deny: "denied", contract.Edit: "edited and approved"}
			fmt.Fprintf(w, "%s: %s %s\n", thread, past[decision.Verdict], decision.Approval)
		})
	}
	cmd.Flags().StringVar(&d.digest, "digest", "", "digest of the approval as it was shown")
	cmd.Flags().StringVar(&d.by, "by", c.person(), "who decides, for the record")
	cmd.Flags().StringVar(&d.comment, "comment", "", "comment, which the agent reads after a denial")
	return cmd
}

// sendDecision sends a decision. An edit may be refused once it has been looked at,
// so it waits for the answer.
func (c *cli) sendDecision(ctx context.Context, thread contract.ThreadRef, decision contract.Decision) error {
	switch decision.Verdict {
	case contract.Edit:
		return c.ask(ctx, func(ctx context.Context) error {
			_, err := c.threads.Decide(ctx, thread, decision)
			return err
		})
	case contract.Deny:
		return c.threads.Deny(ctx, thread, decision)
	}
	return c.threads.Approve(ctx, thread, decision)
}

// confirm asks the person at the terminal about an approval that was shown.
func (c *cli) confirm(ctx context.Context, thread contract.ThreadRef, a contract.Approval) error {
	if !c.interactive() {
		what := title(a)
		if c.json { // then it was not shown
			what += " with the input " + cut(clean(string(a.Preview)), maxErrorPreview)
		}
		return misused("nobody is here to confirm %s; if it is right, approve it with: %s (or whatever waits, with --yes)",
			what, approveLine(thread, a))
	}
	keys := keyboard{in: c.stdin}
	if err := keys.ask(); err != nil {
		return err
	}
	fmt.Fprint(c.stdout, "Approve? [y]es, [N]o: ")
	select {
	case line := <-keys.lines: // an empty one at the end of the input
		switch strings.ToLower(strings.TrimSpace(line.text)) {
		case "y", "yes":
			return nil
		}
		return fmt.Errorf("not approved: %s waits still; refuse it with: starter deny %s %s", a.Tool, thread, a.ID)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// maxErrorPreview bounds, in columns, the input that an error shows.
const maxErrorPreview = 400

// quote fills in which approval is decided, and its digest, from those that wait,
// and shows it.
func (c *cli) quote(ctx context.Context, thread contract.ThreadRef, decision *contract.Decision) (contract.Approval, error) {
	state, err := c.state(ctx, thread)
	if err != nil {
		return contract.Approval{}, err
	}
	if decision.Approval == "" {
		switch len(state.Pending) {
		case 0:
			return contract.Approval{}, fmt.Errorf("%s waits for no approval", thread)
		case 1:
			decision.Approval = state.Pending[0].ID
		default:
			return contract.Approval{}, misused("%s waits for several approvals, name one: %s", thread, approvalIDs(state.Pending))
		}
	}
	i := slices.IndexFunc(state.Pending, func(a contract.Approval) bool { return a.ID == decision.Approval })
	if i < 0 {
		return contract.Approval{}, fmt.Errorf("%s waits for no approval %s; it waits for: %s", thread, decision.Approval, approvalIDs(state.Pending))
	}
	if decision.Digest == "" {
		decision.Digest = state.Pending[i].Digest
	}
	if !c.json {
		newTimeline(c.stdout, c.screen(), state.Agent).quote(state.Pending[i])
	}
	return state.Pending[i], nil
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
