package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"
	"golang.org/x/term"

	"github.com/heddle-dev/heddle/internal/connect"
	"github.com/heddle-dev/heddle/internal/telemetry"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
	"github.com/heddle-dev/heddle/signals/encryption"
)

// cli is one run of the command line: where it reads and writes, the flags that
// all commands have, and the connection once there is one.
type cli struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            func(string) string
	// isTerminal reports whether a stream is a terminal.
	isTerminal func(stream any) bool

	target    connect.Target
	taskQueue string
	uiURL     string
	json      bool
	// keysFile has the keys of encrypted payloads; else a variable has them.
	keysFile string

	connection client.Options
	temporal   client.Client
	threads    *signals.Client
}

const longHelp = `starter is a backend's side of Heddle's agent threads: it opens threads, sends
messages, follows what happens and decides what waits for a person.

A thread is named <tenant>/<thread>, such as acme/order-4711.

The Temporal server is found as by Temporal's own tools: flags, then TEMPORAL_ADDRESS,
TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_PROFILE and the rest, then temporal.toml,
then localhost:7233. HEDDLE_TASK_QUEUE names the workers' task queue, TEMPORAL_UI_URL
the Temporal UI to link to, or is none for no links. NO_COLOR turns colours off.
HEDDLE_PAYLOAD_KEYS has the keys where workers encrypt (temporal.encryption).

With --json a command prints one JSON value; one that follows a thread prints a JSON
value a line, {"part": ...} for each part of the timeline and {"turn": ...} at its end.
Errors are text on standard error even then; the exit code says what kind they are.

` + exitCodesHelp

const examples = `  # Ask an agent, see what it does, be asked for approvals
  starter send acme/t1 "Refund the mug in order 4711" --agent support --user ann

  # Who waits for a decision?
  starter threads --pending approval
  starter approve acme/t1 --comment "customer is right"`

// run executes the command line and returns the exit code.
func (c *cli) run(ctx context.Context, args []string) int {
	root := c.rootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if c.temporal != nil {
		c.temporal.Close()
	}
	code := exitCode(ctx, err)
	switch code {
	case exitOK:
	case exitInterrupted:
		var stopped stoppedError
		switch {
		case errors.As(err, &stopped): // it says how to go on
			fmt.Fprintln(c.stderr, oneLine(err))
		case !errors.Is(err, context.Canceled):
			fmt.Fprintln(c.stderr, "Error: "+oneLine(err))
		}
	case exitWaiting:
		fmt.Fprintln(c.stderr, oneLine(err))
	default:
		fmt.Fprintln(c.stderr, "Error: "+oneLine(err))
	}
	return code
}

func (c *cli) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "starter",
		Short:         "Open, follow and decide agent threads",
		Long:          longHelp,
		Example:       examples,
		Version:       telemetry.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return misused("unknown command %q (see starter --help)", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(c.stdin)
	root.SetOut(c.stdout)
	root.SetErr(c.stderr)
	root.SetVersionTemplate("{{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return misused("%w (see %s --help)", err, cmd.CommandPath())
	})
	flags := root.PersistentFlags()
	flags.StringVar(&c.target.Address, "address", "", "address of the Temporal server, host:port")
	flags.StringVar(&c.target.Namespace, "namespace", "", "Temporal namespace")
	flags.StringVar(&c.target.Profile, "profile", "", "profile of temporal.toml")
	flags.StringVar(&c.taskQueue, "task-queue", cmp.Or(c.env("HEDDLE_TASK_QUEUE"), contract.TaskQueue), "task queue of the workers")
	flags.StringVar(&c.uiURL, "ui-url", c.env("TEMPORAL_UI_URL"), "address of the Temporal UI, for links; none for no links")
	flags.BoolVar(&c.json, "json", false, "print JSON")
	flags.StringVar(&c.keysFile, "payload-keys", "", "file with the keys of encrypted payloads (default: the variable "+encryption.KeysEnv+")")
	root.AddCommand(
		c.openCommand(), c.sendCommand(), c.execCommand(), c.callCommand(), c.watchCommand(),
		c.approveCommand(), c.denyCommand(), c.answerCommand(), c.grantsCommand(), c.revokeCommand(), c.modeCommand(), c.policyCommand(), c.auditCommand(),
		c.reconcileCommand(), c.resetCommand(),
		c.threadsCommand(), c.stateCommand(), c.transcriptCommand(), c.usageCommand(),
		c.cancelCommand(), c.undoCommand(), c.closeCommand(), c.toolsCommand(),
		c.codecCommand(), c.openapiCommand(), c.catalogCommand(), c.connectionsCommand(), c.secretsCommand(),
	)
	return root
}

