package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// opening are the flags that say for whom a thread is opened.
type opening struct {
	agent, user string
	roles       []string
	// policyFile has rules for all calls of the thread, which policy then holds.
	policyFile string
	policy     []contract.Rule
}

func (o *opening) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.agent, "agent", "", "agent that the thread talks to")
	cmd.Flags().StringVar(&o.user, "user", "", "person on whose behalf the thread acts")
	cmd.Flags().StringSliceVar(&o.roles, "role", nil, "role of that person, repeatable")
}

func (o *opening) start(thread contract.ThreadRef) contract.Start {
	return contract.Start{ThreadRef: thread, Agent: o.agent, User: o.user, Roles: o.roles, Policy: o.policy}
}

// explain says what to do about a thread that belongs to a user where none is
// named; whose it is, is not told.
func (o *opening) explain(err error) error {
	var refusal *signals.Error
	if o.user == "" && errors.As(err, &refusal) && refusal.Code == contract.ErrThreadConflict &&
		strings.HasPrefix(refusal.Message, "user: ") {
		return &signals.Error{Code: refusal.Code, Message: "the thread belongs to a user: name the user with --user"}
	}
	return err
}

func (c *cli) openCommand() *cobra.Command {
	var opening opening
	cmd := &cobra.Command{
		Use:   "open <tenant>/<thread> --agent <name>",
		Short: "Open a thread",
		Long: `Open a thread. One that is open already with the same agent and user is fine.

--policy names a YAML file with a list of rules, as docs/policy.md describes them, for
all calls of the thread. They tighten what the workers say and loosen nothing. A
thread keeps the rules that it was opened with.

The server takes it whether or not a worker runs; send opens a thread too.`,
		Example: `  starter open acme/t1 --agent support --user ann
  starter open acme/t1 --agent support --user ann --role manager --json
  starter open acme/t1 --agent support --user ann --policy unverified.yaml`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			thread, err := threadArg(args)
			if err != nil {
				return err
			}
			if opening.policy, err = rulesOf(opening.policyFile); err != nil {
				return err
			}
			start := opening.start(thread)
			if err := start.Validate(); err != nil {
				return misused("%w", err)
			}
			if err := c.connect(cmd.Context()); err != nil {
				return err
			}
			if err := c.threads.Open(cmd.Context(), start); err != nil {
				return opening.explain(err)
			}
			return c.print(opened{start, start.WorkflowID(), c.link(thread)}, func(w io.Writer) {
				fmt.Fprintf(w, "%s is open\n", thread)
				c.printLink(w, thread)
			})
		},
	}
	opening.register(cmd)
	cmd.Flags().StringVar(&opening.policyFile, "policy", "", "file with rules for all calls of the thread")
	return cmd
}

// opened is what open prints as JSON.
type opened struct {
	contract.Start
	WorkflowID string `json:"workflow_id"`
	UI         string `json:"ui,omitempty"`
}

func (c *cli) printLink(w io.Writer, thread contract.ThreadRef) {
	if link := c.link(thread); link != "" {
		fmt.Fprintln(w, "Temporal UI: "+link)
	}
}
