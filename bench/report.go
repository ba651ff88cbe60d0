package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"text/tabwriter"
)

// Result is one measured figure.
type Result struct {
	// Name is stable: results of different days are compared by it.
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	// Unit is that of Value and Baseline, such as ms, events or bytes.
	Unit string `json:"unit"`
	// Baseline is what the same costs without Heddle, measured in the same run;
	// nil where there is nothing to compare with.
	Baseline *float64 `json:"baseline"`
	// Ratio is Value by Baseline; nil without a baseline.
	Ratio *float64 `json:"ratio"`
	// Skipped says why nothing was measured. Empty: it was.
	Skipped string `json:"skipped,omitempty"`
}

// Report collects results. The zero value is ready; it is safe for concurrent
// use.
type Report struct {
	mu      sync.Mutex
	results []Result
}

// Add adds a figure that stands for itself.
func (r *Report) Add(name string, value float64, unit string) error {
	return r.add(Result{Name: name, Value: value, Unit: unit})
}

// Compare adds a figure and its baseline, which must be greater than 0.
func (r *Report) Compare(name string, value, baseline float64, unit string) error {
	if !(baseline > 0) {
		return fmt.Errorf("result %s: baseline is %v, want more than 0", name, baseline)
	}
	ratio := value / baseline
	return r.add(Result{Name: name, Value: value, Unit: unit, Baseline: &baseline, Ratio: &ratio})
}

// Skip adds that nothing could be measured here, and why.
func (r *Report) Skip(name, reason string) error {
	return r.add(Result{Name: name, Skipped: reason})
}

func (r *Report) add(result Result) error {
	if math.IsNaN(result.Value) || math.IsInf(result.Value, 0) {
		return fmt.Errorf("result %s: value is %v, which is no measurement", result.Name, result.Value)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, other := range r.results {
		if other.Name == result.Name {
			return fmt.Errorf("result %s: is reported twice", result.Name)
		}
	}
	r.results = append(r.results, result)
	return nil
}

// Results returns the results so far, in the order in which they were added.
func (r *Report) Results() []Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Result{}, r.results...)
}

// WriteTable prints the results for people, in aligned columns.
func (r *Report) WriteTable(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "value\tunit\tbaseline\tratio\t  name")
	for _, result := range r.Results() {
		if result.Skipped != "" {
			fmt.Fprintf(table, "-\t-\t-\t-\t  %s: %s\n", result.Name, result.Skipped)
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t  %s\n", number(&result.Value), result.Unit,
			number(result.Baseline), number(result.Ratio), result.Name)
	}
	return table.Flush()
}

// WriteFile writes the results as a JSON list. The file is replaced as a whole
// or not at all.
func (r *Report) WriteFile(path string) error {
	text, err := json.MarshalIndent(r.Results(), "", "  ")
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".results-*")
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	defer os.Remove(file.Name()) // fails once it has its name
	_, err = file.Write(append(text, '\n'))
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Chmod(file.Name(), 0o644) //nolint:gosec // meant to be read by anybody
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	return nil
}

// number prints three significant digits, and whole numbers in full.
func number(value *float64) string {
	switch {
	case value == nil:
		return "-"
	case *value == math.Trunc(*value), math.Abs(*value) >= 1000:
		return strconv.FormatFloat(*value, 'f', 0, 64)
	}
	digits := max(0, 2-int(math.Floor(math.Log10(math.Abs(*value)))))
	return strconv.FormatFloat(*value, 'f', digits, 64)
}
