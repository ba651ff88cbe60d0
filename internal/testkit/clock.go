package testkit

import (
	"testing"
	"time"
)

// OneDay is called by tests of what is counted by the day or the month: where the day, as
// UTC counts it, would end within so much time, it waits for the next one.
func OneDay(t testing.TB, needed time.Duration) {
	t.Helper()
	if left := 24*time.Hour - time.Since(time.Now().UTC().Truncate(24*time.Hour)); left < needed {
		t.Logf("waits %s for the next day", left)
		time.Sleep(left)
	}
}
