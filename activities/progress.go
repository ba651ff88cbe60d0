package activities

import (
	"maps"
	"math"
	"sync"
	"sync/atomic"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// progress counts what has arrived of a model's reply. It is what the server
// knows of a model turn that runs, and the Temporal UI shows it.
type progress struct{ bytes atomic.Int64 }

func (p *progress) add(d ModelDelta) { p.bytes.Add(int64(len(d.Text) + len(d.Reasoning))) }

func (p *progress) details() []any {
	return []any{map[string]int64{"received_bytes": p.bytes.Load()}}
}

// progressOfCalls is how far the calls of an activity have come. It goes with the next
// heartbeat, so that however often a tool tells of it, it costs nothing.
type progressOfCalls struct {
	mu   sync.Mutex
	last map[string]contract.Progress
}

// follow takes what is told of a call.
func (p *progressOfCalls) follow(call string) func(catalog.Progress) {
	return func(told catalog.Progress) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.last == nil {
			p.last = map[string]contract.Progress{}
		}
		p.last[call] = counted(told)
	}
}

// beat is what a heartbeat tells of it.
func (p *progressOfCalls) beat() contract.Beat {
	p.mu.Lock()
	defer p.mu.Unlock()
	return contract.Beat{Progress: maps.Clone(p.last)}
}

// counted is a progress in whole numbers: its own, or else in hundredths of the
// total.
func counted(p catalog.Progress) contract.Progress {
	const most = 1 << 52
	whole := func(f float64) bool { return f >= 0 && f <= most && f == math.Trunc(f) }
	counted := contract.Progress{Message: p.Message}
	switch {
	case p.Total > 0 && p.Total <= most && whole(p.Total) && whole(p.Done):
		counted.Done, counted.Total = int(p.Done), int(p.Total)
	case p.Total > 0 && p.Done >= 0 && !math.IsInf(p.Total, 0):
		counted.Done, counted.Total = int(100*min(p.Done/p.Total, 1)), 100
	case p.Done > 0: // and not NaN
		counted.Done = int(min(p.Done, most))
	}
	return counted
}
