package child

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// outputDelay is how long a process that has ended may leave its output open,
// such as through a child of its own.
const outputDelay = 10 * time.Second

// Command is a program to run.
type Command struct {
	// Path is the program, and Args are its arguments.
	Path string
	Args []string
	// Dir is where it runs. Empty: in this process's own folder.
	Dir string
	// Env is added to this process's own environment, as NAME=value.
	Env []string
	// Output takes what it prints, on either stream.
	Output io.Writer
	// Foreground gives it this process's own terminal: its standard streams, in
	// place of Output, and the keys that interrupt.
	Foreground bool
}

// Process is a running program.
type Process struct {
	cmd  *exec.Cmd
	name string
	done chan struct{}
	err  error
}

// Start runs a program. Unless it is in the foreground it has a process group of
// its own: an interrupt typed at the terminal reaches this process alone, which
// ends what it started in its own order.
func Start(c Command) (*Process, error) {
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir = c.Dir
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Stdout, cmd.Stderr = c.Output, c.Output
	if c.Foreground {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	}
	cmd.WaitDelay = outputDelay
	cmd.SysProcAttr = attributes(!c.Foreground)
	p := &Process{cmd: cmd, name: c.Path, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel ends a child when the thread that started it ends, so that
		// thread has to stay for as long as the child does.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	return p, nil
}

// PID is the process's id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how the process ended, once Done is closed: nil for exit code 0.
func (p *Process) Err() error { return p.err }

// Kill ends the process at once (SIGKILL) and returns when it is gone.
func (p *Process) Kill() {
	// It may have ended by itself, which is as good.
	_ = p.cmd.Process.Kill()
	<-p.done
}

// Stop asks the process to end (SIGTERM), and kills it if it has not after
// grace. It returns when the process is gone, with an error unless it ended in
// time and with exit code 0.
func (p *Process) Stop(grace time.Duration) error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.Kill()
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return p.err
	case <-timer.C:
		p.Kill()
		return fmt.Errorf("stop %s: it had not ended after %s and was killed", p.name, grace)
	}
}
