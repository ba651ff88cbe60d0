package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const (
	// exitInterrupted is the shell's code for a process ended by SIGINT (128 + 2).
	exitInterrupted = 130
	// sameSignal is how close signals are that mean one and the same wish. Ctrl-C
	// reaches the whole process group, and a parent then often passes it on.
	sameSignal = 300 * time.Millisecond
)

// interruptible returns a context that the first SIGINT or SIGTERM cancels, which
// lets the server stop in order. A second one exits at once: whoever signals
// twice no longer wants to wait, and the database is safe without a goodbye.
func interruptible(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		for first := time.Now(); time.Since(first) < sameSignal; {
			<-signals
		}
		fmt.Fprintln(os.Stderr, "Second signal: exiting without a graceful stop")
		os.Exit(exitInterrupted)
	}()
	return ctx, cancel
}
