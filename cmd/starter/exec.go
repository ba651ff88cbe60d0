package main

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/signals/contract"
)

func (c *cli) execCommand() *cobra.Command {
	var s sending
	var dry bool
	var script, input string
	cmd := &cobra.Command{
		Use:   "exec <tenant>/<thread> [<file.ts>]",
		Short: "Run a snippet of TypeScript as a turn of a thread",
		Long: `Run a snippet of TypeScript as a turn of a thread, without a model: durable, with the
agent's tools, under its policy and with its approvals, as if the model had written
it. A file of - is standard input.

The thread is opened if need be; --agent is needed for that, and may be left out
for a thread that is open. The turn's answer is the report of the run, as JSON.

With --script, a snippet that is saved by that name in the worker's configuration
is run in place of a file, with the JSON of --input as its input.

With --dry-run, reads are made and writes are not: each gives undefined at once, and
the report has them as planned, with the input and whether a person would be asked.

` + exitCodesHelp,
		Example: `  starter exec acme/t1 refunds.ts --agent support --user ann
  starter exec acme/t1 refunds.ts --dry-run
  starter exec acme/t1 --script refund_late --input '{"days": 7}'
  echo 'return (await tools.search({ query: "refund" })).hits' | starter exec acme/t1 - --json`,
		Args: arguments(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			thread, err := threadArg(args)
			if err != nil {
				return err
			}
			submission := contract.Submission{ID: cmp.Or(s.id, rand.Text()), Run: contract.RunSnippet}
			if dry {
				submission.Run = contract.RunDry
			}
			switch {
			case script == "" && len(args) < 2:
				return misused("want a file with a snippet, or --script")
			case script != "" && len(args) > 1:
				return misused("want either a file or --script, not both")
			case script == "" && cmd.Flags().Changed("input"):
				return misused("--input is for --script alone: a snippet holds what it works on")
			case script != "":
				submission.Script, submission.Text = script, input
			default:
				if submission.Text, err = c.readSnippet(args[1]); err != nil {
					return err
				}
			}
			return c.begin(cmd.Context(), s, thread, submission, cmp.Or(script, "snippet"))
		},
	}
	s.flags(c, cmd)
	cmd.Flags().StringVar(&script, "script", "", "run the snippet that is saved by this name")
	cmd.Flags().StringVar(&input, "input", "{}", "input of --script, as JSON")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "make reads, and only plan writes")
	return cmd
}

// readSnippet reads a snippet from a file, or from standard input for "-". Of one
// that is too long it reads enough for that to be seen.
func (c *cli) readSnippet(path string) (string, error) {
	in := c.stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", fmt.Errorf("read the snippet: %w", err)
		}
		defer file.Close()
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, contract.MaxText+1))
	if err != nil {
		return "", fmt.Errorf("read the snippet: %w", err)
	}
	return string(data), nil
}
