package child

import (
	"bytes"
	"context"
	"fmt"
	"sync"
)

// maxLog bounds what a [Log] keeps, in bytes.
const maxLog = 256 << 10

// Log keeps the end of what a process prints. The zero value is empty and ready;
// it is safe for concurrent use.
type Log struct {
	mu      sync.Mutex
	data    []byte
	changed chan struct{}
}

// Write adds to the log. It never fails.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.data = append(l.data, p...)
	if excess := len(l.data) - maxLog; excess > 0 {
		l.data = append(l.data[:0], l.data[excess:]...)
	}
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
	return len(p), nil
}

// String is what the log holds.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.data)
}

// Clear empties the log.
func (l *Log) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.data = nil
}

// Wait waits until the process has printed text.
func (l *Log) Wait(ctx context.Context, p *Process, text string) error {
	for {
		found, changed := l.has(text)
		if found {
			return nil
		}
		select {
		case <-changed:
		case <-p.Done():
			if found, _ := l.has(text); found {
				return nil
			}
			return fmt.Errorf("%s ended (%v) without printing %q", p.name, p.Err(), text)
		case <-ctx.Done():
			return fmt.Errorf("%s did not print %q: %w", p.name, text, ctx.Err())
		}
	}
}

// has reports whether the log holds text, and returns a channel that is closed
// when more is printed.
func (l *Log) has(text string) (bool, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return bytes.Contains(l.data, []byte(text)), l.changed
}
