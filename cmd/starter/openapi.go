package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/internal/netguard"
	"github.com/heddle-dev/heddle/providers/openapi"
)

func (c *cli) openapiCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "openapi",
		Short: "Look at OpenAPI specifications",
		Long: `Look at OpenAPI specifications, of which a worker makes tools. Neither a worker nor a
Temporal server is needed.`,
		Example: `  starter openapi inspect api/openapi.yaml`,
		Args:    arguments(0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.openapiInspectCommand())
	return cmd
}

// inspection is what a person asks to be looked at.
type inspection struct {
	namespace string
	root      string
	allow     []string
}

func (c *cli) openapiInspectCommand() *cobra.Command {
	var in inspection
	cmd := &cobra.Command{
		Use:   "inspect <spec>",
		Short: "Show the tools that a specification makes, and what is lost",
		Long: `Show each operation of a specification with the tool that it becomes, and each part
that is skipped or used with less than it says, with its JSON pointer and the reason.

The specification is a file, an https URL, or - for standard input; OpenAPI 3 or
Swagger 2, as JSON or YAML. Neither a worker nor a Temporal server is needed.

It fails when nothing of the specification can be used.`,
		Example: `  starter openapi inspect api/openapi.yaml
  starter openapi inspect https://api.example.com/openapi.json --namespace billing
  starter openapi inspect openapi.yaml --json | jq -r '.skipped[] | .pointer'`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return c.inspect(cmd.Context(), args[0], in) },
	}
	cmd.Flags().StringVar(&in.namespace, "namespace", "api", "namespace of the tools")
	cmd.Flags().StringVar(&in.root, "root", "", "folder that files it refers to must lie in (default: the file's own)")
	cmd.Flags().StringSliceVar(&in.allow, "allow", nil, "host that may be read from by plain http and at a private address, as host or host:port")
	return cmd
}

func (c *cli) inspect(ctx context.Context, from string, in inspection) error {
	client, err := netguard.New(netguard.Options{Allow: in.allow, MaxBody: openapi.MaxSpec, UserAgent: "heddle-starter"})
	if err != nil {
		return misused("--allow: %w", err)
	}
	defer client.Close()
	if err := openapi.CheckNamespace(in.namespace); err != nil {
		return misused("--namespace: %w", err)
	}
	location := openapi.Location{File: from, Root: in.root}
	switch {
	case from == "-":
		text, err := io.ReadAll(io.LimitReader(c.stdin, openapi.MaxSpec+1))
		if err != nil {
			return fmt.Errorf("read standard input: %w", err)
		}
		location = openapi.Location{Bytes: append([]byte{}, text...)}
	case strings.HasPrefix(from, "https://"), strings.HasPrefix(from, "http://"):
		location = openapi.Location{URL: from}
	}
	spec, err := openapi.Load(ctx, location, client)
	if err != nil {
		return err
	}
	report := spec.Report(in.namespace)
	if err := c.print(report, func(w io.Writer) { printReport(w, report) }); err != nil {
		return err
	}
	if report.Tools == 0 {
		return errors.New("the specification has no operation that can be used")
	}
	return nil
}

func printReport(w io.Writer, r openapi.Report) {
	fmt.Fprintf(w, "%s (%s): %d operations, %d tools, %d degraded, %d skipped, read in %d ms\n\n",
		clean(r.Title), clean(r.Version), r.Operations, r.Tools, len(r.Degraded), len(r.Skipped), r.LoadMS)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TOOL\tKIND\tOPERATION\tAUTH")
	for _, e := range r.List {
		kind := string(e.Operation)
		if e.Deprecated {
			kind += ", deprecated"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", clean(e.Signature), kind, clean(e.Endpoint), clean(strings.Join(e.Auth, " or ")))
	}
	_ = table.Flush() // as for the other lines, whoever reads is gone
	printNotes(w, "Skipped", r.Skipped)
	printNotes(w, "Degraded", r.Degraded)
}

func printNotes(w io.Writer, title string, notes []openapi.Note) {
	if len(notes) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s:\n", title)
	for _, n := range notes {
		fmt.Fprintf(w, "  %s\n    %s\n", clean(n.Pointer), clean(n.Reason))
	}
}
