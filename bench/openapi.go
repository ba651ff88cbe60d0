package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/codemode/lookup"
	"github.com/heddle-dev/heddle/providers/openapi"
)

// specRounds is how often each way to read the specification is measured.
const specRounds = 5

// largeSpec measures what it takes to make searchable tools of a large
// specification: GitHub's, 12 MiB with 1,223 operations, from the folder of shared
// test data. The baselines read the same text and make no tools of it. Each
// measurement is a process of its own, so that each has its own peak of memory.
func largeSpec(ctx context.Context, report *Report) error {
	path := sharedFile("openapi/github-rest.json")
	if _, err := os.Stat(path); err != nil {
		return report.Skip("openapi_spec", fmt.Sprintf("no published specification (%v); set HEDDLE_SHARED to the folder of shared test data", err))
	}
	times := map[string][]time.Duration{}
	peak := map[string]int64{}
	for range specRounds {
		for way := range specReaders {
			m, err := measureReading(ctx, way, path)
			if err != nil {
				return fmt.Errorf("read the specification with %s: %w", way, err)
			}
			times[way] = append(times[way], m.Took)
			peak[way] = max(peak[way], m.PeakKiB)
		}
	}
	ms := func(way string) float64 { return float64(median(times[way]).Microseconds()) / 1000 }
	err := report.Compare("openapi_spec_over_json_ms", ms("heddle"), ms("encoding/json"), "ms")
	if err == nil {
		err = report.Compare("openapi_spec_over_kin_ms", ms("heddle"), ms("kin-openapi"), "ms")
	}
	if err == nil && peak["heddle"] > 0 {
		err = report.Compare("openapi_spec_peak_mib", float64(peak["heddle"])/1024, float64(peak["kin-openapi"])/1024, "MiB")
	}
	return err
}

// sharedFile is a file of the folder of shared test data: the one that
// HEDDLE_SHARED names, or ../shared beside the repository.
func sharedFile(name string) string {
	root := os.Getenv("HEDDLE_SHARED")
	if root == "" {
		root = filepath.Join("..", "shared")
	}
	return filepath.Join(root, filepath.FromSlash(name))
}

// specReaders are the ways to read a specification. Each keeps what it has read.
var specReaders = map[string]func(text []byte) (any, error){
	"heddle": func(text []byte) (any, error) {
		source, err := openapi.New(openapi.Options{Namespace: "github", Spec: openapi.Location{Bytes: text}})
		if err != nil {
			return nil, err
		}
		broker, err := catalog.New(source)
		if err != nil {
			return nil, err
		}
		finder := lookup.New(broker)
		scope := catalog.Scope{Tenant: "acme", Thread: "bench", Agent: "bench", Tools: []string{"*"}}
		found, err := finder.Search(context.Background(), scope, []byte(`{"query":"create an issue","limit":1}`))
		if err != nil || !bytes.Contains(found, []byte("github.issues.create")) {
			return nil, fmt.Errorf("found %.200s: %w", found, err)
		}
		return finder, nil
	},
	"encoding/json": func(text []byte) (v any, err error) {
		err = json.Unmarshal(text, &v)
		return v, err
	},
	"kin-openapi": func(text []byte) (any, error) { return openapi3.NewLoader().LoadFromData(text) },
}

// reading is what it took to read a specification.
type reading struct {
	Took    time.Duration
	PeakKiB int64
}

// readEnv tells a process of this program that it is there to read one
// specification.
const readEnv = "HEDDLE_BENCH_READ"

// measureReading reads the specification in a process of its own.
func measureReading(ctx context.Context, way, path string) (reading, error) {
	self, err := os.Executable()
	if err != nil {
		return reading{}, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), readEnv+"="+way+" "+path)
	out, err := cmd.Output()
	if err != nil {
		return reading{}, err
	}
	var m reading
	return m, json.Unmarshal(out, &m)
}

// Child does what this process was started for by a benchmark, and reports
// whether it was: a program that runs benchmarks calls it first.
func Child(stdout io.Writer) (bool, error) {
	way, path, found := strings.Cut(os.Getenv(readEnv), " ")
	if !found {
		return false, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return true, err
	}
	read, known := specReaders[way]
	if !known {
		return true, fmt.Errorf("%s: %q is no way to read a specification", readEnv, way)
	}
	began := time.Now()
	if _, err := read(text); err != nil {
		return true, err
	}
	return true, json.NewEncoder(stdout).Encode(reading{time.Since(began), peakMemory()})
}

// peakMemory is the most memory that this process has had, in KiB; 0 where the
// system does not say.
func peakMemory() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	var kib int64
	for line := range bytes.Lines(status) {
		if _, err := fmt.Sscanf(string(line), "VmHWM: %d kB", &kib); err == nil {
			return kib
		}
	}
	return 0
}

// httpCalls is how many calls one measurement makes.
const httpCalls = 200

// httpCall measures one read of a service through its tool, from the input to the
// checked output. The baseline is the same request by net/http.
func httpCall(ctx context.Context, report *Report) error {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `[{"id":7,"title":"It is broken"}]`)
	}))
	defer server.Close()
	source, err := openapi.New(openapi.Options{
		Namespace: "svc", Spec: openapi.Location{Bytes: []byte(callSpec)}, Server: server.URL, Allow: []string{server.Listener.Addr().String()},
	})
	if err != nil {
		return err
	}
	defer source.Close()
	broker, err := catalog.New(source)
	if err != nil {
		return err
	}
	scope := catalog.Scope{Tenant: "acme", Thread: "bench", Agent: "bench", Tools: []string{"svc.*"}}
	request := catalog.Request{Tool: "svc.list", Input: json.RawMessage(`{"repo":"shop","labels":["bug","ui"]}`)}
	ours := func(ctx context.Context) error {
		for range httpCalls {
			plan := broker.Plan(ctx, scope, request)
			if outcome := broker.Dispatch(ctx, scope, request, plan); outcome.Error != nil || outcome.Warning != "" {
				return fmt.Errorf("call: %w (%s)", outcome.Error, outcome.Warning)
			}
		}
		return nil
	}
	bare := func(ctx context.Context) error {
		for range httpCalls {
			if err := bareCall(ctx, server.URL+"/repos/shop/issues?labels=bug&labels=ui"); err != nil {
				return err
			}
		}
		return nil
	}
	call, baseline, err := pairs(ctx, 9, ours, bare)
	if err != nil {
		return err
	}
	return report.Compare("openapi_call_us", micros(call)/httpCalls, micros(baseline)/httpCalls, "µs")
}

const callSpec = `{"openapi":"3.1.0","info":{"title":"Issues","version":"1"},"paths":{"/repos/{repo}/issues":{"get":{
	"operationId":"list",
	"parameters":[{"name":"repo","in":"path","required":true,"schema":{"type":"string"}},
		{"name":"labels","in":"query","schema":{"type":"array","items":{"type":"string"}}}],
	"responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"type":"array","items":{"type":"object",
		"properties":{"id":{"type":"integer"},"title":{"type":"string"}},"required":["id","title"]}}}}}}}}}}`

func bareCall(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	var v any
	return json.Unmarshal(body, &v)
}
