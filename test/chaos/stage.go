package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.temporal.io/sdk/client"
	tlog "go.temporal.io/sdk/log"

	"github.com/heddle-dev/heddle/internal/blobs"
	"github.com/heddle-dev/heddle/internal/child"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// actors are all that have been started.
func (s *stage) actors() []*actor {
	return slices.DeleteFunc(append(slices.Clone(s.workers), s.target, s.server), func(a *actor) bool { return a == nil })
}

// workers is how many workers there are.
const workers = 3

// startLimit bounds the start of a process, on a machine that is busy.
const startLimit = 5 * time.Minute

// stage is all that runs: the Temporal server, the target, the workers, and a
// client of the threads.
type stage struct {
	dir      string
	seed     uint64
	temporal client.Client
	threads  *signals.Client
	archive  *blobs.Store

	targetAddress string

	// server, target and workers are who can be struck.
	server  *actor
	target  *actor
	workers []*actor
}

func newStage(ctx context.Context, dir string, seed uint64) (*stage, error) {
	s := &stage{dir: dir, seed: seed}
	for name, text := range map[string]string{"heddle.yaml": workerConfig, "target.yaml": targetSpec} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *stage) open(ctx context.Context) error {
	temporal, err := s.serverActor()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ports, err := child.FreePorts(1) // which it has again after a kill
	if err != nil {
		return err
	}
	s.targetAddress = net.JoinHostPort("127.0.0.1", ports[0])
	s.server = temporal
	s.target = &actor{name: "target", logs: s.dir, ready: targetReady, command: child.Command{
		Path: self, Args: []string{"-target", s.targetAddress, "-target-database", s.path("target.db"), "-seed", fmt.Sprint(s.seed)},
	}}
	if err := errors.Join(s.server.start(ctx), s.target.start(ctx)); err != nil {
		return err
	}
	for n := range workers {
		worker := &actor{name: fmt.Sprintf("worker-%d", n+1), logs: s.dir, ready: "worker started", command: child.Command{
			Path: self, Args: []string{"--config", s.path("heddle.yaml")}, Dir: s.dir,
			Env: append(child.ClientEnv(s.server.address), envRole+"=worker", envTarget+"="+s.targetAddress,
				envScripts+"="+s.path("scripts"), "CHAOS_BLOBS="+s.path("blobs")),
		}}
		s.workers = append(s.workers, worker)
		if err := worker.start(ctx); err != nil {
			return err
		}
	}
	return s.connect(ctx)
}

func (s *stage) serverActor() (*actor, error) {
	path, err := child.FindTemporal()
	if err != nil {
		return nil, err
	}
	return &actor{name: "temporal", temporal: &child.TemporalOptions{
		Path: path, Database: s.path("temporal.db"),
		SearchAttributes: []string{
			contract.AttributeTenant + "=Keyword", contract.AttributeAgent + "=Keyword",
			contract.AttributeStatus + "=Keyword", contract.AttributePending + "=KeywordList",
		},
		// Some threads are to continue as new.
		DynamicConfig: []string{"limit.historyCount.suggestContinueAsNew=120"},
	}}, nil
}

func (s *stage) connect(ctx context.Context) error {
	quiet := tlog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	var err error
	if s.temporal, err = client.Dial(client.Options{HostPort: s.server.address, Logger: quiet}); err != nil {
		return err
	}
	if s.archive, err = blobs.Open(ctx, s.path("blobs")); err != nil {
		return err
	}
	s.threads = signals.NewClient(s.temporal, &signals.Options{TaskQueue: "chaos", Archive: s.archive})
	return nil
}

func (s *stage) path(name string) string { return filepath.Join(s.dir, name) }

func (s *stage) close() error {
	var err error
	if s.temporal != nil {
		s.temporal.Close()
	}
	if s.archive != nil {
		err = s.archive.Close()
	}
	for _, a := range s.actors() {
		a.kill()
	}
	return err
}

// actor is a process that is started again and again.
type actor struct {
	name string
	// logs is the folder of what it prints.
	logs    string
	command child.Command
	// ready is what it prints when it is.
	ready string
	// temporal is set for the Temporal server, and address is where it is.
	temporal *child.TemporalOptions
	address  string

	process *child.Process
	log     child.Log
	// busy says that it is being struck.
	busy bool
}

// start starts the process and returns when it is ready. One that ends before, as a
// worker does that finds no server, is started again.
func (a *actor) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		err := a.startOnce(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
		wait(ctx, again)
	}
}

func (a *actor) startOnce(ctx context.Context) error {
	if a.temporal != nil {
		options := *a.temporal
		options.Address, options.Output = a.address, &a.log
		server, err := child.StartTemporal(ctx, options)
		if err != nil {
			return fmt.Errorf("start %s: %w", a.name, err)
		}
		a.process, a.address = server.Process, server.Address
		return nil
	}
	if a.command.Output == nil {
		file, err := os.OpenFile(filepath.Join(a.logs, a.name+".log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		a.command.Output = io.MultiWriter(&a.log, file) // open as long as the stage
	}
	a.log.Clear()
	process, err := child.Start(a.command)
	if err != nil {
		return err
	}
	a.process = process
	if err := a.log.Wait(ctx, a.process, a.ready); err != nil {
		return fmt.Errorf("start %s: %w\n%s", a.name, err, a.log.String())
	}
	return nil
}

// kill ends the process at once.
func (a *actor) kill() {
	if a.process != nil {
		a.process.Kill()
	}
}
