package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// binary builds the server once for all tests, unless HEDDLE_DEVSERVER names one
// to test. Any binary with the command line of the official CLI will do.
var binary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("HEDDLE_DEVSERVER"); path != "" {
		return filepath.Abs(path)
	}
	path := filepath.Join(buildDir, "temporal-devserver")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as build.sh, to share its cache
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the server: %w\n%s", err, out)
	}
	return path, nil
})

// buildDir outlives the test that happens to build first.
var buildDir string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if buildDir, err = os.MkdirTemp("", "devserver-test-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(buildDir)
		return m.Run()
	}())
}

func binaryPath(t *testing.T) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// serverProcess is a running server.
type serverProcess struct {
	cmd    *exec.Cmd
	out    *syncBuffer
	exited chan error
}

// syncBuffer collects the output of a process while the test reads it.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// start starts a server and waits for its last line.
func start(t *testing.T, args ...string) *serverProcess {
	t.Helper()
	p := &serverProcess{out: &syncBuffer{}, exited: make(chan error, 1)}
	p.cmd = exec.Command(binaryPath(t), append([]string{"server", "start-dev"}, args...)...)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.exited <- p.cmd.Wait() }()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		if t.Failed() {
			t.Logf("output of the server:\n%s", p.out)
		}
	})
	for deadline := time.Now().Add(3 * time.Minute); !strings.Contains(p.out.String(), "/metrics"); {
		select {
		case err := <-p.exited:
			t.Fatalf("the server ended: %v\n%s", err, p.out)
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server is not ready\n%s", p.out)
		}
	}
	return p
}

// wait waits for the end of the process and returns its exit code.
func (p *serverProcess) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-p.exited:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(2 * time.Minute):
		t.Fatal("the server does not end")
		return 0
	}
}

func (p *serverProcess) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// address returns what the server printed after a label.
func (p *serverProcess) address(t *testing.T, label string) string {
	t.Helper()
	match := regexp.MustCompile(label + `:\s+(\S+)`).FindStringSubmatch(p.out.String())
	if match == nil {
		t.Fatalf("no line %q in the output:\n%s", label, p.out)
	}
	return match[1]
}

// freePort returns a port that nobody uses now, and that nobody else gets by chance: it
// is below those that systems give to whoever asks for any, and to outgoing connections.
func freePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := fmt.Sprint(15_000 + rand.IntN(17_000))
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("there is no free port")
	return ""
}

