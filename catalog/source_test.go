package catalog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heddle-dev/heddle/catalog"
)

// TestBrokenSourceKeepsItsLastListing breaks a source after it has listed its
// tools once: nothing waits for it for long, what it listed goes on to work, and
// it is told.
func TestBrokenSourceKeepsItsLastListing(t *testing.T) {
	for name, c := range map[string]struct {
		list  func(ctx context.Context) ([]catalog.Tool, error)
		cause string
	}{
		"fails":   {func(context.Context) ([]catalog.Tool, error) { return nil, errors.New("connection refused") }, "connection refused"},
		"panics":  {func(context.Context) ([]catalog.Tool, error) { panic("nil map") }, "it panicked"},
		"ends":    {func(context.Context) ([]catalog.Tool, error) { runtime.Goexit(); return nil, nil }, "it panicked"},
		"hangs":   {func(ctx context.Context) ([]catalog.Tool, error) { <-ctx.Done(); return nil, ctx.Err() }, "deadline exceeded"},
		"is deaf": {func(context.Context) ([]catalog.Tool, error) { time.Sleep(time.Hour); return nil, nil }, "does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				remote := of("remote", write("issues.create"))
				b := broker(t, remote, of("local", read("orders.get")))
				works := remote.list
				remote.list = c.list

				began := time.Now()
				if out := do(t, b, "orders.get", "{}"); out.Error != nil || time.Since(began) != 0 {
					t.Errorf("the other source's tool: outcome %+v after %s", out, time.Since(began))
				}
				if out := do(t, b, "issues.create", "{}"); out.Error != nil || time.Since(began) > time.Second {
					t.Errorf("its own tool: outcome %+v after %s", out, time.Since(began))
				}
				time.Sleep(15 * time.Second)
				tools, err := b.Tools(t.Context(), everyone)
				if err != nil || len(tools) != 2 {
					t.Errorf("Tools returns %v, %v; want both tools", tools, err)
				}
				time.Sleep(15 * time.Second)
				if why := unavailable(t, b); len(why) != 1 || why[0].Source != "remote" || !strings.Contains(why[0].Reason, c.cause) {
					t.Errorf("unavailable are %v, want the source and %q", why, c.cause)
				}

				synctest.Wait() // the source is being asked, or not, and settled in that
				remote.list = works
				time.Sleep(2 * time.Hour) // the deaf one comes back
				unavailable(t, b)
				synctest.Wait()
				if why := unavailable(t, b); why != nil {
					t.Errorf("after the source has recovered: %v", why)
				}
			})
		})
	}
}

func unavailable(t *testing.T, b *catalog.Broker) []catalog.Unavailable {
	t.Helper()
	snapshot, err := b.Snapshot(t.Context(), everyone)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot.Unavailable()
}

func TestSourceThatWasNeverRead(t *testing.T) {
	down := &source{"remote", func(context.Context) ([]catalog.Tool, error) { return nil, errors.New("connection refused") }}
	b := broker(t, of("local", read("orders.get")), down)

	err := wantError(t, do(t, b, "issues.create", "{}").Error, catalog.CodeSourceUnavailable)
	if !strings.Contains(err.Message, `"remote": connection refused`) {
		t.Errorf("message is %q, want the cause", err.Message)
	}
	if out := do(t, b, "orders.get", "{}"); out.Error != nil {
		t.Errorf("the other source's tool: %v", out.Error)
	}
	narrow := catalog.Scope{Tools: []string{"orders.*"}}
	plan := b.Plan(t.Context(), narrow, catalog.Request{Tool: "issues.create"})
	wantError(t, plan.Error, catalog.CodeToolNotFound)
}

// TestToolStaysWithItsSource: while the source that has a tool is down, another
// must not slip in one of the same id.
func TestToolStaysWithItsSource(t *testing.T) {
	mine := of("first", write("orders.refund"))
	other := of("second")
	b := broker(t, mine, other)
	impostor := withFunction(write("orders.refund"), func(context.Context, catalog.Call) (json.RawMessage, error) {
		t.Error("the other source's tool was called")
		return nil, nil
	})
	other.list = func(context.Context) ([]catalog.Tool, error) { return []catalog.Tool{impostor}, nil }
	unavailable(t, b) // all are asked
	if out := do(t, b, "orders.refund", "{}"); out.Error != nil {
		t.Error(out.Error)
	}
	mine.list = func(context.Context) ([]catalog.Tool, error) { return nil, errors.New("down") }
	if out := do(t, b, "orders.refund", "{}"); out.Error != nil {
		t.Error(out.Error)
	}
}

