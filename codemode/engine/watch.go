package engine

import (
	"sync"
	"time"

	"github.com/heddle-dev/heddle/codemode/snippet"
)

const (
	// watchInterval is how often a step that takes time is looked at.
	watchInterval = 5 * time.Millisecond
	// mostUnseen bounds what counts of the time since a look. Who looks as seldom as that
	// has stood still, as a machine does that is paused or much too busy, and so has the
	// child, as far as anybody knows.
	mostUnseen = 250 * time.Millisecond
	// Past soft, a part of a limit, the child is asked to end the snippet by itself,
	// which tells where the snippet was. Past the limit it is killed.
	softNumerator, softDenominator = 8, 10
)

// usage is what a process has used.
type usage struct {
	cpu    time.Duration
	memory int64 // resident and not shared with the file of the program, in bytes
}

// watcher looks at a child while it runs a step. A step that is done before a look is
// due costs hardly anything: the timer goes on for the next one.
type watcher struct {
	mu      sync.Mutex
	timer   *time.Timer
	ticking bool
	working bool
	asked   bool
	// looked is when the step was looked at last, or has begun, and wall the time that
	// it had until then.
	looked time.Time
	wall   time.Duration
}

// begin starts to look at the child.
func (w *watcher) begin(c *child) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.working, w.asked, w.looked, w.wall = true, false, time.Now(), 0
	switch {
	case w.timer == nil:
		w.timer = time.AfterFunc(watchInterval, func() { w.look(c) })
	case !w.ticking:
		w.timer.Reset(watchInterval)
	}
	w.ticking = true
}

func (w *watcher) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.working = false
}

// pass takes in the time that has passed since the last look, and returns what the step
// has had.
func (w *watcher) pass(now time.Time) time.Duration {
	w.wall += min(now.Sub(w.looked), mostUnseen)
	w.looked = now
	return w.wall
}

func (w *watcher) look(c *child) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ticking = w.working
	if !w.working {
		return
	}
	wall := w.pass(time.Now())
	if wall < watchInterval { // it is another step than the one that the timer was set for
		w.timer.Reset(watchInterval - wall)
		return
	}
	used, _ := usageOf(c.pid)
	spent := used.cpu - c.started
	code, over := "", false
	for _, limit := range []struct {
		code      string
		value, at int64
	}{
		{snippet.CodeCPU, int64(spent), int64(c.limits.CPU)},
		{snippet.CodeMemory, used.memory, c.limits.Memory},
		{snippet.CodeTime, int64(wall), int64(c.limits.Wall)},
	} {
		if limit.value >= limit.at {
			code, over = limit.code, true
			break
		}
		if code == "" && limit.value >= limit.at/softDenominator*softNumerator {
			code = limit.code
		}
	}
	switch {
	case over:
		c.kill(code)
		return
	case code != "" && !w.asked:
		w.asked = true
		c.interrupt(c.steps, code)
	}
	w.timer.Reset(watchInterval)
}
