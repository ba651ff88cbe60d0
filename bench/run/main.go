package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"

	"github.com/heddle-dev/heddle/bench"
)

func main() {
	if child, err := bench.Child(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	} else if child {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	only := flag.String("only", "", "run the benchmarks whose name matches this `regexp`")
	output := flag.String("o", "", "write the results to this `file`")
	flag.Parse()
	err := run(ctx, *only, *output, os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// run measures all that matches, also after one has failed, and reports what
// there is. A file is written only when all has been measured.
func run(ctx context.Context, only, output string, stdout, progress io.Writer) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	var report bench.Report
	var failures []error
	ran := 0
	for _, benchmark := range bench.All {
		if !pattern.MatchString(benchmark.Name) {
			continue
		}
		ran++
		fmt.Fprintf(progress, "%s ...", benchmark.Name)
		began := time.Now()
		err := benchmark.Run(ctx, &report)
		fmt.Fprintf(progress, " %.1f s\n", time.Since(began).Seconds())
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", benchmark.Name, err))
		}
	}
	if ran == 0 {
		return fmt.Errorf("-only: no benchmark matches %q", only)
	}
	if err := report.WriteTable(stdout); err != nil {
		return err
	}
	if len(failures) == 0 && output != "" {
		failures = append(failures, report.WriteFile(output))
	}
	return errors.Join(failures...)
}
