package durability

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"syscall"
	"time"
)

// broken is a connection that the other side has reset.
var broken = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}

// readCut fails once, as a read whose connection breaks.
func readCut(_ context.Context, in in) (out, error) {
	if _, err := os.Stat(in.Name + ".cut"); err != nil {
		return out{}, errors.Join(os.WriteFile(in.Name+".cut", nil, 0o600), broken)
	}
	return out{in.Name}, record("reads", in.Name)
}

// writeCut writes; the answer to the first call of a name does not come.
func writeCut(ctx context.Context, in in) (out, error) {
	done, err := write(ctx, in)
	if err != nil {
		return out{}, err
	}
	if _, err := os.Stat(in.Name + ".cut"); err != nil {
		return out{}, errors.Join(os.WriteFile(in.Name+".cut", nil, 0o600), broken)
	}
	return done, nil
}

// payment is an input with a default and a bound.
type payment struct {
	Amount   int    `json:"amount" jsonschema:"maximum=50"`
	Currency string `json:"currency,omitempty" jsonschema:"default=EUR"`
}

func pay(_ context.Context, in payment) (out, error) {
	return out{"paid"}, record("payments", fmt.Sprintf("%d%s", in.Amount, in.Currency))
}

func readSlow(ctx context.Context, in in) (out, error) {
	select {
	case <-ctx.Done():
		return out{}, ctx.Err()
	case <-time.After(12 * time.Second):
		return out{in.Name}, nil
	}
}

// odd answers what JSON or a tool cannot.
func odd(ctx context.Context, in in) (any, error) {
	switch in.Name {
	case "error":
		return nil, errors.New("the hook says no")
	case "late":
		<-ctx.Done()
		return nil, ctx.Err()
	case "channel":
		return map[string]any{"c": make(chan int)}, nil
	case "nan":
		return map[string]any{"n": math.NaN()}, nil
	case "panic":
		panic("oh")
	}
	return "not UTF-8: \xff", nil
}
