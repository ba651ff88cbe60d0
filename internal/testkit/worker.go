package testkit

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/child"
)

// stopTimeout is how long a worker may take to stop gracefully, on a machine that is
// busy: longer than it lets its activities take to end.
const stopTimeout = 2 * time.Minute

// TaskQueueEnv is the environment variable in which a worker finds its task
// queue: a configuration says task_queue: ${HEDDLE_TASK_QUEUE}.
const TaskQueueEnv = "HEDDLE_TASK_QUEUE"

// Ready is what a worker logs once it takes tasks.
const Ready = "worker started"

// Worker says how a worker is run.
type Worker struct {
	// Server is what it connects to.
	Server *Server
	// Files are written into the worker's folder before it starts, by their path
	// in it. It needs a heddle.yaml.
	Files map[string]string
	// Binary is the program. Empty: the test binary, see [Main].
	Binary string
	// Args follow --config heddle.yaml.
	Args []string
	// Env is added to its environment, as NAME=value.
	Env []string
	// TaskQueue is its task queue. Empty: a name of its own.
	TaskQueue string
}

// WorkerProcess is a worker in a process of its own, with files that stay when
// it is killed.
type WorkerProcess struct {
	// Dir is the worker's folder.
	Dir string
	// TaskQueue is the worker's task queue.
	TaskQueue string

	worker  Worker
	process *child.Process
	log     *child.Log
}

// StartWorker writes the worker's files, starts it and returns once it is ready.
// The worker ends with the test.
func StartWorker(t testing.TB, w Worker) *WorkerProcess {
	t.Helper()
	p := &WorkerProcess{Dir: t.TempDir(), TaskQueue: w.TaskQueue, worker: w, log: &child.Log{}}
	if p.TaskQueue == "" {
		p.TaskQueue = Name(t)
	}
	for name, content := range w.Files {
		path := filepath.Join(p.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatalf("testkit: %v", err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatalf("testkit: %v", err)
		}
	}
	showOnFailure(t, "worker", p.log)
	t.Cleanup(p.Kill)
	p.Start(t)
	return p
}

// Start starts a new process with the same files, and returns once it is ready.
// The one before must have ended.
func (p *WorkerProcess) Start(t testing.TB) {
	t.Helper()
	p.launch(t)
	p.WaitOutput(t, Ready)
}

// Refused starts a new process that is to end by itself before it is ready, and
// returns what it has printed. The one before must have ended.
func (p *WorkerProcess) Refused(t testing.TB) string {
	t.Helper()
	p.launch(t)
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if p.log.Wait(ctx, p.process, Ready) == nil {
		t.Errorf("testkit: the worker has started, and should not have")
	}
	p.process.Kill()
	return p.log.String()
}

func (p *WorkerProcess) launch(t testing.TB) {
	t.Helper()
	path, env := p.worker.Binary, p.worker.Env
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			t.Fatalf("testkit: %v", err)
		}
		path, env = self, append([]string{workerEnv + "=1"}, env...)
	}
	p.log.Clear()
	log, err := os.OpenFile(p.LogFile(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatalf("testkit: %v", err)
	}
	t.Cleanup(func() { _ = log.Close() })
	process, err := child.Start(child.Command{
		Path:   path,
		Args:   append([]string{"--config", filepath.Join(p.Dir, "heddle.yaml")}, p.worker.Args...),
		Dir:    p.Dir,
		Env:    append(append(child.ClientEnv(p.worker.Server.Address), TaskQueueEnv+"="+p.TaskQueue), env...),
		Output: io.MultiWriter(p.log, log),
	})
	if err != nil {
		t.Fatalf("testkit: %v", err)
	}
	p.process = process
}

// WaitOutput waits until the worker has printed text since its start.
func (p *WorkerProcess) WaitOutput(t testing.TB, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if err := p.log.Wait(ctx, p.process, text); err != nil {
		t.Fatalf("testkit: worker: %v", err)
	}
}

// Output is the end of what the worker has printed since its start.
func (p *WorkerProcess) Output() string { return p.log.String() }

// LogFile is where all is that its processes have printed.
func (p *WorkerProcess) LogFile() string { return filepath.Join(p.Dir, "worker.log") }

// PID is the process id.
func (p *WorkerProcess) PID() int { return p.process.PID() }

// Kill ends the worker at once (SIGKILL) and returns when it is gone.
func (p *WorkerProcess) Kill() {
	if p.process != nil {
		p.process.Kill()
	}
}

// Stop asks the worker to stop (SIGTERM); the test fails unless it does so in
// time and with exit code 0.
func (p *WorkerProcess) Stop(t testing.TB) {
	t.Helper()
	if err := p.process.Stop(stopTimeout); err != nil {
		t.Errorf("testkit: %v", err)
	}
}
