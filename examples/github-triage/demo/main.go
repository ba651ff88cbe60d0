package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	triage "github.com/heddle-dev/heddle/examples/github-triage"
	"github.com/heddle-dev/heddle/internal/child"
)

const (
	module       = "github.com/heddle-dev/heddle"
	thread       = "acme/reviews"
	message      = "Please find reviewers for the open pull requests of acme/shop."
	startTimeout = 2 * time.Minute
	stopTimeout  = 10 * time.Second
	// token is what the service wants to see; it stands for a person's.
	token = "triage-demo-token"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second signal ends the demo, and its children with it, at once
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "heddle-triage-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	say("building the worker and the starter")
	if err := build(ctx, dir); err != nil {
		return err
	}
	example, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", module+"/examples/github-triage").Output()
	if err != nil {
		return fmt.Errorf("find the example: %w (run the demo from within the repository)", err)
	}

	service := triage.New(token)
	server := httptest.NewServer(service)
	defer server.Close()
	say("starting a Temporal server and the worker; the service is at " + server.URL)
	var log child.Log
	temporal, err := startTemporal(ctx, &log)
	if err != nil {
		return withLog(err, &log)
	}
	defer stopQuietly(temporal.Process)
	env := append(child.ClientEnv(temporal.Address),
		"TRIAGE_SERVER="+server.URL, "TRIAGE_HOST="+server.Listener.Addr().String(),
		"TRIAGE_BLOBS="+filepath.Join(dir, "blobs"), "TRIAGE_SPEC="+specification(),
		"HEDDLE_SECRET_GITHUB_TOKEN="+token)
	worker, err := startWorker(ctx, dir, filepath.Join(strings.TrimSpace(string(example)), "heddle.yaml"), env, &log)
	if err != nil {
		return withLog(err, &log)
	}
	defer stopQuietly(worker)

	if err := converse(ctx, dir, env); err != nil {
		return withLog(err, &log)
	}
	reviews := service.Reviewers()
	say(fmt.Sprintf("the service was read %d times, and has these requests of reviews:", service.Reads()))
	for _, line := range reviews {
		fmt.Println("    " + line)
	}
	const wanted = 3
	if len(reviews) != wanted {
		return withLog(fmt.Errorf("%d pull requests have reviewers, want %d", len(reviews), wanted), &log)
	}
	return nil
}

// build compiles the programs that the demo runs: the worker is the generic one.
func build(ctx context.Context, dir string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", dir+string(filepath.Separator), module+"/cmd/worker", module+"/cmd/starter")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // snippets run in a sandbox that C would widen
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w (run the demo from within the repository)\n%s", err, output)
	}
	return nil
}

// specification is the one to make the tools of.
func specification() string {
	if named := os.Getenv("TRIAGE_SPEC"); named != "" {
		return named
	}
	published := filepath.Join(os.Getenv("HEDDLE_SHARED"), "openapi", "github-rest.json")
	if _, err := os.Stat(published); err == nil && filepath.IsAbs(published) {
		say("the tools are made of GitHub's published specification")
		return published
	}
	say("no published specification is here: the tools are made of the example's excerpt")
	return "openapi.yaml"
}

func startTemporal(ctx context.Context, log *child.Log) (*child.Temporal, error) {
	path, err := child.FindTemporal()
	if err != nil {
		return nil, err
	}
	return child.StartTemporal(ctx, child.TemporalOptions{Path: path, Output: log})
}

func startWorker(ctx context.Context, dir, config string, env []string, log *child.Log) (*child.Process, error) {
	worker, err := child.Start(child.Command{Path: filepath.Join(dir, "worker"), Args: []string{"--config", config}, Env: env, Output: log})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := log.Wait(ctx, worker, "worker started"); err != nil {
		worker.Kill()
		return nil, err
	}
	return worker, nil
}

// converse sends the message with the starter, which shows what the agent does and
// asks for the approvals.
func converse(ctx context.Context, dir string, env []string) error {
	args := []string{"send", thread, message, "--agent", "triage", "--user", "ada", "--by", cmp.Or(os.Getenv("USER"), "you")}
	if os.Getenv("DEMO_YES") != "" {
		args = append(args, "--yes")
	}
	starter, err := child.Start(child.Command{Path: filepath.Join(dir, "starter"), Args: args, Env: env, Foreground: true})
	if err != nil {
		return err
	}
	select {
	case <-starter.Done():
		return starter.Err()
	case <-ctx.Done():
		return errors.Join(ctx.Err(), starter.Stop(stopTimeout))
	}
}

// stopQuietly ends a process. How it ended is no news at the end of the demo.
func stopQuietly(p *child.Process) { _ = p.Stop(stopTimeout) }

func say(text string) { fmt.Println("▸ " + text) }

// withLog adds what the server and the worker have printed.
func withLog(err error, log *child.Log) error {
	if printed := log.String(); printed != "" {
		return fmt.Errorf("%w\n%s", err, printed)
	}
	return err
}
