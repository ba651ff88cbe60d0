package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/heddle-dev/heddle/catalog/search"
	"github.com/heddle-dev/heddle/catalog/search/evaluate"
)

func (c *cli) catalogCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "catalog",
		Short:   "Look at a catalog of tools",
		Long:    `Look at a catalog of tools. Neither a worker nor a Temporal server is needed.`,
		Example: `  starter catalog eval --tools tools.jsonl --queries queries.jsonl`,
		Args:    arguments(0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.catalogEvalCommand())
	return cmd
}

// evaluation says what to measure with.
type evaluation struct {
	tools, queries string
	misses         int
}

func (c *cli) catalogEvalCommand() *cobra.Command {
	var in evaluation
	cmd := &cobra.Command{
		Use:   "eval --tools <file> --queries <file>",
		Short: "Measure how well tools are found",
		Long: `Measure how well the tools of a set are found by what people and models ask for, and
so how findable one's own names and descriptions are. Neither a worker nor a Temporal
server is needed.

Both files have a JSON value a line: a tool with its id, name, description and the JSON
Schema of its parameters; a query and the ids of the tools that do what it asks for.
- is standard input.

  {"id": "orders.refund", "name": "refund", "description": "Pays an order back.",
   "parameters": {"type": "object", "properties": {"order": {"description": "number"}}}}
  {"query": "I want my money back", "relevant": ["orders.refund"]}

hit@1 is how often the first hit is a relevant tool, recall@5 and recall@10 how many of
the relevant tools are among the first five and ten, ndcg@10 how far up they are: all
in percent, of at best 100. p50_ms is the median time of a search. Relevant tools of
the same name are versions of one and count once.

--misses lists queries that find no relevant tool among the first ten.`,
		Example: `  starter catalog eval --tools tools.jsonl --queries queries.jsonl --misses 20
  starter catalog eval --tools tools.jsonl --queries queries.jsonl --json | jq '."ndcg@10"'`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.evaluate(cmd.Context(), in) },
	}
	cmd.Flags().StringVar(&in.tools, "tools", "", "file of tools, a JSON value a line")
	cmd.Flags().StringVar(&in.queries, "queries", "", "file of queries, a JSON value a line")
	cmd.Flags().IntVar(&in.misses, "misses", 0, "list at most this many queries that find nothing relevant")
	return cmd
}

func (c *cli) evaluate(ctx context.Context, in evaluation) error {
	switch {
	case in.tools == "":
		return misused("--tools: give the file of tools")
	case in.queries == "":
		return misused("--queries: give the file of queries")
	case in.tools == "-" && in.queries == "-":
		return misused("--tools and --queries cannot both be standard input")
	case in.misses < 0:
		return misused("--misses %d: want 0 or more", in.misses)
	case in.misses > 0 && c.json:
		return misused("--misses does not go with --json")
	}
	var tools []search.Document
	if err := c.read(in.tools, func(r io.Reader) (err error) {
		tools, err = evaluate.ReadTools(r, in.tools)
		return err
	}); err != nil {
		return err
	}
	var queries []evaluate.Query
	if err := c.read(in.queries, func(r io.Reader) (err error) {
		queries, err = evaluate.ReadQueries(r, in.queries, tools)
		return err
	}); err != nil {
		return err
	}
	began := time.Now()
	index := search.Build(tools)
	built := time.Since(began)

	var missed []evaluate.Outcome
	progress := c.progress(len(queries))
	figures, err := evaluate.Run(ctx, index, queries, func(outcome evaluate.Outcome) {
		progress.step()
		if outcome.Found == 0 {
			missed = append(missed, outcome)
		}
	})
	progress.end()
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(figures)
	}
	fmt.Fprintf(c.stdout, "%d tools, indexed in %.0f ms; %d queries\n\n", len(tools), built.Seconds()*1000, len(queries))
	return c.printFigures(figures, missed, in.misses)
}

func (c *cli) printFigures(f evaluate.Figures, missed []evaluate.Outcome, list int) error {
	table := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "HIT@1\tRECALL@5\tRECALL@10\tNDCG@10\tP50 MS\t")
	fmt.Fprintf(table, "%.1f\t%.1f\t%.1f\t%.1f\t%.3f\t\n", f.HitAt1, f.RecallAt5, f.RecallAt10, f.NDCGAt10, f.P50MS)
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	if len(missed) > 0 {
		fmt.Fprintf(c.stdout, "\n%d queries find no relevant tool among the first ten\n", len(missed))
	}
	for _, outcome := range missed[:min(list, len(missed))] {
		first := "nothing"
		if len(outcome.Hits) > 0 {
			first = strings.Join(outcome.Hits[:min(3, len(outcome.Hits))], ", ")
		}
		fmt.Fprintf(c.stdout, "  %s\n    finds %s\n", cut(clean(outcome.Query.Text), 100), clean(first))
	}
	return nil
}

// read calls use with what is in a file, or with standard input for -.
func (c *cli) read(path string, use func(io.Reader) error) error {
	if path == "-" {
		return use(c.stdin)
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return use(file)
}

// progress shows on a terminal how far something long has come.
type progress struct {
	out         io.Writer // nil: nowhere
	done, total int
	next        time.Time
	shown       bool
}

// showEvery is how often progress is shown, and how long nothing is at first.
const showEvery = 500 * time.Millisecond

func (c *cli) progress(total int) *progress {
	p := &progress{total: total, next: time.Now().Add(showEvery)}
	if c.isTerminal(c.stderr) {
		p.out = c.stderr
	}
	return p
}

func (p *progress) step() {
	p.done++
	if now := time.Now(); p.out != nil && now.After(p.next) {
		p.next, p.shown = now.Add(showEvery), true
		fmt.Fprintf(p.out, "\r%d of %d queries", p.done, p.total)
	}
}

func (p *progress) end() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
