package sandbox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/dlclark/regexp2/v2"

	"github.com/heddle-dev/heddle/codemode/internal/wire"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

// processors is what a child runs on. A snippet is one thread; with a second processor
// the runtime would look for work on it each time that the snippet goes on, which takes
// longer than most steps. What watches the snippet gets its turn at the next preemption,
// after 10 ms at most.
const processors = 1

// ChildMain serves an engine and exits, if this process is a child that one
// started. In any other process it returns at once. It must be called before
// anything else in main, and in TestMain: an engine runs its own program again
// to get a child.
func ChildMain() {
	if !IsChild() {
		return
	}
	if err := serve(os.Args[2], os.Stdin, os.Stdout, os.NewFile(wire.InterruptFD, "interrupts")); err != nil {
		fmt.Fprintln(os.Stderr, "sandbox:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// IsChild reports whether this process is a child that an engine started.
func IsChild() bool { return len(os.Args) == 3 && os.Args[1] == wire.ChildArg }

// serve warms up, locks the process in and answers requests until the parent
// closes its end.
func serve(arg string, in io.Reader, out io.Writer, interrupts io.Reader) error {
	var setup wire.Setup
	if err := json.Unmarshal([]byte(arg), &setup); err != nil {
		return fmt.Errorf("decode setup: %w", err)
	}
	time.Local = time.UTC
	runtime.GOMAXPROCS(processors)
	// regexp2 reports a full stack as no match, and goja passes that on: a wrong
	// answer. Without a bound the memory limit ends such a match instead.
	regexp2.DefaultOptimizationOptions.MaxBacktrackingStackSize = -1
	if err := warmUp(); err != nil {
		return err
	}
	ready := &wire.Ready{Version: wire.Version, Missing: lockIn(setup)}
	if err := wire.Write(out, wire.Reply{Ready: ready}); err != nil {
		return err
	}
	server := &server{out: out}
	if err := server.prepare(); err != nil {
		return err
	}
	go server.listen(interrupts)
	// Whoever reads a request handles it: to hand it to another goroutine would take
	// about as long as a short step.
	for requests := bufio.NewReaderSize(in, requestBuffer); ; {
		var request wire.Request
		err := wire.Read(requests, &request)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := server.handle(&request); err != nil {
			return err
		}
	}
}

// requestBuffer is how much of a request is read at once, in bytes.
const requestBuffer = 16 << 10

// warmUp does once what would make the first snippet slow.
func warmUp() error {
	if err := loadPrelude(); err != nil {
		return err
	}
	x, err := newExecution()
	if err != nil {
		return err
	}
	reply := x.start(&snippet.Program{Source: "const warm: number[] = [1]; await sleep(1); warm.map((n) => n + 1)"})
	if len(reply.Steps) != 1 || reply.Steps[0].End != nil {
		return fmt.Errorf("the sandbox does not work: %+v", reply)
	}
	return nil
}

type server struct {
	out     io.Writer
	guard   guard
	current *execution
	spare   *execution
}

// listen takes interrupts, which act at once, while a step runs. When the parent is
// gone, so is the child, whatever it is doing.
func (s *server) listen(in io.Reader) {
	for {
		var interrupt wire.Interrupt
		err := wire.Read(in, &interrupt)
		switch {
		case errors.Is(err, io.EOF):
			os.Exit(0)
		case err != nil:
			fmt.Fprintln(os.Stderr, "sandbox:", err)
			os.Exit(1)
		}
		s.guard.interrupt(&interrupt)
	}
}

func (s *server) handle(request *wire.Request) error {
	switch {
	case request.Start != nil:
		if err := s.prepare(); err != nil {
			return err
		}
		s.current, s.spare = s.spare, nil
		s.guard.begin(s.current.rt)
		return s.answer(s.current.start(request.Start))
	case len(request.Deliver) > 0:
		if s.current == nil {
			return s.answer(&wire.Reply{Invalid: errNotWaiting.Error()})
		}
		s.guard.begin(s.current.rt)
		return s.answer(s.current.deliver(request.Deliver))
	default:
		s.current = nil
		return s.prepare()
	}
}

// prepare furnishes a runtime for the next execution, while nobody waits for it.
func (s *server) prepare() (err error) {
	if s.spare == nil {
		s.spare, err = newExecution()
	}
	return err
}

// answer sends a reply, or the error that it is too large for one.
func (s *server) answer(reply *wire.Reply) error {
	err := wire.Write(s.out, reply)
	if !errors.Is(err, wire.ErrTooLarge) {
		return err
	}
	s.current = nil
	return wire.Write(s.out, &wire.Reply{Steps: []snippet.Step{{End: &snippet.End{Error: &snippet.Error{
		Code: snippet.CodeTooLarge, Message: "the inputs of the calls made at once are too large together",
		Hint: "Make fewer calls at once, or pass less.",
	}}}}})
}
