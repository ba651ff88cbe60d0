package codemode

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/codemode/engine"
	"github.com/heddle-dev/heddle/codemode/snippet"
	"github.com/heddle-dev/heddle/signals/contract"
)

const (
	// readsAtOnce is how many reads of one snippet are under way at the same time.
	readsAtOnce = 50
	// effectPatience is how long an effect waits for the reads of other branches.
	effectPatience = time.Second
)

// stretch is a stretch of a snippet while it runs. Whoever has served a call gives the
// snippet what came of it, takes in what it does with that, and goes on with what it
// calls next: a snippet that makes one call after the other is one goroutine.
type stretch struct {
	runner *Runner
	in     activities.Stretch
	x      *engine.Execution
	began  time.Time

	// ctx ends what serves calls.
	ctx  context.Context
	stop context.CancelFunc
	// over is closed when the stretch is, with err if it failed.
	over chan struct{}

	// arrived is what servers have told and is not taken in yet: what has come of several
	// calls is given to the snippet at once.
	arrived inbox

	mu     sync.Mutex // guards all below
	closed bool
	err    error
	// patience runs out for the reads of other branches while an effect waits.
	patience *time.Timer
	// servers serve calls; what none is free for waits in the queue.
	servers int
	queue   []snippet.Call

	journal   snippet.Journal
	calls     map[int]snippet.Call // those without an outcome when the stretch began, and later ones
	handed    map[int]bool         // numbers of the calls that the thread carries out
	serving   map[int]time.Time    // since when calls are being served
	cancelled map[int]bool
	late      []snippet.Delivery
	effects   []activities.PlannedEffect
	sleeps    []activities.Sleep
	called    []int // sleeps called off
	rehearsed []rehearsal
	served    []activities.Served
	warnings  []string
	console   []snippet.Line
	dropped   int
	cpu       time.Duration
	bytes     int64
	known     int // calls that earlier segments made
	used      contract.Usage
	clock     time.Time
	end       *snippet.End
}

// news is what came of a call that was begun: an outcome, or an effect.
type news struct {
	call    snippet.Call
	outcome *snippet.Delivery
	warning string
	// plan is that of an effect; of a read that was made it has the rule of the policy.
	plan catalog.Plan
	asks *catalog.Elicitation
	// left says that the goroutine of the server is not that which tells.
	left bool
}

func newStretch(ctx context.Context, r *Runner, in activities.Stretch, x *engine.Execution) *stretch {
	s := &stretch{
		runner: r, in: in, x: x, began: time.Now(), journal: in.Program.Journal, known: len(in.Program.Journal.Calls), clock: in.Program.Now,
		over:  make(chan struct{}),
		calls: map[int]snippet.Call{}, handed: map[int]bool{}, serving: map[int]time.Time{}, cancelled: map[int]bool{},
	}
	// The journal is what other segments begin with, too: it is gone on from, not written to.
	s.journal.Calls, s.journal.Deliveries = slices.Clip(s.journal.Calls), slices.Clip(s.journal.Deliveries)
	s.ctx, s.stop = context.WithCancel(ctx)
	for _, n := range in.Effects {
		s.handed[n] = true
	}
	for _, d := range s.journal.Deliveries {
		s.bytes += int64(len(d.Result))
		if d.At.After(s.clock) {
			s.clock = d.At
		}
	}
	return s
}

// play runs the snippet from a step on until it can move no further, or has ended.
func (s *stretch) play(step snippet.Step) error {
	s.open(step)
	wall := time.AfterFunc(s.runner.Budget.Wall-s.in.Spent, s.outOfTime)
	defer wall.Stop()
	select {
	case <-s.over:
	case <-s.ctx.Done():
		s.mu.Lock()
		s.close(s.ctx.Err())
		s.mu.Unlock()
	}
	if s.patience != nil {
		s.patience.Stop()
	}
	return s.err
}

