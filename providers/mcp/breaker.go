package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/heddle-dev/heddle/catalog"
)

const (
	// sickAfter is how many failures in a row make a server be left alone.
	sickAfter = 5
	// firstPause is for how long, twice as long after each attempt that fails, and
	// longestPause at most.
	firstPause   = 5 * time.Second
	longestPause = 2 * time.Minute
)

// breaker leaves a server alone that does not answer, and bounds how many calls it
// has at one time. It belongs to one server, so that no other one suffers.
type breaker struct {
	slots chan struct{}

	mu       sync.Mutex
	failures int
	pause    time.Duration
	until    time.Time
	// trying says that one call finds out whether the server is well again.
	trying bool
}

func newBreaker(concurrent int) *breaker { return &breaker{slots: make(chan struct{}, concurrent)} }

// enter waits for a place. The caller calls what it returns with the error that came
// of the call.
func (b *breaker) enter(ctx context.Context) (leave func(error), _ error) {
	select {
	case b.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ended(ctx, catalog.EffectNone)
	}
	trial, err := b.admit(time.Now())
	if err != nil {
		<-b.slots
		return nil, err
	}
	return func(err error) {
		<-b.slots
		b.learn(err, trial, time.Now())
	}, nil
}

func (b *breaker) admit(now time.Time) (trial bool, _ error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < sickAfter {
		return false, nil
	}
	if now.Before(b.until) || b.trying {
		wait := max(b.until.Sub(now), time.Second)
		return false, &fault{
			code: CodeSuspended, effect: catalog.EffectNone, retryable: true,
			message: fmt.Sprintf("the server did not answer %d times in a row and is left alone for a while", b.failures),
			hint:    fmt.Sprintf("try again in %s", wait.Round(time.Second)),
		}
	}
	b.trying = true
	return true, nil
}

// learn takes from the end of a call whether the server is well. An error that is an
// answer says that it is.
func (b *breaker) learn(err error, trial bool, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if trial {
		b.trying = false
	}
	var f *fault
	known := errors.As(err, &f)
	switch {
	case known && f.sick:
		b.failures++
		if b.failures >= sickAfter {
			b.pause = min(max(2*b.pause, firstPause), longestPause)
			b.until = now.Add(b.pause)
		}
	case known && (f.code == catalog.CodeCancelled || f.code == CodeBusy):
		// It says nothing of the server.
	default:
		b.failures, b.pause = 0, 0
	}
}
