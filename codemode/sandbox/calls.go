package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/dop251/goja"

	"github.com/heddle-dev/heddle/codemode/internal/wire"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

// call is a call of the snippet and what waits for it: a promise, or a callback.
type call struct {
	snippet.Call
	settled, cancelled bool

	stack           []snippet.Frame
	promise         *goja.Promise
	resolve, reject func(any) error
	callback        goja.Callable
}

// digestSize is how much of a hash stands for a call, in bytes.
const digestSize = 16

func digestOf(kind snippet.Kind, tool string, input []byte) string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%s\x00%s\x00", kind, tool)
	hash.Write(input)
	return hex.EncodeToString(hash.Sum(nil)[:digestSize])
}

// issue makes a call and returns the promise of its outcome. What cannot be
// asked for is a rejected promise: the snippet catches it like any failed call.
func (x *execution) issue(kind snippet.Kind, tool string, input []byte, problem *snippet.Error) goja.Value {
	promise, resolve, reject := x.rt.NewPromise()
	value := x.rt.ToValue(promise)
	stack := x.frames()
	if problem == nil {
		problem = x.refusal(tool)
	}
	if problem != nil {
		problem.Tool = tool
		setPosition(problem, stack)
		must(reject(x.errorObject(problem, stack)))
		return value
	}
	c := x.add(kind, tool, input, stack)
	c.promise, c.resolve, c.reject = promise, resolve, reject
	return value
}

// after makes a call that runs a callback when it has slept. It returns the
// call's number.
func (x *execution) after(input []byte, callback goja.Callable) (int, *snippet.Error) {
	if problem := x.refusal(""); problem != nil {
		return 0, problem
	}
	c := x.add(snippet.KindSleep, "", input, x.frames())
	c.callback = callback
	return c.Number, nil
}

// refusal says why no further call can be made.
func (x *execution) refusal(tool string) *snippet.Error {
	switch {
	case x.ended:
		return &snippet.Error{Code: snippet.CodeCalls, Tool: tool, Message: "the snippet has ended"}
	case x.limits.Calls > 0 && len(x.calls) >= x.limits.Calls:
		return &snippet.Error{
			Code: snippet.CodeCalls, Tool: tool,
			Message: fmt.Sprintf("a snippet makes at most %d calls", x.limits.Calls),
			Hint:    "Do the rest in another snippet.",
		}
	}
	return nil
}

func (x *execution) add(kind snippet.Kind, tool string, input []byte, stack []snippet.Frame) *call {
	c := &call{stack: stack, Call: snippet.Call{
		Number: len(x.calls) + 1, Kind: kind, Tool: tool, Input: input, Digest: digestOf(kind, tool, input),
	}}
	if len(stack) > 0 {
		c.Position = stack[0].Position
	}
	x.calls = append(x.calls, c)
	x.waiting++
	x.fresh = append(x.fresh, c.Number)
	x.compare(c)
	return c
}

// settle gives a call its outcome.
func (c *call) settle(x *execution, d *snippet.Delivery) error {
	c.settled = true
	if c.cancelled {
		return nil
	}
	x.waiting--
	if d.Error != nil {
		if c.callback != nil {
			x.uncaught = append(x.uncaught, *d.Error)
			return nil
		}
		problem := *d.Error
		problem.Stack = nil
		setPosition(&problem, c.stack)
		return c.reject(x.errorObject(&problem, c.stack))
	}
	if c.callback != nil {
		return x.callback(c.callback)
	}
	value := goja.Undefined()
	if len(d.Result) > 0 && c.Kind != snippet.KindSleep {
		parsed, ok := parse(x.rt, string(d.Result))
		if !ok {
			return errNotJSON
		}
		value = parsed
	}
	return c.resolve(value)
}

// cancel calls off a sleep.
func (x *execution) cancel(number int) {
	if number < 1 || number > len(x.calls) {
		return
	}
	if c := x.calls[number-1]; c.Kind == snippet.KindSleep && !c.settled && !c.cancelled {
		c.cancelled = true
		x.waiting--
		x.cancelled = append(x.cancelled, number)
	}
}

// replay gives the recorded outcomes one by one.
func (x *execution) replay() error {
	for _, d := range x.journal.Deliveries {
		if x.diverged != nil {
			return nil
		}
		if x.ended || d.Call < 1 || d.Call > len(x.calls) || x.calls[d.Call-1].settled {
			x.diverge(x.recorded(d.Call), nil, fmt.Sprintf("the journal holds an outcome of call %d, which does not wait for one", d.Call))
			return nil
		}
		if err := x.apply(&d); err != nil {
			return err
		}
	}
	if made := len(x.calls); made < len(x.journal.Calls) {
		x.diverge(&x.journal.Calls[made], nil, fmt.Sprintf("the journal holds %d calls, the snippet made %d", len(x.journal.Calls), made))
	}
	x.replaying = false
	return nil
}

// compare holds a call against the journal.
func (x *execution) compare(c *call) {
	if !x.replaying || x.diverged != nil {
		return
	}
	recorded := x.recorded(c.Number)
	if recorded != nil && *recorded != c.Record() {
		x.diverge(recorded, &c.Call, fmt.Sprintf("call %d is another one than the journal holds", c.Number))
	}
}

func (x *execution) recorded(number int) *snippet.Record {
	if number < 1 || number > len(x.journal.Calls) {
		return nil
	}
	return &x.journal.Calls[number-1]
}

func (x *execution) diverge(recorded *snippet.Record, made *snippet.Call, problem string) {
	x.diverged = &wire.Divergence{Recorded: recorded, Made: made, Problem: problem}
}

// frames are the functions of the snippet that run, innermost first.
func (x *execution) frames() []snippet.Frame {
	return framesOf(x.rt.CaptureCallStack(maxFrames, nil))
}

// maxFrames is how many functions of a stack are looked at.
const maxFrames = 24

func framesOf(stack []goja.StackFrame) []snippet.Frame {
	var frames []snippet.Frame
	for i := range stack {
		frame := &stack[i]
		if frame.SrcName() != sourceName {
			continue
		}
		at := frame.Position()
		name := frame.FuncName()
		if name == bodyName {
			name = ""
		}
		frames = append(frames, snippet.Frame{Function: name, Position: snippet.Position{Line: at.Line, Column: at.Column}})
	}
	return slices.Clip(frames)
}

func setPosition(problem *snippet.Error, stack []snippet.Frame) {
	problem.Stack = stack
	if len(stack) > 0 {
		problem.Position = &stack[0].Position
	}
}

// must passes on what cannot be caught: an interrupt reaches the outermost call
// into the runtime as a panic.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// fatal says why a run was cut short.
func (x *execution) fatal(err error) *snippet.Error {
	var interrupted *goja.InterruptedError
	var overflow *goja.StackOverflowError
	var thrown *goja.Exception
	switch {
	case errors.As(err, &interrupted):
		code, _ := interrupted.Value().(string)
		problem := snippet.LimitError(code)
		setPosition(problem, framesOf(interrupted.Stack()))
		return problem
	case errors.As(err, &overflow):
		problem := snippet.LimitError(snippet.CodeStack)
		stack := framesOf(overflow.Stack())
		setPosition(problem, stack[:min(len(stack), maxFrames)])
		return problem
	case errors.As(err, &thrown):
		return x.errorOf(thrown.Value(), 0)
	default:
		return &snippet.Error{Code: snippet.CodeCrashed, Message: err.Error()}
	}
}
