package main

import (
	"cmp"
	"crypto/rand"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/signals/contract"
)

func (c *cli) callCommand() *cobra.Command {
	var s sending
	var input string
	cmd := &cobra.Command{
		Use:   "call <tenant>/<thread> <tool>",
		Short: "Call a tool as a turn of a thread",
		Long: `Call a tool as a turn of a thread, without a model: durable, with the agent's tools, in
the thread's mode, under the policy and with an approval if the call takes one, as if
the model had asked for it. The turn's answer is the result, as JSON.

The thread is opened if need be; --agent is needed for that, and may be left out
for a thread that is open. A call that fails or is refused ends with exit code 1.

` + exitCodesHelp,
		Example: `  starter call acme/t1 orders.get --input '{"id": "A-1001"}' --agent support --user ann
  starter call acme/t1 orders.refund --input @refund.json --id refund-17 --yes
  starter call acme/t1 orders.get --input - --json < call.json`,
		Args: arguments(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			thread, err := threadArg(args)
			if err != nil {
				return err
			}
			text, err := c.jsonObject("--input", input)
			if err != nil {
				return err
			}
			submission := contract.Submission{ID: cmp.Or(s.id, rand.Text()), Run: contract.RunCall, Tool: args[1], Text: string(text)}
			return c.begin(cmd.Context(), s, thread, submission, args[1])
		},
	}
	s.flags(c, cmd)
	cmd.Flags().StringVar(&input, "input", "{}", "input of the tool as a JSON object; @FILE reads a file, - standard input")
	return cmd
}

// callError ends a command whose call of a tool was refused or failed.
type callError struct {
	tool    string
	problem contract.Problem
}

func (e callError) Error() string { return fmt.Sprintf("%s: %s", e.tool, e.problem.Error()) }
