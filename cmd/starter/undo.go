package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/signals/contract"
)

func (c *cli) undoCommand() *cobra.Command {
	var s sending
	cmd := &cobra.Command{
		Use:   "undo <tenant>/<thread> <turn>",
		Short: "Undo the writes of a turn that has ended",
		Long: `Undo the writes of a turn that has ended, the last one first, in a turn of its own.
Each is undone by a call of the tool that the write's tool names for that, which asks
for approval like any other write. The turn's answer says what was undone, and what
cannot be: writes whose tool does not say how, those of which nobody knows whether
they were applied, and those whose undo does not fit the tool that undoes.

The first undo that fails, or that a person denies, ends it. A turn is undone once;
after an undo that has failed, --id with a new id goes on with what is left. To end
a turn that runs and have it undone, use cancel --undo.

` + exitCodesHelp,
		Example: `  starter undo acme/t1 t4
  starter undo acme/t1 t4 --user eve --yes
  starter undo acme/t1 t4 --id second-try`,
		Args: arguments(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			thread, err := threadArg(args)
			if err != nil {
				return err
			}
			submission := contract.Submission{ID: cmp.Or(s.id, contract.UndoID(args[1])), Text: args[1], Run: contract.RunUndo}
			if err := submission.Validate(); err != nil {
				return misused("turn %s: %w", args[1], err)
			}
			if err := c.connect(cmd.Context()); err != nil {
				return err
			}
			return c.send(cmd.Context(), s, thread, submission)
		},
	}
	s.flags(c, cmd)
	return cmd
}
