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
	mu sync.Mutex
	// kills counts the strikes by what they are.
	kills map[string]int
	err   error
}

// strike strikes actors at random, a pause in the mean between one and the next, until
// that time and until so many workers were killed, or ctx ends; then it returns when all
// of them run. On a machine that is busy a worker takes long to start, and is not struck
// meanwhile.
func (s *stage) strike(ctx context.Context, pace time.Duration, until time.Time, kills int) *strikes {
	done := &strikes{kills: map[string]int{}}
	random := dice(s.seed, "strikes")
	var under sync.WaitGroup
	defer under.Wait()
	for {
		wait(ctx, pace/4+time.Duration(random.Int64N(int64(pace)*3/2)))
		if ctx.Err() != nil || time.Now().After(until) && done.killed() >= kills {
			return done
		}
		victim, kind, blow := s.choose(random)
		if !done.takes(victim, kind) {
			continue
		}
		under.Go(func() {
			done.release(victim, blow(victim))
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
	stop := func(a *actor) error {
		_ = a.process.Stop(stopGrace) // it is killed if it does not
		return a.start(context.Background())
	}
	const beyond = 11 * time.Second // for so long that heartbeats are missed
	worker := s.workers[random.IntN(len(s.workers))]
	switch n := random.IntN(100); {
	case n < 55:
		return worker, "worker", kill
	case n < 62:
		return worker, "stop", stop
	case n < 71:
		return worker, "pause", pause(away)
	case n < 80:
		return worker, "pause", pause(beyond + 3*away)
	case n < 88:
		return s.server, "temporal", kill
	case n < 91:
		return s.server, "pause", pause(beyond)
	default:
		return s.target, "target", kill
	}
}

// stopGrace is how long a worker that is asked to stop may take.
const stopGrace = 20 * time.Second

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

// killed is how many workers were killed.
func (s *strikes) killed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kills["worker"]
}

func (s *strikes) release(a *actor, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.busy = false
	if s.err == nil {
		s.err = err
	}
}