// TestHungSourceIsAskedOnce: calls that pile up on a source that hangs must not
// start a listing each.
func TestHungSourceIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		release := make(chan struct{})
		hung := of("remote", read("issues.get"))
		b := broker(t, hung)
		hung.list = func(context.Context) ([]catalog.Tool, error) {
			asked.Add(1)
			<-release
			return nil, nil
		}
		time.Sleep(time.Second)
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { b.Plan(t.Context(), everyone, catalog.Request{Tool: "issues.get"}) })
		}
		wg.Wait()
		began := time.Now()
		b.Plan(t.Context(), everyone, catalog.Request{Tool: "issues.get"})
		if asked.Load() != 1 || time.Since(began) != 0 {
			t.Errorf("the source was asked %d times, and another call waits %s for it", asked.Load(), time.Since(began))
		}
		close(release)
		synctest.Wait()
	})
}

// TestCallerDoesNotWaitForASource: one whose context ends comes back at once,
// and spoils nothing for the others.
func TestCallerDoesNotWaitForASource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := of("remote")
		b := broker(t, remote{slow})
		tools := []catalog.Tool{read("remote.get")}
		slow.list = func(ctx context.Context) ([]catalog.Tool, error) {
			select {
			case <-time.After(5 * time.Second):
				return tools, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			wantError(t, b.Plan(ctx, everyone, catalog.Request{Tool: "remote.get"}).Error, catalog.CodeTimeout)
			if took := time.Since(began); took != time.Second {
				t.Errorf("the caller waited %s", took)
			}
		})
		wg.Go(func() {
			if plan := b.Plan(t.Context(), everyone, catalog.Request{Tool: "remote.get"}); plan.Error != nil {
				t.Errorf("the patient caller gets %v", plan.Error)
			}
		})
		wg.Wait()
	})
}

func TestFailureOfASourceIsLoggedOnce(t *testing.T) {
	log := captureLog(t)
	synctest.Test(t, func(t *testing.T) {
		flaky := of("remote", read("issues.get"))
		b := broker(t, flaky)
		works := flaky.list
		asked := 0
		flaky.list = func(context.Context) ([]catalog.Tool, error) { asked++; return nil, errors.New("connection refused") }
		for range 1000 {
			do(t, b, "issues.get", "{}")
			time.Sleep(10 * time.Millisecond)
		}
		if asked > 5 {
			t.Errorf("a source that fails was asked %d times in ten seconds", asked)
		}
		flaky.list = works
		time.Sleep(time.Minute)
		do(t, b, "issues.get", "{}")
	})
	if n := strings.Count(log.String(), "connection refused"); n != 1 {
		t.Errorf("the failure is logged %d times", n)
	}
	if !strings.Contains(log.String(), "can be read again") {
		t.Error("the recovery is not logged")
	}
}

func TestPanicIsLoggedWithItsStack(t *testing.T) {
	log := captureLog(t)
	tool := withFunction(read("a.b"), func(context.Context, catalog.Call) (json.RawMessage, error) { panic("boom") })
	out := do(t, broker(t, of("s", tool)), "a.b", "{}")
	if !strings.Contains(log.String(), "boom") || !strings.Contains(log.String(), "source_test.go") {
		t.Errorf("the log lacks the panic or its stack: %s", log)
	}
	if strings.Contains(out.Error.Message, "boom") || strings.Contains(out.Error.Message, ".go") {
		t.Errorf("the model sees the inside of the tool: %s", out.Error.Message)
	}
}

// captured is a log that may be read while others write to it: a source that was given
// up may have something to say later.
type captured struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (c *captured) Write(text []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(text)
}

func (c *captured) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// captureLog collects what is logged during a test.
func captureLog(t *testing.T) *captured {
	t.Helper()
	log := &captured{}
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	return log
}
