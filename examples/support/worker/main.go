package main

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/heddle-dev/heddle"
	"github.com/heddle-dev/heddle/examples/support"
)

func main() {
	store, err := openStore(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
	heddle.Main(support.Tools(store))
}

func openStore(ctx context.Context) (*support.Store, error) {
	store, err := support.Open(ctx, cmp.Or(os.Getenv("SUPPORT_DB"), "orders.db"))
	if err != nil {
		return nil, err
	}
	return store, store.Seed(ctx)
}
