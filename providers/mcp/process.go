package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"

	"github.com/heddle-dev/heddle/catalog"
)

// Command is a server that runs as a process of this machine and is spoken to over
// its standard streams.
type Command struct {
	// Path is the program, looked up on this process's PATH, and Args are its
	// arguments.
	Path string
	Args []string
	// Env is all of its environment, as NAME=value, beside PATH, HOME, USER, LANG and
	// TMPDIR, which it shares with this process. Nothing else of this process's own
	// reaches it.
	Env []string
	// Dir is where it runs. Empty: in this process's folder.
	Dir string
}

// shared are the variables that a server shares with this process: those without
// which programs do not start.
var shared = []string{"PATH", "HOME", "USER", "LANG", "TMPDIR"}

// process is a running server. It ends with its whole process group.
type process struct {
	cmd   *exec.Cmd
	stdin *os.File
	// gone ends with it.
	gone context.Context

	mu      sync.Mutex
	verdict error // why it was ended, if it was
	killed  bool
}

// start runs the command. What it writes can be read from the reader, each line
// bounded.
func start(c Command, message int64) (*process, io.Reader, error) {
	childIn, stdin, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	stdout, childOut, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, childIn.Close(), stdin.Close())
	}
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout = c.Dir, childIn, childOut
	cmd.Stderr = &stderrLog{name: c.Path}
	cmd.WaitDelay = closeTimeout
	cmd.SysProcAttr = ownGroup()
	for _, name := range shared {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Env = append(cmd.Env, c.Env...)
	gone, end := context.WithCancel(context.Background())
	p := &process{cmd: cmd, stdin: stdin, gone: gone}
	started := make(chan error)
	go func() {
		// The kernel ends a child when the thread that started it ends, so that
		// thread has to stay for as long as the child does.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		_ = childIn.Close()
		_ = childOut.Close()
		started <- err
		if err == nil {
			stopWatch := watch(cmd.Process.Pid)
			_ = cmd.Wait() // how it ended tells nothing that the lost connection does not
			p.kill(nil)    // what it has left behind
			stopWatch()    // before its number is another's
			end()
		}
	}()
	if err := <-started; err != nil {
		_ = stdin.Close()
		_ = stdout.Close()
		return nil, nil, err
	}
	return p, &lines{file: stdout, process: p, most: message, left: message}, nil
}

// kill ends the process and all that it has started.
func (p *process) kill(verdict error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.verdict == nil {
		p.verdict = verdict
	}
	if !p.killed {
		p.killed = true
		killGroup(p.cmd.Process)
	}
}

func (p *process) why() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.verdict
}

// stop closes the server's input, which asks it to end, and ends it if it does not.
func (p *process) stop() {
	_ = p.stdin.Close()
	timer := time.NewTimer(closeTimeout)
	defer timer.Stop()
	select {
	case <-p.gone.Done():
	case <-timer.C:
		p.kill(nil)
		<-p.gone.Done()
	}
}

// Write gives the server input. One that leaves it unread is ended: nothing could
// be asked of it any more.
func (p *process) Write(b []byte) (int, error) {
	if err := p.stdin.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return 0, err
	}
	n, err := p.stdin.Write(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		p.kill(&fault{
			code: CodeConnectionLost, message: "the server does not read what it is asked", effect: catalog.EffectNone,
			retryable: true, sick: true, gone: true,
		})
	}
	return n, err
}

// Close closes the server's input.
func (p *process) Close() error { return p.stdin.Close() }

// lines reads what a server writes. A line that is too long ends it.
type lines struct {
	file       *os.File
	process    *process
	most, left int64
}

func (l *lines) Read(b []byte) (int, error) {
	n, err := l.file.Read(b)
	if i := bytes.LastIndexByte(b[:n], '\n'); i >= 0 {
		l.left = l.most - int64(n-i-1)
	} else {
		l.left -= int64(n)
	}
	if l.left < 0 {
		l.process.kill(&fault{
			code: catalog.CodeTooLarge, message: fmt.Sprintf("the server's answer is longer than %d bytes", l.most),
			effect: catalog.EffectUnknown, hint: "ask for less at once", sick: true, gone: true,
		})
		err = io.EOF
	}
	if err != nil {
		_ = l.file.Close()
		return 0, io.EOF
	}
	return n, nil
}

// stderrLog logs what a server writes to its standard error, in bounded pieces.
type stderrLog struct{ name string }

func (s *stderrLog) Write(b []byte) (int, error) {
	if text := plain(string(b), maxText); text != "" {
		slog.Debug("mcp: a server writes to its standard error", "server", s.name, "text", text)
	}
	return len(b), nil
}

// dialProcess starts a server and begins a connection with it.
func dialProcess(c Command, message int64, e events) (wire, error) {
	p, out, err := start(c, message)
	if err != nil {
		return nil, &fault{
			code: CodeUnreachable, message: "the server cannot be started: " + plain(err.Error(), maxText),
			effect: catalog.EffectNone, retryable: true, sick: true,
		}
	}
	t := transport.NewIO(out, p, nil)
	w := &carrier{transport: t, lost: p.gone, end: p.stop, process: true}
	w.explain = func(ctx context.Context, _ *exchange, _ error) error { return p.explain(ctx) }
	w.listen(e)
	if err := t.Start(context.Background()); err != nil {
		w.close()
		return nil, fmt.Errorf("mcp: %w", err)
	}
	return w, nil
}

// explain makes a fault of a request without a result. Once it was handed over,
// nobody knows what the server has done with it.
func (p *process) explain(ctx context.Context) error {
	var f *fault
	if errors.As(p.why(), &f) {
		return f
	}
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), errLost) {
		return ended(ctx, catalog.EffectUnknown)
	}
	return &fault{
		code: CodeConnectionLost, message: "the server's process has ended before it answered",
		effect: catalog.EffectUnknown, retryable: true, sick: true, gone: true,
	}
}
