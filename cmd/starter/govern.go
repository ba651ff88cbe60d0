package main

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/signals/contract"
)

func (c *cli) modeCommand() *cobra.Command {
	var set contract.SetMode
	cmd := &cobra.Command{
		Use:   "mode <tenant>/<thread> [mode]",
		Short: "Say in which mode a thread is, or put it into another",
		Long: `Say in which mode a thread is, or put it into another: ask, plan, build, review or one
of the workers' own. It binds what has not begun, be it approved already. An empty
mode is the agent's own.`,
		Example: `  starter mode acme/t1
  starter mode acme/t1 plan --reason "let us look at it first"
  starter mode acme/t1 ""`,
		Args: arguments(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			thread, err := threadArg(args)
			if err != nil {
				return err
			}
			if err := c.connect(cmd.Context()); err != nil {
				return err
			}
			if len(args) == 1 {
				state, err := c.state(cmd.Context(), thread)
				if err != nil {
					return err
				}
				return c.print(map[string]string{"mode": state.Mode}, func(w io.Writer) {
					fmt.Fprintf(w, "%s: %s\n", thread, cmp.Or(state.Mode, "the agent's own mode"))
				})
			}
			set.Mode = args[1]
			answer, err := c.threads.SetMode(cmd.Context(), thread, set)
			if err != nil {
				return err
			}
			return c.print(answer, func(w io.Writer) {
				own := "the agent's own mode"
				fmt.Fprintf(w, "%s: %s, before that %s\n", thread, cmp.Or(answer.Mode, own), cmp.Or(answer.Before, own))
			})
		},
	}
	cmd.Flags().StringVar(&set.By, "by", c.person(), "who sets it, for the record")
	cmd.Flags().StringVar(&set.Reason, "reason", "", "why, for the record")
	return cmd
}

func (c *cli) grantsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "grants <tenant>/<thread>",
		Short: "List the consents to further calls that a thread has",
		Long: `List the grants of a thread: for which tool, which resource, how many calls and until
when no person is asked. They are given with approve --grant and ended with revoke.

With --json each grant is a JSON value on a line of its own.`,
		Example: `  starter grants acme/t1`,
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			thread, err := threadArg(args)
			if err != nil {
				return err
			}
			if err := c.connect(cmd.Context()); err != nil {
				return err
			}
			state, err := c.state(cmd.Context(), thread)
			if err != nil {
				return err
			}
			if c.json {
				for _, grant := range state.Grants {
					if err := c.printJSON(grant); err != nil {
						return err
					}
				}
				return nil
			}
			return printGrants(c.stdout, thread, state.Grants)
		},
	}
}

func printGrants(w io.Writer, thread contract.ThreadRef, grants []contract.Grant) error {
	if len(grants) == 0 {
		_, err := fmt.Fprintf(w, "%s has no grants\n", thread)
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "GRANT\tTOOL\tRESOURCE\tCALLS\tUNTIL\tBY")
	for _, g := range grants {
		calls, until := fmt.Sprintf("%d", g.Used), "-"
		if g.Calls > 0 {
			calls = fmt.Sprintf("%d of %d", g.Used, g.Calls)
		}
		if g.Until != nil {
			until = g.Until.Local().Format(time.DateTime)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", clean(g.ID), clean(g.Tool), cmp.Or(cut(clean(g.Resource), 40), "any"), calls, until, clean(g.By))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

func (c *cli) revokeCommand() *cobra.Command {
	var revoke contract.RevokeGrant
	cmd := &cobra.Command{
		Use:   "revoke <tenant>/<thread> <grant>",
		Short: "End a consent to further calls",
		Long: `End a grant. A call that it let pass and that has not begun is not made.

The command asks and does not wait: a refusal, such as for a grant that has ended,
shows in the thread's timeline.`,
		Example: `  starter revoke acme/t1 g1 --reason "the case is closed"`,
		Args:    arguments(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			thread, err := threadArg(args)
			if err != nil {
				return err
			}
			revoke.Grant = args[1]
			if err := c.connect(cmd.Context()); err != nil {
				return err
			}
			if err := c.threads.Revoke(cmd.Context(), thread, revoke); err != nil {
				return err
			}
			return c.print(revoke, func(w io.Writer) { fmt.Fprintf(w, "%s: asked to revoke %s\n", thread, revoke.Grant) })
		},
	}
	cmd.Flags().StringVar(&revoke.By, "by", c.person(), "who revokes it, for the record")
	cmd.Flags().StringVar(&revoke.Reason, "reason", "", "why, for the record")
	return cmd
}
