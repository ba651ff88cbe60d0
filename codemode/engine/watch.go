package engine

import (
	"sync"
	"time"

	"github.com/heddle-dev/heddle/codemode/snippet"
)

const (
	// watchInterval is how often a step that takes time is looked at.
	watchInterval = 5 * time.Millisecond
	// Past soft, a part of a limit, the child is asked to end the snippet by itself,
	// which tells where the snippet was. Past the limit it is killed.
	softNumerator, softDenominator = 8, 10
)

// usage is what a process has used.
type usage struct {
	cpu    time.Duration
	memory int64 // resident and not shared with the file of the program, in bytes
}

// watcher looks at a child while it runs a step.
type watcher struct {
	child *child
	step  uint64
	begun time.Time

	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
	asked   bool
}

// watch starts to look at the child. A step that is done before the first look
// costs a timer and no more.
func (c *child) watch(step uint64) *watcher {
	w := &watcher{child: c, step: step, begun: time.Now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(watchInterval, w.look)
	return w
}

func (w *watcher) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.timer.Stop()
}

func (w *watcher) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	c := w.child
	used, _ := usageOf(c.pid)
	spent, wall := used.cpu-c.started, time.Since(w.begun)
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
		c.interrupt(w.step, code)
	}
	w.timer.Reset(watchInterval)
}
