package engine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/heddle-dev/heddle/codemode/internal/wire"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

const (
	// readyTime is how long a child may take to be ready.
	readyTime = 30 * time.Second
	// maxLifeCPU is the processor time of a child's whole life. The kernel kills it
	// after that, whatever became of its parent. A child is replaced at half of it.
	maxLifeCPU = 120 * time.Second
	// dataHeadroom is private memory that a child has besides what it uses: the Go
	// heap is laid out in arenas of 64 MiB.
	dataHeadroom = 64 << 20
	// replyBuffer is how much of a reply is read at once, in bytes.
	replyBuffer = 16 << 10
	// errorText is how much of a child's last words is kept, in bytes.
	errorText = 4 << 10
)

// child is a process that runs snippets, one at a time.
type child struct {
	cmd        *exec.Cmd
	pid        int
	stdin      *os.File
	stdout     *os.File
	replies    *bufio.Reader // of stdout
	interrupts *os.File
	stderr     *lastWords
	done       chan struct{} // closed when the process is gone and waited for

	tenant string // whose snippets it has run; empty: nobody's
	served int
	idle   int64 // memory when it was ready, in bytes

	steps   uint64
	watcher watcher
	limits  snippet.Limits
	started time.Duration // processor time when the execution began

	mu     sync.Mutex
	killed bool   // it is gone, or will be in a moment
	reason string // the code of the limit that it was killed for
	cpu    time.Duration
}

// spawn starts a child and waits until it is ready, or the context ends.
func spawn(ctx context.Context, options *Options) (*child, error) {
	setup, err := json.Marshal(wire.Setup{
		Data:       uint64(options.Limits.Memory) + dataHeadroom, //nolint:gosec // checked to be positive
		CPUSeconds: uint64(maxLifeCPU / time.Second),
	})
	if err != nil {
		return nil, err
	}
	command := options.Command
	if len(command) == 0 {
		command = []string{ownProgram()}
	}
	c := &child{done: make(chan struct{}), stderr: &lastWords{}}
	c.cmd = exec.Command(command[0], append(command[1:len(command):len(command)], wire.ChildArg, string(setup))...) //nolint:gosec // the operator's
	c.cmd.Env = []string{"TZ=UTC"}
	c.cmd.Dir = string(os.PathSeparator)
	c.cmd.Stderr = c.stderr
	c.cmd.SysProcAttr = childAttributes()
	if err := c.start(); err != nil {
		return nil, fmt.Errorf("start sandbox: %w", err)
	}
	if err := c.awaitReady(ctx, options); err != nil {
		c.discard()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	return c, nil
}

// discard ends the process and returns when it is gone.
func (c *child) discard() {
	c.kill("")
	<-c.done
	_, _, _ = c.stdin.Close(), c.stdout.Close(), c.interrupts.Close()
}

// start runs the process with pipes of which this side has deadlines.
func (c *child) start() (err error) {
	var theirs, ours []*os.File
	pipe := func(inward bool) (mine *os.File) {
		if err != nil {
			return nil
		}
		var r, w *os.File
		if r, w, err = os.Pipe(); err != nil {
			return nil
		}
		if inward {
			r, w = w, r
		}
		theirs, ours = append(theirs, r), append(ours, w)
		return w
	}
	c.stdin, c.stdout, c.interrupts = pipe(false), pipe(true), pipe(false)
	if err == nil {
		c.cmd.Stdin, c.cmd.Stdout, c.cmd.ExtraFiles = theirs[0], theirs[1], theirs[2:]
		err = c.cmd.Start()
	}
	for _, end := range theirs {
		_ = end.Close()
	}
	if err != nil {
		for _, end := range ours {
			_ = end.Close()
		}
		return err
	}
	// A reply comes so soon that to wait for it in the system costs less than to have the
	// runtime wait: only the end of the process ends a read, and nothing else has to.
	_ = c.stdout.Fd()
	c.replies = bufio.NewReaderSize(c.stdout, replyBuffer)
	c.pid = c.cmd.Process.Pid
	go func() {
		_ = c.cmd.Wait() // how it ended is in the process state
		close(c.done)
	}()
	return nil
}

// awaitReady checks the first message of a child.
func (c *child) awaitReady(ctx context.Context, options *Options) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { c.kill("") })
	defer stop()
	var reply wire.Reply
	err := wire.Read(c.replies, &reply)
	switch {
	case err != nil:
		c.kill("")
		<-c.done
		return fmt.Errorf("the sandbox did not start (%v): does main call sandbox.ChildMain first? %s", err, c.stderr.text())
	case reply.Ready == nil || reply.Ready.Version != wire.Version:
		return errors.New("the sandbox is of another version than this program")
	case len(reply.Ready.Missing) > 0 && !options.AllowUnhardened:
		return fmt.Errorf("snippets cannot run safely here: %s (Options.AllowUnhardened runs them all the same)", strings.Join(reply.Ready.Missing, "; "))
	}
	usage, _ := usageOf(c.pid)
	c.idle, c.cpu = usage.memory, usage.cpu
	return nil
}

