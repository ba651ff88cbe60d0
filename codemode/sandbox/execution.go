package sandbox

import (
	"errors"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/dop251/goja"

	"github.com/heddle-dev/heddle/codemode/internal/wire"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

// maxCallStack is how deep functions of a snippet may call each other. Without a
// limit goja recurses on the Go stack, where nothing can interrupt it.
const maxCallStack = 2000

// execution is one snippet that runs.
type execution struct {
	rt     *goja.Runtime
	limits snippet.Limits
	begun  time.Time
	clock  time.Time
	random *random
	hooks  hooks

	calls     []*call // all calls made, by number - 1
	journal   snippet.Journal
	replaying bool
	diverged  *wire.Divergence

	tasks     []task // due at once, in order
	taskCount int
	rejected  []*goja.Promise
	uncaught  []snippet.Error
	console   console
	hostError map[*goja.Object]*snippet.Error

	waiting   int   // calls that an outcome from outside could settle
	fresh     []int // numbers of the calls to report with the next step
	cancelled []int
	end       *snippet.End
	ended     bool
}

// task is a callback that waits for no call: setTimeout without a delay.
type task struct {
	id  int
	run goja.Callable
}

// start runs a snippet, with what its journal holds, until it can move no
// further.
func (x *execution) start(program *snippet.Program) *wire.Reply {
	compiled, problem := compile(program)
	if problem != nil {
		x.ended = true
		return &wire.Reply{Steps: []snippet.Step{{End: &snippet.End{Error: problem}}}}
	}
	if err := x.begin(program); err != nil {
		return &wire.Reply{Invalid: err.Error()}
	}
	x.replaying = len(program.Journal.Calls) > 0 || len(program.Journal.Deliveries) > 0
	err := x.run(compiled)
	if x.replaying && err == nil {
		err = x.replay()
	}
	reply := x.reply(err)
	if len(reply.Steps) > 0 {
		reply.Steps[0].CallSites = compiled.callSites
	}
	return reply
}

// run calls the function that the snippet is, and follows it until it waits.
func (x *execution) run(compiled *script) error {
	body, err := x.rt.RunProgram(compiled.program)
	if err != nil {
		return err
	}
	if _, err := x.hooks.run(goja.Undefined(), body, x.rt.ToValue(compiled.callsResult)); err != nil {
		return err
	}
	return x.settle()
}

const (
	// deliverFor is how long outcomes are given before what the snippet did with them
	// is told: calls wait for that.
	deliverFor = time.Millisecond
	// deliverBytes is how much it may ask for meanwhile, in bytes of input.
	deliverBytes = 1 << 20
)

// deliver gives outcomes, and follows the snippet after each until it waits again.
func (x *execution) deliver(ds []snippet.Delivery) *wire.Reply {
	var steps []snippet.Step
	began, size := time.Now(), 0
	for i := range ds {
		reply := x.reply(x.apply(&ds[i]))
		if len(reply.Steps) == 0 {
			return reply
		}
		step := reply.Steps[0]
		steps = append(steps, step)
		for _, c := range step.Calls {
			size += len(c.Input)
		}
		if step.End != nil || size > deliverBytes || time.Since(began) > deliverFor {
			break
		}
	}
	return &wire.Reply{Steps: steps}
}

func (x *execution) apply(d *snippet.Delivery) error {
	if x.ended || d.Call < 1 || d.Call > len(x.calls) || x.calls[d.Call-1].settled {
		return errNotWaiting
	}
	if d.At.After(x.clock) {
		x.clock = d.At
	}
	if err := x.calls[d.Call-1].settle(x, d); err != nil {
		return err
	}
	return x.settle()
}

// errNotWaiting says that a delivery is for no call that waits for one.
var errNotWaiting = errors.New("no such call waits for an outcome")

// settle runs what is due without any outcome from outside. The promise jobs
// themselves have run when a call into the runtime returns.
func (x *execution) settle() error {
	for len(x.tasks) > 0 && !x.ended {
		next := x.tasks[0]
		x.tasks = x.tasks[1:]
		if err := x.callback(next.run); err != nil {
			return err
		}
	}
	return nil
}

// callback runs a function of the snippet that nothing awaits. What it throws is
// kept as unhandled.
func (x *execution) callback(run goja.Callable) error {
	_, err := run(goja.Undefined())
	var thrown *goja.Exception
	if errors.As(err, &thrown) {
		x.uncaught = append(x.uncaught, *x.errorOf(thrown.Value(), 0))
		return nil
	}
	return err
}

// reply tells what happened since the last reply. A run that an error cut short
// ends with that error.
func (x *execution) reply(err error) *wire.Reply {
	switch {
	case x.diverged != nil:
		return &wire.Reply{Divergence: x.diverged}
	case errors.Is(err, errNotWaiting):
		return &wire.Reply{Invalid: err.Error()}
	case err != nil:
		x.ended = true
		x.end = &snippet.End{Error: x.fatal(err)}
	case !x.ended && x.waiting == 0:
		x.ended = true
		x.end = &snippet.End{Error: x.neverSettles()}
	}
	step := snippet.Step{Cancelled: x.cancelled, Dropped: x.console.dropped, End: x.end}
	step.Console, x.console.lines = x.console.lines, nil
	for _, number := range x.fresh {
		if c := x.calls[number-1]; !c.settled { // one called off at once too: a journal has no gap
			step.Calls = append(step.Calls, c.Call)
		}
	}
	x.fresh, x.cancelled = nil, nil
	if x.end != nil {
		x.closeCalls()
	}
	return &wire.Reply{Steps: []snippet.Step{step}}
}

// neverSettles is the error of a snippet that waits for nothing from outside.
func (x *execution) neverSettles() *snippet.Error {
	problem := &snippet.Error{
		Code:    snippet.CodeNeverSettles,
		Message: "the snippet waits for a promise that never settles: no call is pending that could settle it",
		Causes:  x.unhandled(),
	}
	if len(problem.Causes) > 0 {
		problem.Message += "; unhandled: " + problem.Causes[0].Message
		problem.Position = problem.Causes[0].Position
	}
	return problem
}

// trackRejection keeps the list of rejected promises that nothing handles.
func (x *execution) trackRejection(p *goja.Promise, operation goja.PromiseRejectionOperation) {
	if operation == goja.PromiseRejectionReject {
		x.rejected = append(x.rejected, p)
		return
	}
	x.rejected = slices.DeleteFunc(x.rejected, func(known *goja.Promise) bool { return known == p })
}

// maxUnhandled is how many unhandled failures are told.
const maxUnhandled = 10

// unhandled are the failures that nothing caught, so far.
func (x *execution) unhandled() []snippet.Error {
	failures := slices.Clone(x.uncaught)
	for _, p := range x.rejected {
		if len(failures) >= maxUnhandled {
			break
		}
		failures = append(failures, *x.errorOf(p.Result(), 0))
	}
	return failures
}

// closeCalls says which calls the end left without an outcome, and of which the
// snippet never looked at the outcome.
func (x *execution) closeCalls() {
	for _, c := range x.calls {
		if c.Kind == snippet.KindSleep {
			continue
		}
		if !c.settled {
			x.end.Outstanding = append(x.end.Outstanding, c.Number)
		}
		if !handled(c.promise) {
			x.end.Unawaited = append(x.end.Unawaited, c.Number)
		}
	}
	if x.end.Error == nil || x.end.Error.Code != snippet.CodeNeverSettles {
		x.end.Unhandled = x.unhandled()
	}
}

// handled reports whether anything ever reacted to a promise. goja knows and does
// not tell: the rejection tracker speaks of rejected promises alone.
func handled(p *goja.Promise) bool {
	return reflect.ValueOf(p).Elem().FieldByName("handled").Bool()
}

// guard keeps the runtime that a reader may interrupt.
type guard struct {
	mu   sync.Mutex
	rt   *goja.Runtime
	step uint64
}

// begin says that the next step runs, on this runtime.
func (g *guard) begin(rt *goja.Runtime) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.step++
	g.rt = rt
	rt.ClearInterrupt()
}

// interrupt ends the step that runs, if it is still that one.
func (g *guard) interrupt(i *wire.Interrupt) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.step == i.Step {
		g.rt.Interrupt(i.Code)
	}
}
