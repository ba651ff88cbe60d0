package lookup

import (
	"context"
	"testing"
)

// What is there when the time is over counts, in whatever order it is looked at.
func TestAwaitPrefersWhatHasCome(t *testing.T) {
	over, stop := context.WithCancel(t.Context())
	stop()
	done := make(chan int, 1)
	for range 100 {
		done <- 1
		if came, ok := await(over, done); !ok || came != 1 {
			t.Fatalf("it comes to %d, %t", came, ok)
		}
	}
	if came, ok := await(over, done); ok {
		t.Errorf("%d comes of nothing", came)
	}
}