// beginExecution sets what the next steps are measured against.
func (c *child) beginExecution(limits snippet.Limits) {
	c.limits = limits
	c.served++
	if cpu, ok := cpuOf(c.pid); ok {
		c.mu.Lock()
		c.cpu, c.started = cpu, cpu
		c.mu.Unlock()
	}
}

// used is the processor time of the execution.
func (c *child) used() time.Duration {
	cpu, ok := cpuOf(c.pid)
	c.mu.Lock()
	defer c.mu.Unlock()
	if ok && cpu > c.cpu {
		c.cpu = cpu
	}
	return c.cpu - c.started
}

// step sends a request and waits for the reply, for the death of the child or for
// the end of the context, in which case it sees to it that the child dies.
func (c *child) step(ctx context.Context, request *wire.Request) (*wire.Reply, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { c.kill("") })
	defer func() {
		if !stop() { // else the kill could come when somebody else has the child
			c.kill("")
		}
	}()
	frame, err := wire.Frame(request)
	if err != nil {
		return nil, err
	}
	c.steps++
	c.watcher.begin(c)
	defer c.watcher.end()
	var reply wire.Reply
	_, err = c.stdin.Write(frame)
	if err == nil {
		err = wire.Read(c.replies, &reply)
	}
	if err == nil {
		return &reply, nil
	}
	c.kill("")
	<-c.done
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, c.death(err)
}

// interrupt asks the child to end a step by itself, which gives a position. Where
// that does not help, the hard limit will.
func (c *child) interrupt(step uint64, code string) {
	_ = c.interrupts.SetWriteDeadline(time.Now().Add(watchInterval))
	_ = wire.Write(c.interrupts, wire.Interrupt{Step: step, Code: code})
}

// kill ends the process. The first reason counts.
func (c *child) kill(reason string) {
	c.mu.Lock()
	if c.killed = true; c.reason == "" {
		c.reason = reason
	}
	c.mu.Unlock()
	_ = c.cmd.Process.Kill()
}

// alive reports whether the process runs and goes on. One that was killed may have sent
// a last reply, and is not always seen to be gone at once.
func (c *child) alive() bool {
	select {
	case <-c.done:
		return false
	default:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.killed
}

// deathError says that a child died, and what that is to its snippet.
type deathError struct{ problem *snippet.Error }

func (e *deathError) Error() string { return e.problem.Error() }

// death finds out what a child died of.
func (c *child) death(cause error) error {
	c.mu.Lock()
	reason := c.reason
	c.mu.Unlock()
	words := c.stderr.text()
	if reason == "" {
		reason = reasonOf(words, c.cmd.ProcessState)
	}
	if reason != "" {
		return &deathError{snippet.LimitError(reason)}
	}
	first, _, _ := strings.Cut(words, "\n")
	if first == "" {
		first = fmt.Sprintf("%v (%v)", c.cmd.ProcessState, cause)
	}
	return &deathError{&snippet.Error{
		Code: snippet.CodeCrashed, Message: "the process that ran the snippet died: " + first, Retryable: true,
	}}
}

// reasonOf reads the last words of a Go program.
func reasonOf(words string, state *os.ProcessState) string {
	said := func(any ...string) bool {
		return slices.ContainsFunc(any, func(part string) bool { return strings.Contains(words, part) })
	}
	switch {
	case said("stack exceeds", "stack overflow"):
		return snippet.CodeStack
	case said("out of memory", "cannot allocate memory", "cannot map pages", "failed to create new OS thread", "failed to reserve"):
		return snippet.CodeMemory
	case strings.HasPrefix(words, "SIGSEGV") && said("goroutine 0 "):
		// The runtime itself, on its own stack: it does not check all its allocations.
		return snippet.CodeMemory
	case state != nil && state.UserTime()+state.SystemTime() >= maxLifeCPU:
		return snippet.CodeCPU
	}
	return ""
}

// lastWords keeps the beginning of what a process prints to its standard error.
type lastWords struct {
	mu   sync.Mutex
	kept bytes.Buffer
}

func (w *lastWords) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept.Write(p[:min(len(p), errorText-w.kept.Len())])
	return len(p), nil
}

func (w *lastWords) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.ToValidUTF8(strings.TrimSpace(w.kept.String()), "\ufffd")
}
