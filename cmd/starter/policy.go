package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/policy"
	"github.com/heddle-dev/heddle/internal/config"
)

func (c *cli) policyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Ask what a policy makes of calls",
		Long: `Ask what the modes and the policy of a heddle.yaml make of calls. Neither a worker nor
a Temporal server is needed. Rules that a worker's program adds are not seen.`,
		Example: `  starter policy explain orders.refund --input '{"cents": 20000}' --agent support
  starter policy test policy_cases.yaml`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.policyExplainCommand(), c.policyTestCommand())
	return cmd
}

// explaining are the flags of policy explain.
type explaining struct {
	config, input, resource, at string
	operation, approval         string
	tool                        catalog.Descriptor
	scope                       catalog.Scope
}

func (c *cli) policyExplainCommand() *cobra.Command {
	var in explaining
	cmd := &cobra.Command{
		Use:   "explain <tool>",
		Short: "Show which rules are looked at for a call, and which decides",
		Long: `Show for one call each rule that is looked at, in order, which one decides and why, and
what becomes of the call.

What a rule can ask of the tool is told by flags: --operation, --capability, --tag,
--approval. Without them it is a write that needs the capability of its namespace.

With --json it prints one JSON value.`,
		Example: `  starter policy explain orders.refund --input '{"cents": 20000}' --agent support
  starter policy explain orders.get --operation read --mode ask --tenant acme --json
  starter policy explain orders.refund --input @call.json --role manager --at 2026-11-30T23:00:00+01:00`,
		Args: arguments(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			in.tool.ID = args[0]
			return c.explain(in)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&in.config, "config", "heddle.yaml", "configuration file")
	flags.StringVar(&in.input, "input", "{}", "input of the call as JSON; @FILE reads a file, - standard input")
	flags.StringVar(&in.operation, "operation", string(catalog.Write), "read or write")
	flags.StringSliceVar(&in.tool.Capabilities, "capability", nil, "capability that the tool needs")
	flags.StringSliceVar(&in.tool.Tags, "tag", nil, "tag of the tool")
	flags.StringVar(&in.approval, "approval", "", "the tool's own rule: always or never; empty asks for writes")
	flags.StringVar(&in.resource, "resource", "", "resource key of the call")
	flags.StringVar(&in.scope.Agent, "agent", "", "agent that calls")
	flags.StringVar(&in.scope.Mode, "mode", "", "mode of the thread (default: the agent's own)")
	flags.StringVar(&in.scope.Tenant, "tenant", "default", "tenant of the thread")
	flags.StringVar(&in.scope.User, "user", "", "user of the thread")
	flags.StringSliceVar(&in.scope.Roles, "role", nil, "role of the user")
	flags.StringVar(&in.at, "at", "", "time of the call, such as 2026-11-30T23:00:00Z (default: now)")
	return cmd
}

func (c *cli) explain(in explaining) error {
	if err := catalog.CheckID(in.tool.ID); err != nil {
		return usageError{err}
	}
	in.tool.Operation, in.tool.Approval = catalog.Operation(in.operation), catalog.Approval(in.approval)
	switch {
	case in.tool.Operation != catalog.Read && in.tool.Operation != catalog.Write:
		return misused("--operation %q: want read or write", in.operation)
	case in.tool.Approval != catalog.ApprovalDefault && in.tool.Approval != catalog.ApprovalAlways && in.tool.Approval != catalog.ApprovalNever:
		return misused("--approval %q: want always, never or nothing", in.approval)
	}
	q := catalog.Question{Tool: in.tool, Scope: in.scope, Now: time.Now()}
	if in.at != "" {
		at, err := time.Parse(time.RFC3339, in.at)
		if err != nil {
			return misused("--at %q: want a time such as 2026-11-30T23:00:00Z", in.at)
		}
		q.Now = at
	}
	var err error
	if q.Input, err = c.jsonObject("--input", in.input); err != nil {
		return err
	}
	rules, err := loadPolicy(in.config)
	if err != nil {
		return err
	}
	rehearsed := rules.rehearse(q, in.resource)
	return c.print(rehearsed, func(w io.Writer) { printRehearsal(w, rehearsed) })
}

// jsonObject reads a flag's JSON object: the text itself, @FILE or - for standard
// input.
func (c *cli) jsonObject(flag, text string) (json.RawMessage, error) {
	path, isFile := strings.CutPrefix(text, "@")
	if isFile || text == "-" {
		if err := c.read(path, func(r io.Reader) error {
			content, err := io.ReadAll(io.LimitReader(r, catalog.MaxInput+1))
			text = string(content)
			return err
		}); err != nil {
			return nil, err
		}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &object); err != nil || object == nil {
		return nil, misused("%s: is no JSON object: %w", flag, err)
	}
	return json.RawMessage(text), nil
}

// loadedPolicy is what a configuration file says of calls.
type loadedPolicy struct {
	rules *policy.Policy
	modes catalog.Modes
	// ofAgents are the modes of agents.
	ofAgents map[string]string
}

func loadPolicy(path string) (*loadedPolicy, error) {
	file, err := config.Load(path)
	if err != nil {
		return nil, err
	}
	loaded := &loadedPolicy{ofAgents: map[string]string{}}
	if loaded.modes, err = catalog.NewModes(file.Modes...); err != nil {
		return nil, err
	}
	if loaded.rules, err = file.CompilePolicy(policy.Set{Modes: loaded.modes.Names()}); err != nil {
		return nil, err
	}
	for _, agent := range file.Agents {
		loaded.ofAgents[agent.Name] = agent.Mode
	}
	return loaded, nil
}

func (p *loadedPolicy) rehearse(q catalog.Question, resource string) policy.Rehearsal {
	if q.Scope.Mode == "" {
		q.Scope.Mode = p.ofAgents[q.Scope.Agent]
	}
	return p.rules.Rehearse(p.modes, q, resource)
}

func printRehearsal(w io.Writer, r policy.Rehearsal) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, step := range r.Steps {
		if i == 0 {
			fmt.Fprintln(table, "SCOPE\tRULE\tEFFECT\tTAKES IT\tWHY\tPLACE")
		}
		taken := "no"
		if step.Taken {
			taken = "yes"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", step.Scope, clean(step.Rule), step.Effect, taken, cut(clean(step.Why), 80), clean(step.Place))
	}
	_ = table.Flush() // as for the other lines, whoever reads is gone
	if len(r.Steps) > 0 {
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, outcome(r))
}

// outcome says in a line what becomes of a call.
func outcome(r policy.Rehearsal) string {
	text := map[policy.Effect]string{policy.Allow: "allowed", policy.Ask: "asked", policy.Block: "blocked"}[r.Effect]
	if r.Rule != "" {
		text += fmt.Sprintf(" by rule %s of the %s (%s)", clean(r.Rule), r.Scope, clean(r.Place))
	}
	if r.Approvers > 0 {
		text += fmt.Sprintf(", %d must agree", r.Approvers)
	}
	if r.Reason != "" {
		text += ": " + clean(r.Reason)
	}
	return text
}