// open takes in the first step and the outcomes that the thread has given.
func (s *stretch) open(step snippet.Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take(step)
	for _, d := range s.in.Outcomes {
		s.bytes += int64(len(d.Result))
	}
	if err := s.deliver(s.in.Outcomes); err != nil {
		s.close(err)
		return
	}
	s.goOn()
}

// goOn has what waits in the queue served, and closes the stretch if it is over.
func (s *stretch) goOn() {
	switch {
	case s.closed:
		return
	case s.isOver():
		s.close(nil)
		return
	case s.patience == nil && s.end == nil && len(s.effects)+len(s.sleeps) > 0:
		s.patience = time.AfterFunc(effectPatience, s.cut)
	}
	for len(s.queue) > 0 && s.servers < readsAtOnce {
		s.servers++
		go s.server(s.next())
	}
}

func (s *stretch) next() snippet.Call {
	c := s.queue[0]
	s.queue = s.queue[1:]
	return c
}

// isOver reports whether nothing more is to be waited for. The calls come to their end
// that nobody waits for: the snippet forgot to, and did not mean them not to be made.
// What else is under way at the end, such as the loser of a race, is left.
func (s *stretch) isOver() bool {
	if s.end == nil {
		return len(s.serving) == 0
	}
	return s.end.Error != nil || !slices.ContainsFunc(s.end.Unawaited, func(n int) bool { return !s.serving[n].IsZero() })
}

// close ends the stretch: nothing is taken in any more.
func (s *stretch) close(err error) {
	if !s.closed {
		s.closed, s.err = true, err
		close(s.over)
	}
}

// cut leaves the reads that are under way: they are issued again in the next segment.
func (s *stretch) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end == nil {
		s.close(nil)
	}
}

// take takes in what the snippet did in a step.
func (s *stretch) take(step snippet.Step) {
	s.console, s.dropped, s.cpu = append(s.console, step.Console...), step.Dropped, step.CPU
	for _, n := range step.Cancelled {
		s.cancelled[n] = true
		if s.handed[n] {
			s.called = append(s.called, n)
		}
		delete(s.serving, n)
		s.queue = slices.DeleteFunc(s.queue, func(c snippet.Call) bool { return c.Number == n })
		s.sleeps = slices.DeleteFunc(s.sleeps, func(sleep activities.Sleep) bool { return sleep.Number == n })
	}
	s.end = step.End
	for _, c := range step.Calls {
		s.calls[c.Number] = c
		if c.Number > len(s.journal.Calls) {
			s.journal.Calls = append(s.journal.Calls, c.Record())
		}
		if !s.cancelled[c.Number] && (s.end == nil || slices.Contains(s.end.Unawaited, c.Number)) {
			s.begin(c)
		}
	}
	if s.in.Progress != nil {
		s.in.Progress(len(s.journal.Calls), len(s.journal.Deliveries))
	}
}

// hear takes in what came of calls.
func (s *stretch) hear(told []news) error {
	var outcomes []snippet.Delivery
	for _, n := range told {
		if d := s.outcome(n); d != nil {
			outcomes = append(outcomes, *d)
		}
	}
	return s.deliver(outcomes)
}

// outcome is what the snippet is given of what came of a call, if it is given anything.
func (s *stretch) outcome(n news) *snippet.Delivery {
	number := n.call.Number
	began, serving := s.serving[number]
	if !serving {
		return nil // called off
	}
	delete(s.serving, number)
	if n.outcome == nil && s.in.Dry {
		s.rehearsed = append(s.rehearsed, rehearsal{
			Tool: n.call.Tool, Number: number, Line: n.call.Position.Line,
			NeedsApproval: n.plan.NeedsApproval, Preview: n.plan.Preview,
		})
		n.outcome = &snippet.Delivery{Call: number, At: time.Now()}
	}
	if n.outcome == nil {
		s.effects = append(s.effects, activities.PlannedEffect{Call: n.call, Plan: n.plan, Asks: n.asks})
		return nil
	}
	if n.warning != "" {
		s.warnings = append(s.warnings, fmt.Sprintf("%s (line %d): %s", n.call.Tool, n.call.Position.Line, n.warning))
	}
	d := s.afford(n.call, *n.outcome)
	s.bytes += int64(len(d.Result))
	if n.call.Kind != snippet.KindSleep {
		s.served = append(s.served, served(n.call, d, n.plan.Policy, time.Since(began)))
	}
	return &d
}

