package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second signal ends the demo, and its children with it, at once
	err := run(ctx)
	interrupted := ctx.Err() != nil
	stop()
	switch {
	case interrupted:
		fmt.Fprintln(os.Stderr, "\ninterrupted: everything that the demo started has ended")
		os.Exit(130)
	case errors.Is(err, errNobody):
		fmt.Fprintln(os.Stderr, "Error: nobody is here to approve the refund: run the demo in a terminal, or with DEMO_YES=1")
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}