func dial(t *testing.T, addr string) client.Client {
	t.Helper()
	c, err := client.Dial(client.Options{
		HostPort: addr, Logger: quietLogger{}, ConnectionOptions: client.ConnectionOptions{GetSystemInfoTimeout: time.Minute},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func startWorker(t *testing.T, c client.Client) {
	t.Helper()
	w := worker.New(c, taskQueue, worker.Options{})
	w.RegisterWorkflow(greet)
	w.RegisterWorkflow(awaitSignal)
	w.RegisterActivity(greeting)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
}

const (
	taskQueue   = "devserver-test"
	answer      = "answer"
	signalQuery = "waiting"
)

func greeting(_ context.Context, name string) (string, error) { return "Hello " + name, nil }

func greet(ctx workflow.Context, name string) (string, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: 10 * time.Second})
	var out string
	err := workflow.ExecuteActivity(ctx, greeting, name).Get(ctx, &out)
	return out, err
}

// awaitSignal runs an activity, and then waits for a signal.
func awaitSignal(ctx workflow.Context) (string, error) {
	greeted, err := greet(ctx, "you")
	if err != nil {
		return "", err
	}
	waiting := true
	if err := workflow.SetQueryHandler(ctx, signalQuery, func() (bool, error) { return waiting, nil }); err != nil {
		return "", err
	}
	var text string
	workflow.GetSignalChannel(ctx, answer).Receive(ctx, &text)
	waiting = false
	return greeted + ": " + text, nil
}

// quietLogger drops the SDK's complaints about a server that the test killed.
type quietLogger struct{}

var _ log.Logger = quietLogger{}

func (quietLogger) Debug(string, ...any) {}
func (quietLogger) Info(string, ...any)  {}
func (quietLogger) Warn(string, ...any)  {}
func (quietLogger) Error(string, ...any) {}

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// The SDK's own starter must not notice that this is not the official CLI.
func TestSDKStartsIt(t *testing.T) {
	ctx := testContext(t)
	agent := temporal.NewSearchAttributeKeyKeyword("Agent")
	server, err := testsuite.StartDevServer(ctx, testsuite.DevServerOptions{
		ExistingPath:     binaryPath(t),
		DBFilename:       filepath.Join(t.TempDir(), "sdk.db"),
		SearchAttributes: temporal.NewSearchAttributes(agent.ValueSet("")),
		LogFormat:        "pretty",
		LogLevel:         "error",
		ClientOptions:    &client.Options{Namespace: "from-sdk", Logger: quietLogger{}},
		Stdout:           io.Discard,
	})
	if err != nil {
		t.Fatal(err)
	}
	startWorker(t, server.Client())
	run, err := server.Client().ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		TaskQueue:             taskQueue,
		TypedSearchAttributes: temporal.NewSearchAttributes(agent.ValueSet("weaver")),
	}, greet, "SDK")
	if err != nil {
		t.Fatal(err)
	}
	var got string
	if err := run.Get(ctx, &got); err != nil || got != "Hello SDK" {
		t.Errorf("result %q, error %v", got, err)
	}
	if err := server.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// A workflow outlives the kill of the server: it goes on where it was, for a
// worker and a client that only saw their connection break.
func TestFileSurvivesKill(t *testing.T) {
	ctx := testContext(t)
	port := freePort(t)
	args := []string{
		"--db-filename", filepath.Join(t.TempDir(), "kill.db"), "--port", port, "--headless", "--log-level", "error",
		"--search-attribute", "Agent=Keyword", "-n", "other",
	}
	server := start(t, args...)
	c := dial(t, "127.0.0.1:"+port)
	startWorker(t, c)
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "survivor", TaskQueue: taskQueue}, awaitSignal)
	if err != nil {
		t.Fatal(err)
	}
	// A query is answered once the workflow waits: its activity has completed.
	for {
		if value, err := c.QueryWorkflow(ctx, "survivor", "", signalQuery); err == nil && value.HasValue() {
			break
		}
		if ctx.Err() != nil {
			t.Fatal("the workflow does not get to its signal")
		}
		time.Sleep(10 * time.Millisecond)
	}

	server.signal(t, syscall.SIGKILL)
	server.wait(t)
	server = start(t, args...)

	if err := c.SignalWorkflow(ctx, "survivor", run.GetRunID(), answer, "still here"); err != nil {
		t.Fatal(err)
	}
	var got string
	if err := run.Get(ctx, &got); err != nil || got != "Hello you: still here" {
		t.Errorf("result %q, error %v", got, err)
	}
	list, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: "other"})
	if err != nil || list.CustomAttributes["Agent"] != enumspb.INDEXED_VALUE_TYPE_KEYWORD {
		t.Errorf("search attributes %v, error %v", list.GetCustomAttributes(), err)
	}
	server.signal(t, syscall.SIGTERM)
	if code := server.wait(t); code != 0 {
		t.Errorf("exit code %d after SIGTERM", code)
	}
}

