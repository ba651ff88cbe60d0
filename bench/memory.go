package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// childMemory reports the resident memory of the largest process that runs
// snippets, after all the others have.
func (s *stage) childMemory(_ context.Context, report *Report) error {
	const name = "codemode_child_memory"
	own := strconv.Itoa(os.Getpid())
	program, err := os.Executable()
	if err != nil {
		return err
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return report.Skip(name, "this system has no /proc to read it from")
	}
	largest := 0
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// The name of the program is in parentheses and may hold anything.
		_, after, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(after)
		if len(fields) < 22 || fields[1] != own {
			continue
		}
		if child, err := os.Readlink(filepath.Join(filepath.Dir(path), "exe")); err != nil || child != program {
			continue
		}
		pages, err := strconv.Atoi(fields[21])
		if err != nil {
			return fmt.Errorf("%s: resident pages: %w", path, err)
		}
		largest = max(largest, pages*os.Getpagesize())
	}
	if largest == 0 {
		return report.Skip(name, "no child process of this program was found")
	}
	return report.Add(name, float64(largest)/(1<<20), "MiB")
}