// connect makes the connection that a command needs.
func (c *cli) connect(ctx context.Context) error {
	logger, err := telemetry.Logger(c.stderr, "error", "text")
	if err != nil {
		return err
	}
	codec, err := c.codec()
	if err != nil {
		return err
	}
	if c.connection, err = connect.Options(c.target, connect.Target{}); err != nil {
		return err
	}
	c.connection = codec.Options(c.connection)
	if c.temporal, err = connect.Dial(ctx, c.connection, logger); err != nil {
		return err
	}
	c.threads = signals.NewClient(c.temporal, &signals.Options{
		Namespace: c.connection.Namespace, DataConverter: c.connection.DataConverter, TaskQueue: c.taskQueue,
	})
	return nil
}

// workerTimeout bounds the wait for a worker's answer.
const workerTimeout = 30 * time.Second

// ask asks something that a worker must answer, and says so if none does.
func (c *cli) ask(ctx context.Context, question func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, workerTimeout)
	defer cancel()
	err := question(limited)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return fmt.Errorf("no worker has answered for %s; is one running on task queue %s? (%w)", workerTimeout, c.taskQueue, err)
	}
	return err
}

// state asks what a thread is doing.
func (c *cli) state(ctx context.Context, thread contract.ThreadRef) (state contract.State, err error) {
	err = c.ask(ctx, func(ctx context.Context) error {
		state, err = c.threads.State(ctx, thread)
		return err
	})
	return state, err
}

// link is the page of the Temporal UI that shows the thread, or empty where the
// UI is not known.
func (c *cli) link(thread contract.ThreadRef) string {
	base := cmp.Or(c.uiURL, connect.LocalUI(c.connection.HostPort))
	if base == "" || base == "none" {
		return ""
	}
	return fmt.Sprintf("%s/namespaces/%s/workflows/%s", strings.TrimRight(base, "/"),
		url.PathEscape(c.connection.Namespace), url.PathEscape(thread.WorkflowID()))
}

// printJSON prints one value on a line.
func (c *cli) printJSON(value any) error {
	encoder := json.NewEncoder(c.stdout)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// print prints one value: as JSON if that is asked for, else as text does.
func (c *cli) print(value any, text func(io.Writer)) error {
	if c.json {
		return c.printJSON(value)
	}
	text(c.stdout)
	return nil
}

// interactive reports whether a person can be asked: both ends are a terminal.
func (c *cli) interactive() bool { return !c.json && c.isTerminal(c.stdin) && c.isTerminal(c.stdout) }

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// screen says how to draw on standard output.
func (c *cli) screen() screen {
	s := screen{width: defaultWidth, terminal: c.isTerminal(c.stdout)}
	if file, ok := c.stdout.(*os.File); ok && s.terminal {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			s.width = min(width, maxWidth)
		}
	}
	s.colour = s.terminal && c.env("NO_COLOR") == "" && c.env("TERM") != "dumb"
	return s
}

// threadArg reads the thread that the first argument names.
func threadArg(args []string) (contract.ThreadRef, error) {
	thread, err := contract.ParseThreadRef(args[0])
	if err != nil {
		return contract.ThreadRef{}, usageError{err}
	}
	return thread, nil
}

// arguments accepts from least to most arguments.
func arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return misused("missing argument: %s (see %s --help)", cmd.UseLine(), cmd.CommandPath())
		case len(args) > most:
			return misused("unexpected argument %q; put a text with spaces in quotes (see %s --help)", args[most], cmd.CommandPath())
		}
		return nil
	}
}

// person is who acts, where no flag says so.
func (c *cli) person() string { return cmp.Or(c.env("USER"), c.env("USERNAME")) }
