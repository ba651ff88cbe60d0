package main

import (
	"context"
	"fmt"
	"os"
)

func main() {
	ctx, stop := interruptible(context.Background())
	defer stop()
	if err := newRootCommand(os.Stdout).ExecuteContext(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "Error: %v\n", err)
		os.Exit(1)
	}
}
