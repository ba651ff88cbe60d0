package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/internal/audit"
)

func (c *cli) auditCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Check the audit logs of workers",
		Long: `Check the audit logs that workers write where their heddle.yaml says audit: a line for
each thing that was asked of their tools, bound to the one before by its hash. Neither a
worker nor a Temporal server is needed.`,
		Example: `  starter audit verify .heddle/audit/audit-1.jsonl`,
		Args:    arguments(0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.auditVerifyCommand())
	return cmd
}

func (c *cli) auditVerifyCommand() *cobra.Command {
	var head string
	cmd := &cobra.Command{
		Use:   "verify <file>",
		Short: "Check that an audit log is as it was written",
		Long: `Check that an audit log is as it was written: that no line was changed, removed,
inserted or moved. It names the first line that is not.

That lines are missing at the end cannot be seen from the file alone. Note the hash
that this command prints, and give it as --head the next time: the log must have it.

A last line without an end, as a crash may leave it, is no fault and is told of.`,
		Example: `  starter audit verify .heddle/audit/audit-1.jsonl
  starter audit verify audit-1.jsonl --head 4e07408562bedb8b60ce05c1decfe3ad16b72230967de01f640b7e4729b49fce --json`,
		Args: arguments(1, 1),
		RunE: func(_ *cobra.Command, args []string) error { return c.verifyAudit(args[0], head) },
	}
	cmd.Flags().StringVar(&head, "head", "", "hash that the log must have")
	return cmd
}

func (c *cli) verifyAudit(path, head string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	report, err := audit.Verify(file, head)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return c.print(report, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %s as written", path, count(int(report.Records), "line"))
		if report.Records > 0 {
			fmt.Fprintf(w, ", from %s to %s\nlast hash: %s", report.First.Format(time.RFC3339), report.Last.Format(time.RFC3339), report.Head)
		}
		fmt.Fprintln(w)
		if report.Recovered > 0 {
			fmt.Fprintf(w, "%s taken away that a crash had torn\n", count(report.Recovered, "line"))
		}
		if report.Torn > 0 {
			fmt.Fprintf(w, "%d bytes at the end are no whole line\n", report.Torn)
		}
	})
}