// deliver gives the snippet outcomes in turn and takes in what it does with them. One
// that comes after the snippet's end is kept for the report.
func (s *stretch) deliver(ds []snippet.Delivery) error {
	for len(ds) > 0 {
		switch {
		case s.cancelled[ds[0].Call]:
			ds = ds[1:]
			continue
		case s.end != nil:
			s.late = append(s.late, ds[0])
			ds = ds[1:]
			continue
		}
		batch := s.batch(ds)
		steps, err := s.x.DeliverAll(s.ctx, batch)
		if err != nil {
			return fmt.Errorf("call %d: %w", batch[0].Call, err)
		}
		for i, step := range steps {
			s.clock = batch[i].At
			s.journal.Deliveries = append(s.journal.Deliveries, batch[i])
			s.take(step)
		}
		ds = ds[len(steps):]
	}
	return nil
}

// batch is what of outcomes can be given without a look at what the snippet does
// meanwhile: up to the next sleep, which it may call off.
func (s *stretch) batch(ds []snippet.Delivery) []snippet.Delivery {
	batch := slices.Clone(ds)
	clock := s.clock
	for i := range batch {
		d := &batch[i]
		if i > 0 && s.calls[d.Call].Kind == snippet.KindSleep {
			return batch[:i]
		}
		if d.At.Before(clock) {
			d.At = clock
		}
		clock = d.At
	}
	return batch
}

// outOfTime ends a snippet that has used up its time.
func (s *stretch) outOfTime() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end == nil && !s.closed {
		problem := snippet.LimitError(snippet.CodeTime)
		problem.Message = fmt.Sprintf("the snippet took longer than %s, waits for people not counted", s.runner.Budget.Wall)
		problem.Hint = "Do less in one snippet; what it did so far is done."
		s.end = &snippet.End{Error: problem}
		for n := range s.calls {
			if !s.settled(n) {
				s.end.Outstanding = append(s.end.Outstanding, n)
			}
		}
		slices.Sort(s.end.Outstanding)
	}
	s.close(nil)
}

func (s *stretch) settled(number int) bool {
	return slices.ContainsFunc(s.journal.Deliveries, func(d snippet.Delivery) bool { return d.Call == number })
}

// result is what came of the stretch.
func (s *stretch) result() activities.StretchResult {
	result := activities.StretchResult{Journal: s.journal, Late: s.late, Cancelled: s.called, Served: s.served, Used: s.used}
	forgotten := s.forgotten()
	if s.end != nil && len(forgotten) == 0 {
		result.End = s.report()
		return result
	}
	result.Sleeps, result.Cut = s.sleeps, s.end == nil && len(s.serving) > 0
	for _, effect := range s.effects {
		if s.end == nil || slices.Contains(forgotten, effect.Number) {
			result.Effects = append(result.Effects, effect)
		}
	}
	slices.SortFunc(result.Effects, func(a, b activities.PlannedEffect) int { return cmp.Compare(a.Number, b.Number) })
	return result
}

// forgotten are the effects that the snippet ended without waiting for, by mistake,
// and that are still to be carried out.
func (s *stretch) forgotten() []int {
	if s.end == nil || s.end.Error != nil {
		return nil
	}
	var numbers []int
	for _, n := range s.end.Unawaited {
		effect := s.handed[n] || slices.ContainsFunc(s.effects, func(e activities.PlannedEffect) bool { return e.Number == n })
		over := s.settled(n) || slices.ContainsFunc(s.late, func(d snippet.Delivery) bool { return d.Call == n })
		if effect && !over {
			numbers = append(numbers, n)
		}
	}
	return numbers
}
