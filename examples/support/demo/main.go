// Command demo shows a support agent at work: it starts a Temporal server and a
// worker of its own, asks the agent for a refund, shows what it does, asks for
// the approval, and ends everything it started.
//
// With DEMO_YES=1 it approves by itself. With OPENAI_API_KEY, or OPENAI_BASE_URL
// for a server of one's own, the agent asks OPENAI_MODEL; without them it plays a
// script. HEDDLE_DEVSERVER names the Temporal server, else it is temporal on the
// PATH.
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
