package openapi

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/heddle-dev/heddle/catalog"
)

var update = flag.Bool("update", false, "write the golden files anew")

// publishedFolder holds specifications that services have published, in the
// folder of shared test data: the one that HEDDLE_SHARED names, or ../shared
// beside the repository.
func publishedFolder(tb testing.TB) string {
	tb.Helper()
	root := os.Getenv("HEDDLE_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	folder := filepath.Join(root, "openapi")
	if _, err := os.Stat(folder); err != nil {
		tb.Skipf("no published specifications (%v); set HEDDLE_SHARED to the folder of shared test data", err)
	}
	return folder
}

func published(tb testing.TB, file string) Location {
	folder := publishedFolder(tb)
	location := Location{File: filepath.Join(folder, filepath.FromSlash(file))}
	if top, _, nested := strings.Cut(file, "/"); nested {
		location.Root = filepath.Join(folder, top)
	}
	return location
}

// TestPublishedSpecifications imports each and compares the counts of its report
// with the golden ones, one line a file: operations, tools, degraded, skipped.
func TestPublishedSpecifications(t *testing.T) {
	publishedFolder(t)
	const golden = "testdata/published.golden"
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range strings.Lines(string(text)) {
		file, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
		spec, err := Load(t.Context(), published(t, file), nil)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		r := spec.Report("api")
		fmt.Fprintf(&got, "%s\t%d\t%d\t%d\t%d\n", file, r.Operations, r.Tools, len(r.Degraded), len(r.Skipped))
		for _, note := range append(r.Degraded, r.Skipped...) {
			if note.Pointer == "" && note.Reason == "" || strings.Contains(note.Pointer, " ") && !strings.Contains(note.Pointer, "/") {
				t.Errorf("%s: a note is %+v", file, note)
			}
		}
		checkNames(t, file, r)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got.String() != string(text) {
		t.Errorf("the reports have changed (run with -update if that is meant):\n%s", got.String())
	}
}

func checkNames(t *testing.T, file string, r Report) {
	t.Helper()
	seen := map[string]string{}
	for _, e := range r.List {
		if err := catalog.CheckID(e.Tool); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if other, twice := seen[e.Tool]; twice {
			t.Errorf("%s: %s and %s are both %s", file, e.Endpoint, other, e.Tool)
		}
		seen[e.Tool] = e.Endpoint
		method, _, _ := strings.Cut(e.Endpoint, " ")
		if reads := method == "GET" || method == "HEAD" || method == "OPTIONS"; reads != (e.Operation == catalog.Read) {
			t.Errorf("%s: %s is a %s", file, e.Endpoint, e.Operation)
		}
	}
}

// BenchmarkGitHub compares what it takes to list the operations of a large
// specification.
func BenchmarkGitHub(b *testing.B) {
	location := published(b, "github-rest.json")
	text, err := os.ReadFile(location.File)
	if err != nil {
		b.Fatal(err)
	}
	for name, load := range map[string]func() (any, error){
		"heddle": func() (any, error) {
			s, err := New(Options{Namespace: "github", Spec: Location{Bytes: text}})
			if err != nil {
				return nil, err
			}
			tools, err := s.Tools(context.Background())
			return tools, err
		},
		"encoding_json": func() (any, error) {
			var v any
			err := json.Unmarshal(text, &v)
			return v, err
		},
		"kin_openapi": func() (any, error) { return openapi3.NewLoader().LoadFromData(text) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				runtime.GC()
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				v, err := load()
				if err != nil {
					b.Fatal(err)
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/(1<<20), "MB-kept")
				runtime.KeepAlive(v)
			}
		})
	}
}
