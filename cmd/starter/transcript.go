package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/signals/contract"
)

func (c *cli) transcriptCommand() *cobra.Command {
	var from, to int
	cmd := &cobra.Command{
		Use:   "transcript <tenant>/<thread>",
		Short: "Print what was said, and what the tools returned",
		Long: `Print the thread's messages: what the user said, what the agent said and asked for,
and what the tools returned.

With --json each message is a JSON value on a line of its own.`,
		Example: `  starter transcript acme/t1
  starter transcript acme/t1 --from 10 --to 20
  starter transcript acme/t1 --json > t1.jsonl`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			thread, err := threadArg(args)
			if err != nil {
				return err
			}
			if from < 0 || to != 0 && to < from {
				return misused("--from %d --to %d: want 0 <= from <= to", from, to)
			}
			if err := c.connect(cmd.Context()); err != nil {
				return err
			}
			if _, err := c.state(cmd.Context(), thread); err != nil {
				return err // there is such a thread, and a worker to read it
			}
			view := newTimeline(c.stdout, c.screen(), "")
			for message, err := range c.threads.Messages(cmd.Context(), thread, from, to) {
				if err != nil {
					return err
				}
				if !c.json {
					drawMessage(view, message)
					continue
				}
				if err := c.printJSON(message); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().IntVar(&from, "from", 0, "first message, from 0")
	cmd.Flags().IntVar(&to, "to", 0, "message to stop before; 0 means to the end")
	return cmd
}

// drawMessage prints a message of the transcript.
func drawMessage(view *timeline, m contract.Message) {
	glyphs := map[contract.Role]string{contract.RoleUser: "●", contract.RoleAssistant: "◆", contract.RoleTool: "·"}
	r := row{glyph: glyphs[m.Role], label: string(m.Role), meta: []string{fmt.Sprintf("#%d %s", m.Index, m.Turn)}}
	if m.User != "" { // it is not the thread's user who wrote it
		r.meta = append(r.meta, "by "+clean(m.User))
	}
	switch m.Role {
	case contract.RoleTool:
		r.text, r.body = m.Tool, m.Text
		if m.Problem != nil {
			r.glyph, r.colour, r.body = "✗", red, m.Problem.Error()
		}
	default:
		r.colour, r.body = cyan, m.Text
	}
	if m.Body != nil {
		r.body += fmt.Sprintf("\n… (%d bytes in all)", m.Body.Size)
	}
	if r.body != "" || r.text != "" {
		view.row(r)
	}
	for _, call := range m.Calls {
		view.row(row{indent: 2, glyph: "→", text: call.Tool + " " + string(call.Input)})
	}
}
