package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/heddle-dev/heddle/signals/contract"
)

func (c *cli) toolsCommand() *cobra.Command {
	var in contract.ListTools
	cmd := &cobra.Command{
		Use:   "tools --agent <name>",
		Short: "List the tools that an agent may use",
		Long: `List the tools that an agent may use, as a worker sees them. It takes a running
worker, which answers through a small workflow of its own.

With --json each tool is a JSON value on a line of its own.`,
		Example: `  starter tools --agent support
  starter tools --agent support --tenant acme --json | jq -r .id`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ref := contract.ThreadRef{Tenant: in.Tenant, Thread: "-"}
			if err := (contract.Start{ThreadRef: ref, Agent: in.Agent}).Validate(); err != nil {
				return misused("--%w", err)
			}
			if err := c.connect(cmd.Context()); err != nil {
				return err
			}
			tools, err := c.tools(cmd.Context(), in)
			if err != nil {
				return err
			}
			if c.json {
				for _, tool := range tools {
					if err := c.printJSON(tool); err != nil {
						return err
					}
				}
				return nil
			}
			return c.printTools(c.stdout, in.Agent, tools)
		},
	}
	cmd.Flags().StringVar(&in.Agent, "agent", "", "agent to ask about")
	cmd.Flags().StringVar(&in.Tenant, "tenant", "default", "tenant on whose behalf the agent would act")
	return cmd
}

// tools asks a worker.
func (c *cli) tools(ctx context.Context, in contract.ListTools) ([]contract.Tool, error) {
	run, err := c.temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		TaskQueue:                c.taskQueue,
		WorkflowExecutionTimeout: workerTimeout,
		StaticSummary:            "tools of " + in.Agent,
	}, contract.ListToolsType, in)
	if err != nil {
		return nil, fmt.Errorf("list the tools of %s: %w", in.Agent, err)
	}
	var listed contract.Tools
	err = run.Get(ctx, &listed)
	var late *temporal.TimeoutError
	var refused *temporal.ApplicationError
	switch {
	case errors.As(err, &late):
		return nil, fmt.Errorf("no worker answers on task queue %s after %s", c.taskQueue, workerTimeout)
	case errors.As(err, &refused):
		return nil, fmt.Errorf("list the tools of %s: %s", in.Agent, refused.Message())
	case err != nil:
		return nil, fmt.Errorf("list the tools of %s: %w", in.Agent, err)
	}
	return listed.Tools, nil
}

func (c *cli) printTools(w io.Writer, agent string, tools []contract.Tool) error {
	if len(tools) == 0 {
		fmt.Fprintf(w, "%s may use no tool\n", agent)
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TOOL\tKIND\tAPPROVAL\tDESCRIPTION")
	for _, tool := range tools {
		approval := "no"
		if tool.NeedsApproval {
			approval = "yes"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", clean(tool.ID), clean(tool.Operation), approval, cut(clean(tool.Description), 60))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}
