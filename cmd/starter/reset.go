package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/signals"
)

func (c *cli) resetCommand() *cobra.Command {
	var to signals.ResetTo
	var point string
	cmd := &cobra.Command{
		Use:   "reset <tenant>/<thread> --to <turn>|<event>",
		Short: "Take a thread back to an earlier point",
		Long: `Take a thread back to an earlier point, from where it goes on: to the beginning of a
turn, such as t3, or to an event of its workflow's history, by number. Messages and
decisions since then are given to it again.

A write that was made since then is not made again: if the thread asks for it alike, it
gets the outcome that the write had. What it asks for otherwise is another write, with
an approval of its own. The server remembers a write for 24 hours and the namespace's
retention; a point before an older write is refused.`,
		Example: `  starter reset acme/t1 --to t3 --reason "the model had a bad day"
  starter reset acme/t1 --to 42 --json`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			thread, err := threadArg(args)
			if err != nil {
				return err
			}
			if point == "" {
				return misused("--to: want a turn, such as t3, or the number of an event")
			}
			to.Turn = point
			if event, err := strconv.ParseInt(point, 10, 64); err == nil {
				to.Turn, to.Event = "", event
			}
			if err := c.connect(cmd.Context()); err != nil {
				return err
			}
			done, err := c.threads.Reset(cmd.Context(), thread, to)
			if err != nil {
				return err
			}
			return c.print(done, func(w io.Writer) {
				fmt.Fprintf(w, "%s: reset to event %d of run %s; it goes on as run %s\n", thread, done.Event, done.From, done.Run)
				if done.Writes > 0 {
					fmt.Fprintf(w, "Of the calls made since then %d were writes: each that is asked for alike has the outcome that it had.\n", done.Writes)
				}
			})
		},
	}
	cmd.Flags().StringVar(&point, "to", "", "turn or event to go back to")
	cmd.Flags().StringVar(&to.Reason, "reason", "", "why, for the record")
	return cmd
}
