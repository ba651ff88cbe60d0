package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/signals/contract"
)

func (c *cli) usageCommand() *cobra.Command {
	var tenant string
	cmd := &cobra.Command{
		Use:   "usage --tenant <name>",
		Short: "Say what a tenant has used, and of how much",
		Long: `Say what a tenant has used in this hour, day and month (UTC), over all of its threads
and all workers, and which totals it has. Only tenants that have a total in the workers'
configuration (limits.tenants.NAME.total) are counted. It takes a running worker.`,
		Example: `  starter usage --tenant acme
  starter usage --tenant acme --json | jq '.periods[] | select(.period == "day") | .used.calls'`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := (contract.ThreadRef{Tenant: tenant, Thread: "-"}).Validate(); err != nil {
				return misused("--%w", err)
			}
			if err := c.connect(cmd.Context()); err != nil {
				return err
			}
			var usage contract.TenantUsage
			err := c.ask(cmd.Context(), func(ctx context.Context) (err error) {
				usage, err = c.threads.Usage(ctx, tenant)
				return err
			})
			if err != nil {
				return err
			}
			return c.print(usage, func(w io.Writer) { printUsage(w, usage) })
		},
	}
	cmd.Flags().StringVar(&tenant, "tenant", "", "tenant to ask about (required)")
	return cmd
}

// printUsage prints a line for each amount that was used or is limited.
func printUsage(w io.Writer, usage contract.TenantUsage) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	defer func() { _ = table.Flush() }()
	fmt.Fprintln(table, "PERIOD\tENDS\tAMOUNT\tUSED\tOF")
	for _, p := range usage.Periods {
		limits := p.Limits.Each()
		for i, used := range p.Used.Each() {
			if used.Value == 0 && limits[i].Value == 0 {
				continue
			}
			most := "-"
			if limits[i].Value > 0 {
				most = amountOf(limits[i])
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", p.Period, p.Until.Format(time.RFC3339), used.Name, amountOf(used), most)
		}
	}
}

// amountOf writes an amount in the unit of its name.
func amountOf(a contract.Amount) string {
	if a.Unit == "micro-USD" {
		return fmt.Sprintf("$%.4f", float64(a.Value)/1e6)
	}
	return fmt.Sprint(a.Value)
}
