package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/catalog/policy"
	"github.com/heddle-dev/heddle/internal/config"
)

func (c *cli) policyTestCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "test <cases>",
		Short: "Test a policy by a file of cases",
		Long: `Test a policy by a YAML file of cases: calls, and what is to become of them. It fails
if one comes out otherwise, so that it can guard a heddle.yaml in CI.

  config: heddle.yaml        # beside the file, if left out
  tools:
    orders.refund: {operation: write, tags: [money]}
  cases:
    - name: large refunds take two people
      tool: orders.refund
      agent: support
      input: {cents: 20000}
      want: ask              # allow, ask or block
      rule: large-refunds    # may be left out, as may approvers
      approvers: 2

A case may also have resource, tenant, user, roles, thread, mode, and at: a time
such as "2026-11-30T23:00:00Z".

With --json each case is a JSON value on a line of its own.`,
		Example: `  starter policy test policy_cases.yaml
  starter policy test policy_cases.yaml --config deploy/heddle.yaml --json`,
		Args: arguments(1, 1),
		RunE: func(_ *cobra.Command, args []string) error { return c.testPolicy(args[0], file) },
	}
	cmd.Flags().StringVar(&file, "config", "", "configuration file (default: the one that the cases name)")
	return cmd
}

// verdict is how one case came out.
type verdict struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Place is that of the case, Wrong what came out otherwise.
	Place string           `json:"place"`
	Wrong string           `json:"wrong,omitempty"`
	Got   policy.Rehearsal `json:"got"`
}

func (c *cli) testPolicy(path, file string) error {
	cases, err := config.LoadPolicyCases(path)
	if err != nil {
		return err
	}
	if file == "" {
		file = cases.Config
	}
	rules, err := loadPolicy(file)
	if err != nil {
		return err
	}
	failed := 0
	for _, one := range cases.Cases {
		v := judge(one, rules.rehearse(one.Question, one.Resource))
		if !v.OK {
			failed++
		}
		if err := c.print(v, func(w io.Writer) { printVerdict(w, v) }); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %s came out otherwise", failed, count(len(cases.Cases), "case"))
	}
	if c.json {
		return nil
	}
	_, err = fmt.Fprintf(c.stdout, "%s, all as wanted\n", count(len(cases.Cases), "case"))
	return err
}

func judge(one config.PolicyCase, got policy.Rehearsal) verdict {
	var wrong []error
	if got.Effect != one.Want {
		wrong = append(wrong, fmt.Errorf("want %s, got %s", one.Want, got.Effect))
	}
	if one.Rule != "" && got.Rule != one.Rule {
		wrong = append(wrong, fmt.Errorf("want it decided by rule %q, got %q", one.Rule, got.Rule))
	}
	if one.Approvers != 0 && got.Approvers != one.Approvers {
		wrong = append(wrong, fmt.Errorf("want %d approvers, got %d", one.Approvers, got.Approvers))
	}
	v := verdict{Name: one.Name, OK: len(wrong) == 0, Place: one.Place, Got: got}
	if err := errors.Join(wrong...); err != nil {
		v.Wrong = oneLine(err)
	}
	return v
}

func printVerdict(w io.Writer, v verdict) {
	if v.OK {
		fmt.Fprintf(w, "ok    %s\n", clean(v.Name))
		return
	}
	fmt.Fprintf(w, "FAIL  %s (%s): %s\n      it is %s\n", clean(v.Name), clean(v.Place), clean(v.Wrong), outcome(v.Got))
}
