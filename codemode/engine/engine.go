package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"time"

	"github.com/heddle-dev/heddle/codemode/internal/wire"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

// Options say how an engine runs snippets. The zero value is useful.
type Options struct {
	// Concurrency is how many executions may be under way at once, each in a child
	// of its own. More wait for their turn. An execution counts until it is closed,
	// also while its caller carries out calls. Default: 8 per processor.
	Concurrency int
	// Warm is how many children are kept ready for a tenant who has none. Default 1.
	Warm int
	// Limits bound each execution, and default the limits of its program, which may
	// be tighter but not looser. Default: DefaultLimits, field by field.
	Limits snippet.Limits
	// Reuse is how many executions a child serves before it is replaced. Default 200.
	Reuse int
	// Command is the program to run as a child, with leading arguments. Default: this
	// program, which must call sandbox.ChildMain.
	Command []string
	// AllowUnhardened runs snippets also where the system cannot lock a child in:
	// anywhere but on Linux with landlock and seccomp, and in a program built with
	// cgo. It is for development: a hole in the JavaScript engine would then be a
	// hole in the worker's account.
	AllowUnhardened bool
	// Logger takes what an operator should know. Default: slog.Default.
	Logger *slog.Logger
}

// DefaultLimits are the limits where nothing else is said.
var DefaultLimits = snippet.Limits{
	CPU:          2 * time.Second,
	Wall:         10 * time.Second,
	Memory:       192 << 20,
	Calls:        2000,
	OutputBytes:  16 << 10,
	ConsoleBytes: 8 << 10,
}

const (
	defaultReuse   = 200
	defaultWarm    = 1
	childrenPerCPU = 8
	// minMemory is what a child needs to start at all.
	minMemory = 64 << 20
)

// ErrClosed says that the engine or execution has been closed.
var ErrClosed = errors.New("codemode engine: closed")

// Engine runs snippets. It is safe for concurrent use.
type Engine struct {
	options Options
	pool    *pool
}

// New makes an engine and starts a first child, so that a machine on which
// snippets cannot run safely is found out at once.
func New(options Options) (*Engine, error) {
	if len(os.Args) > 1 && os.Args[1] == wire.ChildArg {
		return nil, errors.New("codemode engine: this process is a child of an engine: main must call sandbox.ChildMain first")
	}
	if err := options.complete(); err != nil {
		return nil, fmt.Errorf("codemode engine: %w", err)
	}
	pool, err := newPool(options)
	if err != nil {
		return nil, fmt.Errorf("codemode engine: %w", err)
	}
	return &Engine{options: options, pool: pool}, nil
}

// complete checks options and fills in what is left out.
func (o *Options) complete() error {
	for name, value := range map[string]int{"Concurrency": o.Concurrency, "Warm": o.Warm, "Reuse": o.Reuse} {
		if value < 0 {
			return fmt.Errorf("option %s is %d: it must not be negative", name, value)
		}
	}
	o.Concurrency = orDefault(o.Concurrency, childrenPerCPU*runtime.GOMAXPROCS(0))
	o.Warm = orDefault(o.Warm, defaultWarm)
	o.Reuse = orDefault(o.Reuse, defaultReuse)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	limits, err := within(o.Limits, DefaultLimits, false)
	if err != nil {
		return fmt.Errorf("option %w", err)
	}
	if limits.Memory < minMemory {
		return fmt.Errorf("option Limits.Memory is %d: a child needs at least %d", limits.Memory, minMemory)
	}
	o.Limits = limits
	return nil
}

// Start runs a program until it can move no further. The execution must be
// closed, whatever comes of it; it is nil when there is an error.
//
// With a journal the program takes up where the journal ends: its first step is
// the state after the journal's last delivery. A *DivergenceError says that it
// did something else than the journal holds.
func (e *Engine) Start(ctx context.Context, program snippet.Program) (*Execution, snippet.Step, error) {
	program, err := e.check(program)
	if err != nil {
		return nil, snippet.Step{}, fmt.Errorf("codemode engine: start: %w", err)
	}
	child, err := e.pool.acquire(ctx, program.Tenant)
	if err != nil {
		return nil, snippet.Step{}, fmt.Errorf("codemode engine: start: %w", err)
	}
	x := &Execution{engine: e, child: child, limits: program.Limits, outstanding: map[int]bool{}, made: made(&program.Journal)}
	child.beginExecution(program.Limits)
	steps, err := x.request(ctx, &wire.Request{Start: &program}, 1)
	if err != nil {
		x.Close()
		return nil, snippet.Step{}, fmt.Errorf("codemode engine: start: %w", err)
	}
	return x, steps[0], nil
}

// Close ends all children, also those of executions under way, and returns when
// they are gone.
func (e *Engine) Close() error {
	e.pool.close()
	return nil
}

// Limits are the limits of an execution whose program sets none.
func (e *Engine) Limits() snippet.Limits { return e.options.Limits }
