package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// exitInterrupted is the shell's code for a process ended by SIGINT (128 + 2).
const exitInterrupted = 130

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
		<-signals
		fmt.Fprintln(os.Stderr, "Second signal: exiting without a graceful stop")
		os.Exit(exitInterrupted)
	}()
	return ctx, cancel
}
