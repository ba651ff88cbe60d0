package engine

import (
	"testing"
	"time"
)

// The time of a step is that in which somebody looked: a worker, or its machine, that
// stands still in the middle of one does not end the snippet.
func TestStandingStillTakesNoTime(t *testing.T) {
	at := time.Now()
	w := &watcher{looked: at}
	look := func(after time.Duration) time.Duration {
		at = at.Add(after)
		return w.pass(at)
	}
	for range 100 {
		look(watchInterval)
	}
	look(40 * watchInterval) // a busy machine
	if got, want := look(0), 140*watchInterval; got != want {
		t.Errorf("looked at again and again, the step had %s, want %s", got, want)
	}
	look(time.Hour)
	if got, most := look(watchInterval), DefaultLimits.Wall/10; got > most {
		t.Errorf("after an hour without a look the step had %s, want %s at most", got, most)
	}
}
