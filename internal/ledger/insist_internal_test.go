package ledger

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/heddle-dev/heddle/activities"
)

// shaky is a client whose first requests fail.
type shaky struct {
	client.Client
	fails int
	err   error
	asked int
}

func (s *shaky) ask() error {
	if s.asked++; s.asked <= s.fails {
		return s.err
	}
	return nil
}

func (s *shaky) SignalWorkflow(context.Context, string, string, string, any) error { return s.ask() }

func (s *shaky) TerminateWorkflow(context.Context, string, string, string, ...any) error {
	return s.ask()
}

// What came of a write is told again where the telling fails, for as long as there is
// time: nobody else knows it.
func TestClaimIsToldUntilItKnows(t *testing.T) {
	gone := serviceerror.NewCanceled("stream terminated by RST_STREAM with error code: CANCEL")
	for name, tt := range map[string]struct {
		client shaky
		asked  int
		err    error
	}{
		"at once":            {shaky{}, 1, nil},
		"the second time":    {shaky{fails: 1, err: gone}, 2, nil},
		"after a while":      {shaky{fails: 8, err: gone}, 9, nil},
		"never":              {shaky{fails: 1000, err: gone}, 14, gone},
		"the claim is ended": {shaky{fails: 1000, err: serviceerror.NewNotFound("ended")}, 1, nil},
		"it is refused":      {shaky{fails: 1000, err: serviceerror.NewInvalidArgument("too long")}, 1, serviceerror.NewInvalidArgument("too long")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for what, tell := range map[string]func(context.Context, *Ledger) error{
					"record": func(ctx context.Context, l *Ledger) error {
						return l.Record(ctx, "key", "run", activities.CallResult{})
					},
					"release": func(ctx context.Context, l *Ledger) error { return l.Release(ctx, "key", "run", "why") },
				} {
					c := tt.client
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
					err := tell(ctx, New(&c, nil))
					cancel()
					if (err == nil) != (tt.err == nil) || err != nil && err.Error() != tt.err.Error() || errors.Is(err, context.DeadlineExceeded) || c.asked != tt.asked {
						t.Errorf("%s: asked %d times, want %d; error %v, want %v", what, c.asked, tt.asked, err, tt.err)
					}
				}
			})
		})
	}
}
