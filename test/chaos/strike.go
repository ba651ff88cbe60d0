package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"
)

// strikes is what was done to the actors.
type strikes struct {
	mu    sync.Mutex
	spans []span
	// kills counts the strikes by what they are.
	kills map[string]int
	err   error
}

// span is a time in which an actor was away.
type span struct {
	who      string
	from, to time.Time
}

// reach is how long after an actor was away writes may still suffer from it: a
// heartbeat has to be missed first.
const reach = 20 * time.Second

// during reports whether any actor was away in a time.
func (s *strikes) during(from, to time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.spans {
		if one.from.Before(to) && one.to.Add(reach).After(from) {
			return true
		}
	}
	return false
}

// strike strikes actors at random, a pause in the mean between one and the next,
// until ctx ends; then it returns when all of them run.
func (s *stage) strike(ctx context.Context, pace time.Duration) *strikes {
	done := &strikes{kills: map[string]int{}}
	random := dice(s.seed, "strikes")
	var under sync.WaitGroup
	defer under.Wait()
	for {
		select {
		case <-ctx.Done():
			return done
		case <-time.After(pace/4 + time.Duration(random.Int64N(int64(pace)*3/2))):
		}
		victim, kind, blow := s.choose(random)
		if !done.takes(victim, kind) {
			continue
		}
		under.Go(func() {
			from := time.Now()
			err := blow(victim)
			done.release(victim, span{victim.name, from, time.Now()}, err)
		})
	}
}

// choose says whom to strike, and how.
func (s *stage) choose(random *rand.Rand) (victim *actor, kind string, blow func(*actor) error) {
	away := time.Duration(random.IntN(3000)) * time.Millisecond
	kill := func(a *actor) error {
		a.kill()
		time.Sleep(away)
		return a.start(context.Background())
	}
	pause := func(of time.Duration) func(*actor) error {
		return func(a *actor) error {
			if err := syscall.Kill(a.process.PID(), syscall.SIGSTOP); err != nil {
				return fmt.Errorf("pause %s: %w", a.name, err)
			}
			time.Sleep(of)
			return syscall.Kill(a.process.PID(), syscall.SIGCONT)
		}
	}
	worker := s.workers[random.IntN(len(s.workers))]
	switch n := random.IntN(100); {
	case n < 60:
		return worker, "worker", kill
	case n < 72:
		return worker, "pause", pause(away)
	case n < 82: // long enough for the server to give the worker up
		return worker, "pause", pause(11*time.Second + 3*away)
	case n < 90:
		return s.server, "temporal", kill
	default:
		return s.target, "target", kill
	}
}

// takes reports whether an actor can be struck now, and marks it.
func (s *strikes) takes(a *actor, kind string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.busy {
		return false
	}
	a.busy = true
	s.kills[kind]++
	return true
}

func (s *strikes) release(a *actor, of span, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.busy = false
	s.spans = append(s.spans, of)
	if s.err == nil {
		s.err = err
	}
}
