package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/heddle-dev/heddle/codemode/internal/wire"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

// Execution is a program under way. Its methods may be called from several
// goroutines; deliveries take effect one at a time.
type Execution struct {
	engine *Engine
	limits snippet.Limits

	mu    sync.Mutex
	child *child // nil once closed

	outstanding map[int]bool
	made        int // calls so far, those of the journal included
	told        int // the number of the call that was told of last
	ended       bool
}

// ErrEnded says that the snippet has ended and takes no more outcomes.
var ErrEnded = errors.New("the snippet has ended")

// ErrNotWaiting says that a call does not wait for an outcome: it has one, was
// called off, or was never made.
var ErrNotWaiting = errors.New("no call of that number waits for an outcome")

// DivergenceError says that a program did something else than its journal holds:
// source, seed, time or engine are not those that the journal was made with.
type DivergenceError struct {
	// Problem says in words what does not fit.
	Problem string
	// Recorded is the call of the journal, nil where it has none.
	Recorded *snippet.Record
	// Made is the call that was made this time, nil where none was.
	Made *snippet.Call
}

func (e *DivergenceError) Error() string {
	text := "the journal does not fit the snippet: " + e.Problem
	if e.Recorded != nil {
		text += fmt.Sprintf("; recorded: %s %s %s", e.Recorded.Kind, e.Recorded.Tool, e.Recorded.Digest)
	}
	if e.Made != nil {
		text += fmt.Sprintf("; made: %s %s %s at line %d", e.Made.Kind, e.Made.Tool, e.Made.Digest, e.Made.Position.Line)
	}
	return text
}

// Deliver gives the outcome of one call and runs the snippet until it can move no
// further. The order of deliveries is part of what the execution is a function of.
//
// When ctx ends first, the execution is lost: its child is killed, and the error
// is that of the context.
func (x *Execution) Deliver(ctx context.Context, d snippet.Delivery) (snippet.Step, error) {
	steps, err := x.DeliverAll(ctx, []snippet.Delivery{d})
	if err != nil {
		return snippet.Step{}, err
	}
	return steps[0], nil
}

// batchBytes is how long the outcomes that are sent to a child at once are together. The
// first alone may be longer.
const batchBytes = 1 << 20

// DeliverAll does what Deliver does with each of the outcomes in turn, and returns a
// step for each that it has given: for the first of them, and for as many more as do not
// keep the calls waiting that the snippet makes meanwhile. The last step is the
// snippet's end if it has come to that. An outcome that cannot be given is an error if
// it is the first, and ends the list if it is another one. There must be one at least.
func (x *Execution) DeliverAll(ctx context.Context, ds []snippet.Delivery) ([]snippet.Step, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	batch, err := x.batch(ds)
	if err != nil {
		return nil, fmt.Errorf("codemode engine: deliver: %w", err)
	}
	steps, err := x.request(ctx, &wire.Request{Deliver: batch}, len(batch))
	for _, d := range batch[len(steps):] {
		x.outstanding[d.Call] = true
	}
	if err != nil {
		return nil, fmt.Errorf("codemode engine: deliver: %w", err)
	}
	return steps, nil
}

// batch takes from the front of a list what is given at once: nothing of it is
// outstanding any more.
func (x *Execution) batch(ds []snippet.Delivery) ([]snippet.Delivery, error) {
	var batch []snippet.Delivery
	size := 0
	for _, d := range ds {
		err := x.accepts(&d)
		size += len(d.Result)
		switch {
		case err != nil && len(batch) == 0:
			return nil, err
		case err != nil, len(batch) == wire.MaxBatch, len(batch) > 0 && size > batchBytes:
			return batch, nil
		}
		delete(x.outstanding, d.Call)
		batch = append(batch, d)
	}
	if len(batch) == 0 {
		return nil, errors.New("there is no outcome")
	}
	return batch, nil
}

func (x *Execution) accepts(d *snippet.Delivery) error {
	switch {
	case x.child == nil:
		return ErrClosed
	case x.ended:
		return ErrEnded
	case !x.outstanding[d.Call]:
		return fmt.Errorf("call %d: %w", d.Call, ErrNotWaiting)
	}
	return checkDelivery(d)
}

// request sends a request to the child and takes its steps, of which there are most at
// most, and one at least.
func (x *Execution) request(ctx context.Context, request *wire.Request, most int) ([]snippet.Step, error) {
	reply, err := x.child.step(ctx, request)
	var died *deathError
	switch {
	case errors.As(err, &died):
		x.ended = true
		if died.problem.Code == snippet.CodeCrashed {
			// Not its last words: they may hold what the snippet was working on.
			x.engine.options.Logger.Error("a sandbox died, of no limit", "tenant", x.child.tenant, "pid", x.child.pid)
		}
		return []snippet.Step{{CPU: x.child.used(), End: &snippet.End{Error: died.problem}}}, nil
	case err != nil:
		x.ended = ctx.Err() != nil
		return nil, err
	case reply.Divergence != nil:
		d := reply.Divergence
		return nil, &DivergenceError{Problem: d.Problem, Recorded: d.Recorded, Made: d.Made}
	case reply.Invalid != "":
		return nil, errors.New(reply.Invalid)
	case len(reply.Steps) == 0 || len(reply.Steps) > most:
		x.child.kill("")
		return nil, fmt.Errorf("the sandbox gave %d steps, want 1 to %d", len(reply.Steps), most)
	}
	used := x.child.used()
	for i := range reply.Steps {
		step := &reply.Steps[i]
		step.CPU = used
		for _, c := range step.Calls {
			if err := x.makes(c.Number, request.Start != nil); err != nil {
				x.child.kill("")
				return nil, err
			}
			x.outstanding[c.Number] = true
		}
		for _, number := range step.Cancelled {
			delete(x.outstanding, number)
		}
		x.ended = step.End != nil
	}
	return reply.Steps, nil
}

// made is how many calls a journal tells of.
func made(j *snippet.Journal) int {
	n := len(j.Calls)
	for i := range j.Deliveries {
		n = max(n, j.Deliveries[i].Call)
	}
	return n
}

// makes takes in the number of a call that the child says it makes. It is not believed:
// calls are counted, and known, by their numbers. When the execution begins, the calls of
// its journal that have no outcome are told of again.
func (x *Execution) makes(number int, begins bool) error {
	again := begins && number > x.told && number <= x.made
	switch {
	case !again && number != x.made+1:
		return fmt.Errorf("the sandbox made call %d, want call %d", number, x.made+1)
	case number > x.limits.Calls:
		return fmt.Errorf("the sandbox made %d calls, at most %d are allowed", number, x.limits.Calls)
	}
	x.told, x.made = number, max(x.made, number)
	return nil
}

// Memory is the memory of the process that runs the snippet, in bytes; 0 if
// it is gone, or cannot be measured on this system.
func (x *Execution) Memory() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.child == nil {
		return 0
	}
	used, _ := usageOf(x.child.pid)
	return used.memory
}

// Close ends the execution and frees its child for another one. It may be called
// more than once. It waits for a delivery under way, which the end of that one's
// context ends at once.
func (x *Execution) Close() {
	x.mu.Lock()
	child := x.child
	x.child = nil
	x.mu.Unlock()
	if child != nil {
		x.engine.pool.release(child)
	}
}
