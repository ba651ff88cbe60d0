package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/signals/contract"
)

func (c *cli) cancelCommand() *cobra.Command {
	var reason string
	var undo bool
	cmd := &cobra.Command{
		Use:   "cancel <tenant>/<thread> [turn]",
		Short: "End a turn",
		Long: `End a turn: the running one unless another is named. Reads stop and approvals are
withdrawn; a write that was sent is let to its end and recorded. The thread goes on
with its next message. With --undo, what the turn has written is undone first, as the
command undo does.

The command asks and does not wait: a refusal, such as for a turn that has ended,
shows in the thread's timeline.`,
		Example: `  starter cancel acme/t1
  starter cancel acme/t1 t4 --reason "asked twice"
  starter cancel acme/t1 --undo`,
		Args: arguments(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			thread, err := threadArg(args)
			if err != nil {
				return err
			}
			cancel := contract.CancelTurn{Reason: reason, Undo: undo}
			if len(args) > 1 {
				cancel.Turn = args[1]
			}
			if err := c.connect(cmd.Context()); err != nil {
				return err
			}
			if err := c.threads.Cancel(cmd.Context(), thread, cancel); err != nil {
				return err
			}
			return c.print(cancel, func(w io.Writer) {
				turn := "the running turn"
				if cancel.Turn != "" {
					turn = "turn " + cancel.Turn
				}
				fmt.Fprintf(w, "%s: asked to cancel %s\n", thread, turn)
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the record")
	cmd.Flags().BoolVar(&undo, "undo", false, "undo what the turn has written")
	return cmd
}

func (c *cli) closeCommand() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "close <tenant>/<thread>",
		Short: "End a thread",
		Long: `End a thread: its running and queued turns are cancelled, and it takes no more
messages. What it did can still be read.`,
		Example: `  starter close acme/t1
  starter close acme/t1 --reason "resolved" --json`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			thread, err := threadArg(args)
			if err != nil {
				return err
			}
			closing := contract.Close{Reason: reason}
			if err := c.connect(cmd.Context()); err != nil {
				return err
			}
			if err := c.threads.Close(cmd.Context(), thread, closing); err != nil {
				return err
			}
			return c.print(closing, func(w io.Writer) { fmt.Fprintf(w, "%s: asked to close\n", thread) })
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the record")
	return cmd
}
