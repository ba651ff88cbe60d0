package bench

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTableIsAligned(t *testing.T) {
	report := sampleReport(t)
	var table strings.Builder
	if err := report.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	want := `
    value    unit  baseline        ratio  name
     12.5      us        10         1.25  call
       48  events         -            -  events
  0.00123      ms      4097  0.000000300  small
`
	if got := "\n" + table.String(); got != want {
		t.Errorf("table is%s\nwant%s", got, want)
	}
}

func TestFileIsAListOfResults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	if err := os.WriteFile(path, []byte("older and longer than what follows"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sampleReport(t).WriteFile(path); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `[
  {
    "name": "call",
    "value": 12.5,
    "unit": "us",
    "baseline": 10,
    "ratio": 1.25
  },
  {
    "name": "events",
    "value": 48,
    "unit": "events",
    "baseline": null,
    "ratio": null
  },`
	if !strings.HasPrefix(string(got), want) {
		t.Errorf("file begins with\n%s\nwant\n%s", got[:min(len(got), len(want))], want)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".results-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestEmptyReportIsAnEmptyList(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	if err := new(Report).WriteFile(path); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "[]\n" {
		t.Errorf("file holds %q, %v, want an empty list", got, err)
	}
}

func TestUnwritableFileIsAnError(t *testing.T) {
	if err := new(Report).WriteFile(filepath.Join(t.TempDir(), "missing", "results.json")); err == nil {
		t.Error("writing into a folder that is not there succeeded")
	}
}

func TestWhatIsNoMeasurementIsRefused(t *testing.T) {
	tests := []struct {
		name string
		add  func(*Report) error
	}{
		{"not a number", func(r *Report) error { return r.Add("x", math.NaN(), "ms") }},
		{"infinite", func(r *Report) error { return r.Compare("x", math.Inf(1), 1, "ms") }},
		{"baseline of nothing", func(r *Report) error { return r.Compare("x", 1, 0, "ms") }},
		{"baseline not a number", func(r *Report) error { return r.Compare("x", 1, math.NaN(), "ms") }},
		{"name taken", func(r *Report) error { return r.Add("call", 1, "ms") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			report := sampleReport(t)
			before := len(report.Results())
			if err := tt.add(report); err == nil {
				t.Error("was taken")
			}
			if after := len(report.Results()); after != before {
				t.Errorf("report has %d results, want %d as before", after, before)
			}
		})
	}
}

func sampleReport(t *testing.T) *Report {
	t.Helper()
	report := new(Report)
	for _, err := range []error{
		report.Compare("call", 12.5, 10, "us"),
		report.Add("events", 48, "events"),
		report.Compare("small", 0.00123, 4096.7, "ms"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return report
}
