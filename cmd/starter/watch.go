package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/signals/contract"
)

func (c *cli) watchCommand() *cobra.Command {
	var turn string
	var after int64
	cmd := &cobra.Command{
		Use:   "watch <tenant>/<thread>",
		Short: "Follow a thread's timeline",
		Long: `Follow a thread's timeline until the thread is closed, or with --turn until that
turn has ended. Watching writes nothing to the thread's history.

With --json each line is {"part": ...}; its seq is what --after takes to go on from
there.

` + exitCodesHelp,
		Example: `  starter watch acme/t1
  starter watch acme/t1 --turn t3
  starter watch acme/t1 --after 42 --json`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			thread, err := threadArg(args)
			if err != nil {
				return err
			}
			if after < 0 {
				return misused("--after %d: want 0 or more", after)
			}
			if err := c.connect(cmd.Context()); err != nil {
				return err
			}
			state, err := c.state(cmd.Context(), thread)
			if err != nil {
				return err
			}
			view := newTimeline(c.stdout, c.screen(), state.Agent)
			view.quoting = true
			defer view.wipe()
			if turn == "" {
				return c.watch(cmd.Context(), thread, after, view)
			}
			if !current(state, turn) {
				// It ended long ago, which is told at once, or is not the thread's.
				if _, err := c.threads.Wait(cmd.Context(), thread, turn); err != nil {
					return err
				}
			}
			view.turn = turn
			v := &conversation{cli: c, thread: thread, turn: turn, view: view, decide: byOthers}
			_, err = v.follow(cmd.Context(), after)
			return err
		},
	}
	cmd.Flags().StringVar(&turn, "turn", "", "follow only this turn, to its end")
	cmd.Flags().Int64Var(&after, "after", 0, "show only what came after this sequence number")
	return cmd
}

func (c *cli) watch(ctx context.Context, thread contract.ThreadRef, after int64, view *timeline) error {
	for part, err := range c.threads.Watch(ctx, thread, after) {
		if err != nil {
			return err
		}
		if !c.json {
			view.show(part)
			continue
		}
		if err := c.printJSON(map[string]contract.Part{"part": part}); err != nil {
			return err
		}
	}
	view.release()
	if !c.json {
		fmt.Fprintf(c.stdout, "%s is closed\n", thread)
	}
	return nil
}

// current reports whether a turn runs or waits for the turns before it.
func current(state contract.State, turn string) bool {
	if state.Turn != nil && state.Turn.ID == turn {
		return true
	}
	return slices.ContainsFunc(state.Queue, func(t contract.Turn) bool { return t.ID == turn })
}
