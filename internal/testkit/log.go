package testkit

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/heddle-dev/heddle/internal/child"
)

// showOnFailure logs what a process has printed when the test has failed.
func showOnFailure(t testing.TB, name string, log *child.Log) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("output of the %s:\n%s", name, log)
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

// Await returns a logger, and a channel that is closed when a message is logged.
func Await(message string) (*slog.Logger, <-chan struct{}) {
	logged := make(chan struct{})
	return slog.New(&awaiting{message: message, logged: sync.OnceFunc(func() { close(logged) })}), logged
}

// awaiting is a handler that waits for a message and drops the rest.
type awaiting struct {
	message string
	logged  func()
}

func (*awaiting) Enabled(context.Context, slog.Level) bool { return true }

func (a *awaiting) Handle(_ context.Context, r slog.Record) error {
	if r.Message == a.message {
		a.logged()
	}
	return nil
}

func (a *awaiting) WithAttrs([]slog.Attr) slog.Handler { return a }

func (a *awaiting) WithGroup(string) slog.Handler { return a }
