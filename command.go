package heddle

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/heddle-dev/heddle/internal/telemetry"
)

// defaultConfigFile is read when it is there and no other is named.
const defaultConfigFile = "heddle.yaml"

// Exit codes of a worker.
const (
	exitOK      = 0
	exitFailed  = 1
	exitInvalid = 2
)

const usage = `Usage: %s [flags]

Runs a Heddle worker: agent threads as Temporal workflows. It stops gracefully on
SIGINT and SIGTERM, and at once on a second one.

Flags:
  --config FILE        configuration file (default heddle.yaml, if there is one)
  --check              check the configuration and exit
  --log-level LEVEL    debug, info, warn or error (default info)
  --log-format FORMAT  text or json (default text)
  --version            print the version and exit
  --help               print this help and exit

Environment:
  TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_PROFILE, ...
  say where the Temporal server is, as for Temporal's own tools, and win over the
  configuration file.

Exit codes: 0 stopped as asked, 1 failed, 2 wrong flags or configuration.
`

// Main is the main function of a worker: it reads the flags, builds the
// application from the options and the configuration file, runs it until the
// process is told to stop, and exits. See --help.
func Main(options ...Option) {
	ctx, stop := interruptible()
	code := command{args: os.Args, stdout: os.Stdout, stderr: os.Stderr}.run(ctx, options)
	stop()
	os.Exit(code)
}

// interruptible returns a context that the first SIGINT or SIGTERM ends. The
// second has its usual effect.
func interruptible() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// command is one run of a worker's command line.
type command struct {
	args           []string
	stdout, stderr io.Writer
}

// flags of a worker's command line.
type flags struct {
	config, logLevel, logFormat string
	check, version              bool
}

func (c command) run(ctx context.Context, options []Option) int {
	var f flags
	if err := c.parse(&f); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintf(c.stdout, usage, c.args[0])
			return exitOK
		}
		return c.fail(exitInvalid, err)
	}
	if f.version {
		fmt.Fprintln(c.stdout, telemetry.Version())
		return exitOK
	}
	logger, err := telemetry.Logger(c.stderr, f.logLevel, f.logFormat)
	if err != nil {
		return c.fail(exitInvalid, err)
	}
	slog.SetDefault(logger)
	app, err := New(append(options, Logger(logger), findConfigFile(f.config))...)
	if err != nil {
		return c.fail(exitInvalid, fmt.Errorf("the configuration is not right:\n%w", err))
	}
	slog.SetDefault(app.logger) // which keeps secrets out, for packages that log to it
	if f.check {
		fmt.Fprintf(c.stdout, "configuration is right: %d agents, task queue %s\n", len(app.agents), app.config.TaskQueue)
		return exitOK
	}
	if err := app.Run(ctx); err != nil {
		return c.fail(exitFailed, err)
	}
	return exitOK
}

func (c command) parse(f *flags) error {
	set := flag.NewFlagSet(c.args[0], flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&f.config, "config", "", "")
	set.BoolVar(&f.check, "check", false, "")
	set.StringVar(&f.logLevel, "log-level", "info", "")
	set.StringVar(&f.logFormat, "log-format", "text", "")
	set.BoolVar(&f.version, "version", false, "")
	if err := set.Parse(c.args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return fmt.Errorf("%w (see --help)", err)
	}
	if set.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q (see --help)", set.Arg(0))
	}
	return nil
}

// findConfigFile takes the file named on the command line, else the one that the
// program names, else the default if there is one.
func findConfigFile(flag string) Option {
	return optionFunc(func(p *parts) {
		if flag != "" {
			p.configFile = flag
		}
		if p.configFile != "" {
			return
		}
		if _, err := os.Stat(defaultConfigFile); !errors.Is(err, fs.ErrNotExist) {
			p.configFile = defaultConfigFile
		}
	})
}

// fail prints why the command ends.
func (c command) fail(code int, err error) int {
	fmt.Fprintf(c.stderr, "Error: %v\n", err)
	return code
}
