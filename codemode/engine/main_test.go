package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/codemode/engine"
	"github.com/heddle-dev/heddle/codemode/internal/wire"
	"github.com/heddle-dev/heddle/codemode/sandbox"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

// childCommand is what the engines of the tests run as children: this program, or
// one built for them when this one has cgo.
var childCommand []string

// fakeChild makes this program say that it is a child on which the protection of
// the next argument is missing, or, if that is empty, one of another version.
const fakeChild = "fake-child"

// lyingChild makes this program a child that answers each request with the next of the
// replies in the next argument, whatever it is asked.
const lyingChild = "lying-child"

func TestMain(m *testing.M) {
	sandbox.ChildMain()
	if len(os.Args) > 2 && os.Args[1] == lyingChild {
		lie(os.Args[2])
	}
	if len(os.Args) > 2 && os.Args[1] == fakeChild {
		ready := wire.Ready{Version: wire.Version, Missing: []string{os.Args[2]}}
		if os.Args[2] == "" {
			ready = wire.Ready{Version: wire.Version + 1}
		}
		_ = wire.Write(os.Stdout, wire.Reply{Ready: &ready})
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(runTests(m))
}

func lie(replies string) {
	_ = wire.Write(os.Stdout, wire.Reply{Ready: &wire.Ready{Version: wire.Version, Missing: []string{"everything"}}})
	var all []wire.Reply
	_ = json.Unmarshal([]byte(replies), &all)
	for i := range all {
		_ = wire.Read(os.Stdin, new(wire.Request))
		_ = wire.Write(os.Stdout, &all[i])
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func runTests(m *testing.M) int {
	if usesCgo {
		dir, err := os.MkdirTemp("", "heddle-engine-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		path := filepath.Join(dir, "child")
		build := exec.Command("go", "build", "-o", path, "./testdata/child")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build child: %v\n%s", err, out)
			return 1
		}
		childCommand = []string{path}
	}
	return m.Run()
}

// newEngine makes an engine that ends with the test.
func newEngine(t testing.TB, options engine.Options) *engine.Engine {
	t.Helper()
	options.Command = childCommand
	if options.Limits.Wall == 0 { // on a busy machine a step may take long before its limit of the processor is reached
		options.Limits.Wall = time.Minute
	}
	e, err := engine.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func program(source string) snippet.Program {
	return snippet.Program{
		Tenant: "acme", Source: source, Seed: "seed", Now: epoch,
		API: json.RawMessage(`{"orders":{"get":"shop.get","list":"shop.list","refund":"shop.refund"},"github.issues":{"create":"github.create"}}`),
	}
}

// answer says what comes of a call.
type answer func(snippet.Call) snippet.Delivery

// echo answers each call with its input.
func echo(c snippet.Call) snippet.Delivery {
	return snippet.Delivery{Call: c.Number, Result: c.Input}
}

// play runs a program to its end, answering its calls in the order of their issue.
func play(t testing.TB, e *engine.Engine, p snippet.Program, answer answer) (*snippet.End, []snippet.Call, []snippet.Line) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	x, step, err := e.Start(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	var calls, waiting []snippet.Call
	console := step.Console
	at := p.Now
	for {
		calls, waiting = append(calls, step.Calls...), append(waiting, step.Calls...)
		if step.End != nil {
			return step.End, calls, console
		}
		if len(waiting) == 0 {
			t.Fatal("the snippet waits for nothing and has not ended")
		}
		d := answer(waiting[0])
		at = at.Add(time.Second)
		d.At = at
		waiting = waiting[1:]
		if step, err = x.Deliver(ctx, d); err != nil {
			t.Fatal(err)
		}
		console = append(console, step.Console...)
	}
}

// table reads a file of tab-separated lines.
func table(t testing.TB, file string) [][]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(text)) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(row) != 3 {
			t.Fatalf("%s: %d fields in %q", file, len(row), line)
		}
		rows = append(rows, row)
	}
	return rows
}
