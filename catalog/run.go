package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"
)

// grace is how long a tool may take to come back once its context has ended,
// before it is left behind. A write that was done at the last moment is then
// still reported as done.
const grace = 2 * time.Second

// answer is what came of calling a tool's function.
type answer struct {
	output json.RawMessage
	err    error
	// crashed says that the function panicked, or ended its goroutine.
	crashed bool
	// lost says that it has not come back.
	lost bool
}

// run calls the tool and judges what comes of it.
func (c *call) run(ctx context.Context, planned time.Duration) Outcome {
	if ctx.Err() != nil {
		err := ended(ctx, "before the tool was called")
		err.Tool, err.Effect = c.tool.ID, EffectNone
		return Outcome{Error: err}
	}
	limit := c.tool.timeout()
	if planned > 0 {
		limit = min(planned, MaxTimeout)
	}
	callCtx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	a := c.call(callCtx)
	if a.crashed || a.lost || a.err != nil {
		return Outcome{Error: c.failure(ctx, callCtx, limit, a)}
	}
	return c.result(a.output)
}

// call runs the tool's function in a goroutine of its own, so that one that
// ignores its context cannot hold up the caller.
func (c *call) call(ctx context.Context) answer {
	done := make(chan answer, 1)
	go func() {
		a := answer{crashed: true}
		defer func() {
			if a.crashed {
				logPanic("catalog: a tool panicked", c.tool.ID, recover())
			}
			done <- a
		}()
		a.output, a.err = c.tool.Call(ctx, Call{Input: c.input, Scope: c.scope, IdempotencyKey: c.key})
		a.crashed = false
	}()
	select {
	case a := <-done:
		return a
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case a := <-done:
		return a
	case <-timer.C:
		slog.WarnContext(ctx, "catalog: a tool goes on after the end of its context", "tool", c.tool.ID)
		return answer{lost: true}
	}
}

func logPanic(message, tool string, value any) {
	slog.Error(message, "tool", tool, "panic", fmt.Sprint(value), "stack", string(debug.Stack()))
}

// failure says why a call that was made has no result, and what is known of its
// effect. A read has none. A write:
//
//   - that timed out, was cancelled or panicked may have been applied: unknown.
//   - that returned an *[Error] says so itself.
//   - that returned any other error failed, as errors do in Go; whether a part of
//     it was applied is not said, and the effect is left empty.
func (c *call) failure(outer, inner context.Context, limit time.Duration, a answer) *Error {
	var e *Error
	var typed *Error
	switch {
	case a.crashed:
		e = &Error{Code: CodeToolFailed, Message: "the tool stopped on an internal fault (panic); the worker's log has the details", Effect: EffectUnknown}
	case errors.As(a.err, &typed):
		e = sanitize(typed)
	case outer.Err() != nil:
		e = ended(outer, "while the tool ran")
		e.Effect = EffectUnknown
	case inner.Err() != nil:
		e = &Error{Code: CodeTimeout, Message: fmt.Sprintf("the tool did not finish within %s", limit), Effect: EffectUnknown}
	case isTimeout(a.err):
		e = &Error{Code: CodeTimeout, Message: "the tool gave up waiting: " + plain(a.err.Error(), maxMessage), Effect: EffectUnknown}
	default:
		e = &Error{Code: CodeToolFailed, Message: plain(a.err.Error(), maxMessage)}
	}
	e.Tool = c.tool.ID
	if c.tool.Operation == Read {
		e.Effect = EffectNone
		e.Retryable = e.Retryable || e.Code == CodeTimeout
	}
	return e
}
