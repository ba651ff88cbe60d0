package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/heddle-dev/heddle/examples/support"
	"github.com/heddle-dev/heddle/internal/child"
)

const (
	module  = "github.com/heddle-dev/heddle"
	thread  = "acme/broken-mug"
	message = "One of the mugs in my last order arrived broken. Please refund me that one. I am ada@example.com."
	order   = "A-1002"

	startTimeout = 2 * time.Minute
	stopTimeout  = 10 * time.Second
)

// errNobody: the refund will wait for an approval, or waits for one, that nobody
// can give.
var errNobody = errors.New("nobody is here to approve")

// demo is what the demo has started.
type demo struct {
	dir      string
	store    *support.Store
	temporal *child.Temporal
	env      []string
}

func run(ctx context.Context) (err error) {
	if os.Getenv("DEMO_YES") == "" && !onTerminal() {
		return errNobody
	}
	dir, err := os.MkdirTemp("", "heddle-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	d := &demo{dir: dir}

	say("building the worker and the starter")
	if err := d.build(ctx); err != nil {
		return err
	}
	if d.store, err = support.Open(ctx, d.database()); err != nil {
		return err
	}
	defer d.store.Close()
	if err := d.store.Seed(ctx); err != nil {
		return err
	}

	say("starting a Temporal server and the worker")
	var log child.Log
	if err := d.startTemporal(ctx, &log); err != nil {
		return withLog(err, &log)
	}
	defer stopQuietly(d.temporal.Process)
	worker, err := d.startWorker(ctx, &log)
	if err != nil {
		return withLog(err, &log)
	}
	defer stopQuietly(worker)
	say(model().description)

	if err := d.printRefunds(ctx, "before"); err != nil {
		return err
	}
	say("Ada asks for her money back")
	if err := d.converse(ctx); err != nil {
		return withLog(err, &log)
	}
	if err := d.printRefunds(ctx, "after"); err != nil {
		return err
	}
	return d.linger(ctx)
}

// build compiles the programs that the demo runs.
func (d *demo) build(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", d.dir+string(filepath.Separator),
		module+"/examples/support/worker", module+"/cmd/starter")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // snippets run in a sandbox that C would widen
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w (run the demo from within the repository)\n%s", err, output)
	}
	return nil
}

func (d *demo) database() string { return filepath.Join(d.dir, "orders.db") }

func (d *demo) startTemporal(ctx context.Context, log *child.Log) error {
	path, err := child.FindTemporal()
	if err != nil {
		return err
	}
	if d.temporal, err = child.StartTemporal(ctx, child.TemporalOptions{Path: path, UI: true, Output: log}); err != nil {
		return err
	}
	d.env = append(child.ClientEnv(d.temporal.Address),
		"TEMPORAL_UI_URL="+d.temporal.UI,
		"HEDDLE_TASK_QUEUE=heddle",
		"SUPPORT_DB="+d.database(),
		"SUPPORT_BLOBS="+filepath.Join(d.dir, "blobs"),
		"SUPPORT_MODEL="+model().name,
	)
	if runtime.GOOS != "linux" { // where no system call locks a process in
		d.env = append(d.env, "SUPPORT_SANDBOX=unhardened")
	}
	return nil
}

func (d *demo) startWorker(ctx context.Context, log *child.Log) (*child.Process, error) {
	config, err := configFile()
	if err != nil {
		return nil, err
	}
	worker, err := child.Start(child.Command{
		Path: filepath.Join(d.dir, "worker"), Args: []string{"--config", config}, Env: d.env, Output: log,
	})
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

// configFile is the example's heddle.yaml, wherever the demo is run from.
func configFile() (string, error) {
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", module+"/examples/support").Output()
	if err != nil {
		return "", fmt.Errorf("find the example: %w (run the demo from within the repository)", err)
	}
	return filepath.Join(strings.TrimSpace(string(dir)), "heddle.yaml"), nil
}

// converse sends the message with the starter, which shows what the agent does
// and asks for the approval.
func (d *demo) converse(ctx context.Context) error {
	args := []string{"send", thread, message, "--agent", "support", "--user", "ada", "--by", cmp.Or(os.Getenv("USER"), "you")}
	if os.Getenv("DEMO_YES") != "" {
		args = append(args, "--yes")
	}
	starter, err := child.Start(child.Command{
		Path: filepath.Join(d.dir, "starter"), Args: args, Env: d.env, Foreground: true,
	})
	if err != nil {
		return err
	}
	select {
	case <-starter.Done():
	case <-ctx.Done():
		// An interrupt at the terminal has reached it too; a kill of the demo has not.
		return errors.Join(ctx.Err(), starter.Stop(stopTimeout))
	}
	const waiting = 4 // see starter send --help
	var exit *exec.ExitError
	if errors.As(starter.Err(), &exit) && exit.ExitCode() == waiting {
		return errNobody
	}
	return starter.Err()
}

// printRefunds shows what the database holds, read directly and not through the
// agent.
func (d *demo) printRefunds(ctx context.Context, when string) error {
	refunds, err := d.store.Refunds(ctx, order)
	if err != nil {
		return err
	}
	say(fmt.Sprintf("refunds of order %s in the database, %s: %d", order, when, len(refunds)))
	for _, r := range refunds {
		fmt.Printf("    refund %d  order %s  $%d.%02d  %q  at %s\n", r.ID, r.Order, r.Cents/100, r.Cents%100, r.Reason, r.MadeAt)
	}
	return nil
}

// attended reports whether a person follows the demo, and may look at the UI.
func attended() bool { return os.Getenv("DEMO_YES") == "" && onTerminal() }

// onTerminal reports whether a person can be asked.
func onTerminal() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
}

// linger lets a person look at the Temporal UI.
func (d *demo) linger(ctx context.Context) error {
	say("Temporal UI: " + d.temporal.UI + "/namespaces/default/workflows")
	if !attended() {
		say("nobody is here to look at it: stopping everything")
		return nil
	}
	say("have a look; Enter stops everything")
	entered := make(chan struct{})
	go func() {
		defer close(entered)
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // the end of the input stops it too
	}()
	select {
	case <-entered:
	case <-ctx.Done():
	case <-d.temporal.Done():
		return fmt.Errorf("the Temporal server ended: %w", d.temporal.Err())
	}
	return nil
}

// chosen is the model that the agent asks.
type chosen struct{ name, description string }

func model() chosen {
	name := cmp.Or(os.Getenv("OPENAI_MODEL"), "gpt-4.1-mini")
	switch {
	case os.Getenv("OPENAI_BASE_URL") != "":
		return chosen{"live", "the agent asks " + name + " at OPENAI_BASE_URL"}
	case os.Getenv("OPENAI_API_KEY") != "":
		return chosen{"live", "the agent asks OpenAI's " + name}
	default:
		return chosen{"script", "no OPENAI_API_KEY: the agent plays a script; all else is real"}
	}
}

// stopQuietly ends a process. How it ended is no news at the end of the demo.
func stopQuietly(p *child.Process) { _ = p.Stop(stopTimeout) }

func say(text string) { fmt.Println("▸ " + text) }

// withLog adds what the server and the worker have printed.
func withLog(err error, log *child.Log) error {
	if printed := log.String(); printed != "" && !errors.Is(err, errNobody) {
		return fmt.Errorf("%w\n%s", err, printed)
	}
	return err
}
