package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/signals/contract"
)

func (c *cli) stateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "state <tenant>/<thread>",
		Short: "Say what a thread is doing",
		Long:  "Say what a thread is doing: its turn, its queue, what it waits for, what it has used.",
		Example: `  starter state acme/t1
  starter state acme/t1 --json | jq .pending`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			thread, err := threadArg(args)
			if err != nil {
				return err
			}
			if err := c.connect(cmd.Context()); err != nil {
				return err
			}
			state, err := c.state(cmd.Context(), thread)
			if err != nil {
				return err
			}
			return c.print(state, func(w io.Writer) { c.printState(w, state) })
		},
	}
}

func (c *cli) printState(w io.Writer, s contract.State) {
	view := newTimeline(w, c.screen(), s.Agent)
	line := func(label, format string, args ...any) {
		view.row(row{glyph: " ", label: label, text: fmt.Sprintf(format, args...)})
	}
	line("thread", "%s", s.ThreadRef)
	line("agent", "%s", s.Agent)
	if s.User != "" {
		line("user", "%s %s", s.User, strings.Join(s.Roles, ","))
	}
	line("status", "%s", s.Status)
	if s.Turn != nil {
		line("turn", "%s %s, %s", s.Turn.ID, s.Turn.Status, count(s.Turn.Steps, "model turn"))
	}
	for _, a := range s.Pending {
		line("waits", "%s for approval %s, %s", a.Tool, a.ID, view.expiry(&a))
		view.quote(a)
	}
	for _, r := range s.Reconciliations {
		if r.AskedAt != nil {
			line("unknown", "whether %s was applied; find out, and say so:", r.Tool)
			view.lines([]string{fmt.Sprintf("starter reconcile %s/%s applied|not-applied|abandon", s.ThreadRef, r.ID)}, plain)
		}
	}
	for _, q := range s.Questions {
		line("waits", "%s for an answer, %s", q.Tool, view.until(q.ExpiresAt))
		view.question(q)
	}
	if len(s.Queue) > 0 {
		line("queue", "%s", count(len(s.Queue), "turn"))
	}
	if n := len(s.Recent); n > 0 {
		last := s.Recent[n-1]
		problem := ""
		if last.Problem != nil {
			problem = last.Problem.Error()
		}
		line("last", "%s %s: %s", last.ID, last.Status, cmp.Or(last.Answer, problem))
	}
	line("messages", "%d", s.Messages)
	line("usage", "%s, %s", cmp.Or(strings.Join(tokens(&s.Usage), ", "), "no tokens"), count(s.Usage.Calls, "call"))
	if link := c.link(s.ThreadRef); link != "" {
		line("ui", "%s", link)
	}
}
