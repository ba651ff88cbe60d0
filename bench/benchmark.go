package bench

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Benchmark measures one thing.
type Benchmark struct {
	// Name is what the command's -only flag selects by.
	Name string
	// Run measures and reports. It ends soon after ctx does, and leaves nothing
	// running.
	Run func(ctx context.Context, report *Report) error
}

// All are the benchmarks, in the order in which they run.
var All = []Benchmark{
	{"dispatch", dispatch},
	{"calls", calls},
	{"first-model", firstModel},
	{"history", history},
	{"codemode", snippets},
	{"search", searching},
	{"sources", sources},
	{"openapi-spec", largeSpec},
	{"openapi-call", httpCall},
	{"mcp-call", mcpCall},
}

// pairs runs two things in turn, n times, and returns the median duration of
// each: what disturbs the machine for a while disturbs both.
func pairs(ctx context.Context, n int, ours, baseline func(context.Context) error) (oursMedian, baselineMedian time.Duration, err error) {
	sides := []func(context.Context) error{ours, baseline}
	times := make([][]time.Duration, len(sides))
	for range n {
		for i, run := range sides {
			began := time.Now()
			if err := run(ctx); err != nil {
				return 0, 0, err
			}
			times[i] = append(times[i], time.Since(began))
			if err := ctx.Err(); err != nil {
				return 0, 0, fmt.Errorf("benchmark was ended: %w", err)
			}
		}
	}
	return median(times[0]), median(times[1]), nil
}

// median of at least one duration; the upper one of an even number.
func median(times []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(times))[len(times)/2]
}
