package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/client"
	tlog "go.temporal.io/sdk/log"

	"github.com/heddle-dev/heddle"
	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/internal/child"
	"github.com/heddle-dev/heddle/signals"
	"github.com/heddle-dev/heddle/signals/contract"
)

// stage is a Temporal server with a Heddle worker in this process, and a client
// that speaks to both.
type stage struct {
	temporal client.Client
	threads  *signals.Client
	model    *instantModel

	server  *child.Temporal
	dir     string
	stop    context.CancelFunc
	stopped chan error
	opened  int
}

// onStage runs a benchmark on a stage of its own.
func onStage(ctx context.Context, use func(context.Context, *stage) error) error {
	s, err := newStage(ctx)
	if err != nil {
		return err
	}
	return errors.Join(use(ctx, s), s.close())
}

func newStage(ctx context.Context) (*stage, error) {
	path, err := child.FindTemporal()
	if err != nil {
		return nil, err
	}
	s := &stage{model: &instantModel{}, stopped: make(chan error, 1)}
	if s.dir, err = os.MkdirTemp("", "heddle-bench-"); err != nil {
		return nil, err
	}
	s.server, err = child.StartTemporal(ctx, child.TemporalOptions{Path: path, Output: io.Discard, SearchAttributes: []string{
		contract.AttributeTenant + "=Keyword", contract.AttributeAgent + "=Keyword",
		contract.AttributeStatus + "=Keyword", contract.AttributePending + "=KeywordList",
	}})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// start connects to the server and starts the worker.
func (s *stage) start(ctx context.Context) error {
	quiet := slog.New(slog.DiscardHandler)
	var err error
	s.temporal, err = client.Dial(client.Options{HostPort: s.server.Address, Logger: tlog.NewStructuredLogger(quiet)})
	if err != nil {
		return err
	}
	s.threads = signals.NewClient(s.temporal, nil)
	config := filepath.Join(s.dir, "heddle.yaml")
	text := fmt.Sprintf("temporal:\n  address: %s\nsandbox: %s\n", s.server.Address, sandboxMode)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	app, err := heddle.New(
		heddle.ConfigFile(config),
		heddle.Logger(quiet),
		heddle.Model("instant", s.model),
		heddle.Agent{
			Name: "bench", Instructions: "Measure.", Model: "instant", Tools: []string{"bench.*"},
			Limits: heddle.Limits{Steps: 10_000, Calls: 100_000, Time: time.Hour},
		},
		heddle.Agent{
			Name: coder, Instructions: "Measure.", Model: "instant", Tools: []string{"bench.*"}, Exposure: heddle.Code,
			Limits: heddle.Limits{Steps: 10_000, Calls: 100_000, Time: time.Hour},
		},
		heddle.Tool("bench.read", "Reads nothing.", readNothing),
		heddle.Tool("bench.slow", "Reads nothing, slowly.", readSlowly),
		heddle.Tool("bench.free", "Writes nothing, without asking.", readNothing, heddle.Write(), heddle.WithoutApproval()),
		heddle.Tool("bench.write", "Writes nothing.", readNothing, heddle.Write()),
	)
	if err != nil {
		return err
	}
	ctx, s.stop = context.WithCancel(ctx)
	go func() { s.stopped <- app.Run(ctx) }()
	return nil
}

func (s *stage) close() error {
	var err error
	if s.stop != nil {
		s.stop()
		err = <-s.stopped
	}
	if s.temporal != nil {
		s.temporal.Close()
	}
	s.server.Kill()
	return errors.Join(err, os.RemoveAll(s.dir))
}

// coder is the agent whose model runs snippets.
const coder = "coder"

// newThread names a thread that does not exist yet.
func (s *stage) newThread() contract.Start {
	s.opened++
	return contract.Start{
		ThreadRef: contract.ThreadRef{Tenant: "bench", Thread: fmt.Sprintf("t%d", s.opened)}, Agent: "bench",
	}
}

// turn sends a message and waits for the turn to end, approving what is asked.
func (s *stage) turn(ctx context.Context, start contract.Start, text string, approvals int) error {
	submitted, err := s.threads.Send(ctx, start, contract.Submission{Text: text})
	if err != nil {
		return err
	}
	if approvals > 0 {
		if err := s.approve(ctx, start.ThreadRef, submitted.Turn, approvals); err != nil {
			return err
		}
	}
	turn, err := s.threads.Wait(ctx, start.ThreadRef, submitted.Turn)
	if err != nil {
		return err
	}
	if turn.Status != contract.StatusCompleted {
		return fmt.Errorf("turn %s of %s is %s: %w", turn.ID, start.ThreadRef, turn.Status, turn.Problem)
	}
	return nil
}

func (s *stage) approve(ctx context.Context, ref contract.ThreadRef, turn string, n int) error {
	for part, err := range s.threads.Watch(ctx, ref, 0) {
		if err != nil {
			return err
		}
		if part.Turn != turn || part.Kind != contract.KindApproval || part.Status != contract.PartWaiting {
			continue
		}
		err := s.threads.Approve(ctx, ref, contract.Decision{
			Approval: part.Approval.ID, Digest: part.Approval.Digest, Verdict: contract.Approve,
		})
		if n--; err != nil || n == 0 {
			return err
		}
	}
	return errors.New("the timeline ended before all was approved")
}

type nothing struct {
	// Bytes is the length of the answer.
	Bytes int `json:"bytes,omitempty"`
}

type blank struct {
	Text string `json:"text"`
}

func readNothing(_ context.Context, in nothing) (blank, error) {
	text := make([]byte, in.Bytes)
	for i := range text {
		text[i] = 'a' + byte(i%26)
	}
	return blank{string(text)}, nil
}

// instantModel replies at once, by a plan for the steps of a turn.
type instantModel struct {
	// steps are the calls of each step; after them the model answers.
	steps atomic.Pointer[[][]activities.ModelCall]
	// asked is told each time the model is asked, if it is set.
	asked atomic.Pointer[chan time.Time]
}

func (m *instantModel) Generate(
	_ context.Context, req activities.ModelRequest, _ func(activities.ModelDelta),
) (activities.ModelResponse, error) {
	if asked := m.asked.Load(); asked != nil {
		select {
		case *asked <- time.Now():
		default:
		}
	}
	step := 0
	for _, message := range req.Messages {
		switch message.Role {
		case contract.RoleUser:
			step = 0
		case contract.RoleAssistant:
			step++
		}
	}
	steps := m.steps.Load()
	if steps == nil || step >= len(*steps) {
		return activities.ModelResponse{Text: "done", Stop: activities.StopEnd}, nil
	}
	return activities.ModelResponse{Calls: (*steps)[step], Stop: activities.StopCalls}, nil
}

// call is a call of one of the stage's tools.
func call(tool, input string) activities.ModelCall {
	return activities.ModelCall{Name: activities.ToolName("bench." + tool), Input: input}
}