// A timer of some milliseconds takes just that: the server's defaults would make
// it take a second.
func TestShortTimerIsShort(t *testing.T) {
	ctx := testContext(t)
	server := start(t, "--port", "0", "--headless")
	c := dial(t, server.address(t, "Temporal Server"))
	w := worker.New(c, taskQueue, worker.Options{})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context) error {
		for range 20 {
			if err := workflow.Sleep(ctx, 10*time.Millisecond); err != nil {
				return err
			}
		}
		return nil
	}, workflow.RegisterOptions{Name: "naps"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{TaskQueue: taskQueue}, "naps")
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Get(ctx, nil); err != nil {
		t.Fatal(err)
	}
	// On a busy machine many take longer, but hardly all of them.
	begun, shortest := map[string]time.Time{}, time.Hour
	for events := c.GetWorkflowHistory(ctx, run.GetID(), run.GetRunID(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
		event, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		if timer := event.GetTimerStartedEventAttributes(); timer != nil {
			begun[timer.GetTimerId()] = event.GetEventTime().AsTime()
		}
		if timer := event.GetTimerFiredEventAttributes(); timer != nil {
			shortest = min(shortest, event.GetEventTime().AsTime().Sub(begun[timer.GetTimerId()]))
		}
	}
	if len(begun) != 20 || shortest > 500*time.Millisecond {
		t.Errorf("of %d timers of 10 ms the shortest took %v", len(begun), shortest)
	}
}

func TestUI(t *testing.T) {
	server := start(t, "--port", "0", "--ui-codec-endpoint", "http://localhost:8081/codec")
	ui := server.address(t, "Temporal UI")
	if body := get(t, ui); !strings.Contains(body, "<html") {
		t.Errorf("the UI serves %.200q", body)
	}
	var settings struct{ Codec struct{ Endpoint string } }
	if err := json.Unmarshal([]byte(get(t, ui+"/api/v1/settings")), &settings); err != nil {
		t.Fatal(err)
	}
	if settings.Codec.Endpoint != "http://localhost:8081/codec" {
		t.Errorf("codec endpoint %q", settings.Codec.Endpoint)
	}
	if body := get(t, ui+"/api/v1/namespaces"); !strings.Contains(body, "default") {
		t.Errorf("the UI does not reach the server: %s", body)
	}
	if body := get(t, server.address(t, "Temporal Metrics")); !strings.Contains(body, "service_requests") {
		t.Errorf("metrics are %.200q", body)
	}
	server.signal(t, os.Interrupt)
	if code := server.wait(t); code != 0 {
		t.Errorf("exit code %d after an interrupt", code)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s, %v", url, resp.Status, err)
	}
	return string(body)
}

func TestSecondSignalExitsAtOnce(t *testing.T) {
	for range 10 {
		server := start(t, "--port", "0", "--headless")
		server.signal(t, os.Interrupt)
		server.signal(t, os.Interrupt) // the same Ctrl-C, passed on by a parent
		time.Sleep(2 * sameSignal)
		// A server that was too busy to see the two as one has ended by now, as it should.
		_ = server.cmd.Process.Signal(os.Interrupt)
		switch code := server.wait(t); code {
		case exitInterrupted:
			return
		case 0: // it has stopped in order before the second signal came
		default:
			t.Fatalf("exit code %d, want %d\n%s", code, exitInterrupted, server.out)
		}
	}
	t.Errorf("the second signal never comes before the server has stopped, or does nothing")
}

// A failed start is one line on stderr and a non-zero exit code.
func TestFailures(t *testing.T) {
	port := freePort(t)
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, tc := range map[string]struct{ args, want string }{
		"port in use":    {"--headless --port " + port, "port " + port + " on 127.0.0.1 is in use: choose another with --port"},
		"UI port in use": {"--port 0 --ui-port " + port, "choose another with --ui-port"},
		"unknown flag":   {"--bogus", "unknown flag: --bogus"},
		"bad database":   {"--port 0 --db-filename " + t.TempDir(), "is a directory"},
	} {
		var stderr bytes.Buffer
		cmd := exec.Command(binaryPath(t), append([]string{"server", "start-dev"}, strings.Fields(tc.args)...)...)
		cmd.Stderr = &stderr
		if err := cmd.Run(); err == nil {
			t.Errorf("%s: exit code 0", name)
		}
		text := stderr.String()
		if !strings.Contains(text, tc.want) || strings.Count(text, "\n") != 1 {
			t.Errorf("%s: stderr %q, want one line with %q", name, text, tc.want)
		}
	}
}
