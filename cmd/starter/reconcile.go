package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// findings are what can be found out, by the word of the command line.
var findings = map[string]contract.Finding{
	"applied": contract.FindingApplied, "not-applied": contract.FindingNotApplied, "abandon": contract.FindingAbandoned,
}

func (c *cli) reconcileCommand() *cobra.Command {
	var result, id string
	answer := contract.Reconcile{}
	cmd := &cobra.Command{
		Use:   "reconcile <tenant>/<thread>[/<reconciliation>] applied|not-applied|abandon",
		Short: "Say what became of a write whose outcome is unknown",
		Long: `Say what became of a write that may or may not have been applied, since its worker was
lost or the connection broke. Look at the target for the idempotency key that
starter reconcile list shows, then say what was found:

  applied      the call ends with the --result, as if the tool had returned it
  not-applied  the call is made again, under the same key
  abandon      nobody will find out; the caller gets the error outcome_unknown

Without a reconciliation's id it is the one that is open, if there is one only. A result
that the worker itself has recorded meanwhile counts more than what anyone says.`,
		Example: `  starter reconcile list
  starter reconcile acme/t1 applied --result '{"refund": "r-81"}'
  starter reconcile acme/t1/t1-s2-c1-r not-applied --comment "no such refund in the ledger"
  starter reconcile acme/t1 abandon --json`,
		Args: arguments(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			finding, known := findings[args[1]]
			if !known {
				return misused("%q: want applied, not-applied or abandon", args[1])
			}
			name := args[0]
			if parts := strings.Split(strings.TrimPrefix(name, "thread/"), "/"); len(parts) == 3 {
				name, id = parts[0]+"/"+parts[1], parts[2]
			}
			thread, err := threadArg([]string{name})
			if err != nil {
				return err
			}
			answer.Reconciliation, answer.Finding = id, finding
			if result != "" {
				if answer.Result, err = c.jsonText("--result", result); err != nil {
					return err
				}
			}
			if finding != contract.FindingApplied && result != "" {
				return misused("--result goes with applied only")
			}
			if err := c.connect(cmd.Context()); err != nil {
				return err
			}
			if answer.Reconciliation == "" {
				if answer.Reconciliation, err = c.onlyReconciliation(cmd.Context(), thread); err != nil {
					return err
				}
			}
			if err := c.threads.Reconcile(cmd.Context(), thread, answer); err != nil {
				return err
			}
			return c.print(answer, func(w io.Writer) {
				fmt.Fprintf(w, "%s: said of %s: %s\n", thread, answer.Reconciliation, args[1])
			})
		},
	}
	cmd.Flags().StringVar(&result, "result", "", "the tool's result, as JSON; @FILE reads a file, - standard input")
	cmd.Flags().StringVar(&answer.By, "by", c.person(), "who found out, for the record")
	cmd.Flags().StringVar(&answer.Comment, "comment", "", "how it was found out, for the record")
	cmd.AddCommand(c.reconciliationsCommand())
	return cmd
}

// onlyReconciliation is the one that a thread has open.
func (c *cli) onlyReconciliation(ctx context.Context, thread contract.ThreadRef) (string, error) {
	state, err := c.state(ctx, thread)
	if err != nil {
		return "", err
	}
	open := slices.DeleteFunc(state.Reconciliations, func(r contract.Reconciliation) bool { return r.AskedAt == nil })
	switch len(open) {
	case 0:
		return "", fmt.Errorf("%s has no write that a person must find out about", thread)
	case 1:
		return open[0].ID, nil
	}
	ids := make([]string, len(open))
	for i, r := range open {
		ids[i] = fmt.Sprintf("%s/%s (%s)", thread, r.ID, r.Tool)
	}
	return "", misused("%s has several, name one: %s", thread, strings.Join(ids, ", "))
}

func (c *cli) reconciliationsCommand() *cobra.Command {
	var filter signals.Filter
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the writes whose outcome is unknown, over all threads",
		Long: `List the writes of all threads that a person must find out about. The threads come from
the server's search attributes, which are some moments behind; each is then asked,
which needs a worker. KEY is the idempotency key that the target was sent.

With --json each is a JSON value on a line of its own.`,
		Example: `  starter reconcile list
  starter reconcile list --tenant acme --json | jq -r .key`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.connect(cmd.Context()); err != nil {
				return err
			}
			return c.listReconciliations(cmd.Context(), filter)
		},
	}
	cmd.Flags().StringVar(&filter.Tenant, "tenant", "", "only threads of this tenant")
	cmd.Flags().StringVar(&filter.Agent, "agent", "", "only threads of this agent")
	return cmd
}

func (c *cli) listReconciliations(ctx context.Context, filter signals.Filter) error {
	table := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	found := 0
	var unread []error
	err := c.ask(ctx, func(ctx context.Context) error {
		for r, err := range c.threads.Reconciliations(ctx, filter) {
			if err != nil && r.Thread == "" {
				return err
			}
			if err != nil {
				unread = append(unread, err)
				continue
			}
			if found++; c.json {
				if err := c.printJSON(r); err != nil {
					return err
				}
				continue
			}
			if found == 1 {
				fmt.Fprintln(table, "RECONCILIATION\tTOOL\tRESOURCE\tKEY\tSINCE\tWHY")
			}
			fmt.Fprintf(table, "%s/%s\t%s\t%s\t%s\t%s\t%s\n", r.ThreadRef, r.ID, clean(r.Tool), orDash(clean(r.Resource)), orDash(r.Key),
				r.OpenedAt.Local().Format(time.DateTime), cut(clean(r.Reason), maxReason))
		}
		return nil
	})
	if err := errors.Join(err, table.Flush()); err != nil {
		return err
	}
	if found == 0 && !c.json && len(unread) == 0 {
		fmt.Fprintln(c.stdout, "no write is of unknown outcome")
	}
	return errors.Join(unread...)
}

// maxReason bounds, in columns, why an outcome is unknown.
const maxReason = 80

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return cut(text, 40)
}

func (c *cli) jsonText(flag, text string) (json.RawMessage, error) {
	path, isFile := strings.CutPrefix(text, "@")
	if isFile || text == "-" {
		if err := c.read(path, func(r io.Reader) error {
			content, err := io.ReadAll(io.LimitReader(r, contract.MaxInline+1))
			text = string(content)
			return err
		}); err != nil {
			return nil, err
		}
	}
	if len(text) > contract.MaxInline {
		return nil, misused("%s: is longer than %d bytes", flag, contract.MaxInline)
	}
	if !json.Valid([]byte(text)) {
		return nil, misused("%s: is no JSON; a text needs quotes of its own, such as '\"done\"'", flag)
	}
	return json.RawMessage(text), nil
}
