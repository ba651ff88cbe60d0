package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// searchStatuses are the values of the search attribute.
var searchStatuses = []string{
	contract.SearchActive, contract.SearchWaiting, contract.SearchFailed, contract.SearchClosed,
}

func (c *cli) threadsCommand() *cobra.Command {
	var filter signals.Filter
	var pending string
	var limit int
	cmd := &cobra.Command{
		Use:   "threads",
		Short: "List threads",
		Long: `List threads, those begun last first. The list comes from the server's search
attributes and needs no worker; it is some moments behind.

With --json each thread is a JSON value on a line of its own.`,
		Example: `  starter threads --pending approval
  starter threads --tenant acme --agent support --status failed
  starter threads --json --limit 1000 | jq -r .thread`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if filter.Status != "" && !slices.Contains(searchStatuses, filter.Status) {
				return misused("--status %q: want one of %s", filter.Status, strings.Join(searchStatuses, ", "))
			}
			if kind := contract.Kind(pending); kind != "" && kind != contract.KindApproval && kind != contract.KindQuestion && kind != contract.KindReconciliation {
				return misused("--pending %q: want %s, %s or %s", pending, contract.KindApproval, contract.KindQuestion, contract.KindReconciliation)
			}
			if limit < 1 {
				return misused("--limit %d: want 1 or more", limit)
			}
			filter.Pending = contract.Kind(pending)
			if err := c.connect(cmd.Context()); err != nil {
				return err
			}
			return c.list(cmd, filter, limit)
		},
	}
	cmd.Flags().StringVar(&filter.Tenant, "tenant", "", "only threads of this tenant")
	cmd.Flags().StringVar(&filter.Agent, "agent", "", "only threads of this agent")
	cmd.Flags().StringVar(&filter.Status, "status", "", "only threads in this status: "+strings.Join(searchStatuses, ", "))
	cmd.Flags().StringVar(&pending, "pending", "", "only threads that wait for a person in this way: approval, question or reconciliation")
	cmd.Flags().IntVar(&limit, "limit", 100, "at most this many")
	return cmd
}

func (c *cli) list(cmd *cobra.Command, filter signals.Filter, limit int) error {
	table := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	found, more := 0, false
	for thread, err := range c.threads.List(cmd.Context(), filter) {
		if err != nil {
			return err
		}
		if more = found == limit; more {
			break
		}
		if found++; c.json {
			if err := c.printJSON(thread); err != nil {
				return err
			}
			continue
		}
		if found == 1 {
			fmt.Fprintln(table, "THREAD\tAGENT\tSTATUS\tWAITS FOR\tSINCE")
		}
		kinds := make([]string, len(thread.Pending))
		for i, kind := range thread.Pending {
			kinds[i] = string(kind)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", thread.ThreadRef, thread.Agent, thread.Status,
			strings.Join(kinds, ","), thread.StartedAt.Local().Format("2006-01-02 15:04"))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	switch {
	case c.json:
	case found == 0:
		fmt.Fprintln(c.stdout, "no threads")
	case more:
		fmt.Fprintf(c.stdout, "and more: raise --limit %d\n", limit)
	}
	return nil
}
