package testkit

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

// maxOutput bounds what is kept of a process's output, in bytes: the end of it.
const maxOutput = 256 << 10

// output keeps the end of what a process prints.
type output struct {
	mu      sync.Mutex
	data    []byte
	changed chan struct{}
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.data = append(o.data, p...)
	if excess := len(o.data) - maxOutput; excess > 0 {
		o.data = append(o.data[:0], o.data[excess:]...)
	}
	if o.changed != nil {
		close(o.changed)
		o.changed = nil
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.data)
}

// has reports whether text was printed, and a channel that is closed when more
// is printed.
func (o *output) has(text string) (bool, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.changed == nil {
		o.changed = make(chan struct{})
	}
	return bytes.Contains(o.data, []byte(text)), o.changed
}

// clear forgets what was printed so far.
func (o *output) clear() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.data = nil
}

// showOnFailure logs the output when the test has failed.
func (o *output) showOnFailure(t testing.TB, name string) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("output of the %s:\n%s", name, o)
		}
	})
}

// Logger logs to the test.
func Logger(t testing.TB) *slog.Logger {
	t.Helper()
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// Name returns a name that no other test has, legal for a tenant, a thread and a
// task queue.
func Name(t testing.TB) string {
	t.Helper()
	var suffix [4]byte
	_, _ = rand.Read(suffix[:]) // never fails
	legal := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-':
			return r
		default:
			return '-'
		}
	}, t.Name())
	return legal[:min(len(legal), 50)] + "-" + hex.EncodeToString(suffix[:])
}
