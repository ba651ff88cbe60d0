package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// grace is how long a tool may take to come back once its context has ended,
// before it is left behind. A write that was done at the last moment is then
// still reported as done.
const grace = 2 * time.Second

// answer is what came of calling a tool's function.
type answer struct {
	output json.RawMessage
	failed bool
	// typed is the error where it is an *Error, asks where it is an *Elicitation, message
	// its words, and timeout says that it tells of one.
	typed   *Error
	asks    *Elicitation
	message string
	timeout bool
	// sent is what the error tells of a request, where it comes from the network.
	sent Effect
	// crashed says that the function panicked, or ended its goroutine.
	crashed bool
	// lost says that it has not come back.
	lost bool
}

// run calls the tool and judges what comes of it.
func (c *call) run(ctx context.Context, planned time.Duration, before func(context.Context) error, then func(o Outcome, left bool)) {
	if ctx.Err() != nil {
		err := ended(ctx, "before the tool was called")
		err.Tool, err.Effect = c.tool.ID, EffectNone
		then(Outcome{Error: err}, false)
		return
	}
	limit := c.timeout()
	if planned > 0 {
		limit = min(planned, MaxTimeout)
	}
	callCtx, cancel := context.WithTimeout(ctx, limit)
	if before != nil {
		if err := before(callCtx); err != nil {
			cancel()
			then(Outcome{Error: c.held(err)}, false)
			return
		}
	}
	c.invoke(callCtx, func(a answer, left bool) {
		o := c.judge(ctx, callCtx, limit, a)
		cancel()
		then(o, left)
	})
}

// judge makes an outcome of an answer.
func (c *call) judge(ctx, callCtx context.Context, limit time.Duration, a answer) Outcome {
	if a.asks == nil {
		a.asks = c.reconnect(ctx, a.typed)
	}
	if a.asks != nil {
		return c.ask(a.asks)
	}
	if a.failed || a.crashed || a.lost {
		return Outcome{Error: c.failure(ctx, callCtx, limit, a)}
	}
	o := c.result(a.output)
	if o.Error == nil {
		o.Undo = c.undo(o.Result)
	}
	return o
}

// held is why a call that could have been made was not.
func (c *call) held(err error) *Error {
	e := &Error{Code: CodeNotMade, Message: plain(err.Error(), maxMessage), Retryable: true}
	if typed := (*Error)(nil); errors.As(err, &typed) {
		e = sanitize(typed)
	}
	e.Tool, e.Effect = c.tool.ID, EffectNone
	return e
}

// invoke runs the tool's function and calls then, once, with what comes of it. A
// function that ignores its context holds nobody up: it runs in a goroutine of its own,
// or, if the call is made here, it is left behind with the caller's: then runs in another
// one, and left is true, as it is in the last moments of a goroutine that the function has
// ended.
func (c *call) invoke(ctx context.Context, then func(a answer, left bool)) {
	if !c.here {
		then(c.invokeApart(ctx), false)
		return
	}
	var settled atomic.Bool
	settle := func(a answer, left bool) {
		if settled.CompareAndSwap(false, true) {
			then(a, left)
		}
	}
	stop := context.AfterFunc(ctx, func() {
		time.Sleep(grace)
		if !settled.Load() {
			c.leftBehind(ctx)
			settle(answer{lost: true}, true)
		}
	})
	returned := false
	defer func() {
		if !returned {
			stop()
			settle(answer{crashed: true}, true)
		}
	}()
	a := c.call(ctx)
	returned = true
	stop()
	settle(a, false)
}

func (c *call) invokeApart(ctx context.Context) answer {
	done := make(chan answer, 1)
	go func() {
		a := answer{crashed: true}
		defer func() { done <- a }()
		a = c.call(ctx)
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
		c.leftBehind(ctx)
		return answer{lost: true}
	}
}

func (c *call) leftBehind(ctx context.Context) {
	slog.WarnContext(ctx, "catalog: a tool goes on after the end of its context", "tool", c.tool.ID)
}

// call calls the tool's function. It does not return if that ends its goroutine.
func (c *call) call(ctx context.Context) (a answer) {
	a.crashed = true
	defer func() {
		if a.crashed {
			logPanic("catalog: a tool panicked", c.tool.ID, c.secrets.text(fmt.Sprint(recover())))
		}
	}()
	output, err := c.tool.Call(ctx, Call{
		Input: c.input, Scope: c.scope, IdempotencyKey: c.key, Secrets: c.secrets, CanAsk: c.canAsk, Answer: c.answer, Progress: c.follow(),
	})
	a.output = output
	a.read(err, c.secrets)
	a.crashed = false
	return a
}

// read takes from an error all that will be needed of it: its methods are the
// tool's code too, and may panic.
func (a *answer) read(err error, secrets CallSecrets) {
	if err == nil {
		return
	}
	a.failed = true
	if errors.As(err, &a.asks) {
		return
	}
	a.message = plain(secrets.text(err.Error()), maxMessage)
	a.timeout = isTimeout(err)
	if typed := (*Error)(nil); errors.As(err, &typed) {
		a.typed = sanitize(secrets.error(typed))
		return
	}
	a.sent = transported(err)
}

func logPanic(message, tool string, value any) {
	slog.Error(message, "tool", tool, "panic", fmt.Sprint(value), "stack", string(debug.Stack()))
}

// failure says why a call that was made has no result, and what is known of its
// effect, as the comment of [Tool.Call] promises.
func (c *call) failure(outer, inner context.Context, limit time.Duration, a answer) *Error {
	var e *Error
	switch {
	case a.crashed:
		e = &Error{Code: CodeToolFailed, Message: "the tool stopped on an internal fault (panic); the worker's log has the details", Effect: EffectUnknown}
	case a.typed != nil:
		e = a.typed
	case outer.Err() != nil:
		e = ended(outer, "while the tool ran")
		e.Effect = EffectUnknown
	case inner.Err() != nil:
		e = &Error{Code: CodeTimeout, Message: fmt.Sprintf("the tool did not finish within %s", limit), Effect: EffectUnknown, Limit: c.bindingTime(limit)}
	case a.timeout && a.sent != EffectNone:
		e = &Error{Code: CodeTimeout, Message: "the tool gave up waiting: " + a.message, Effect: EffectUnknown}
	default:
		e = &Error{Code: CodeToolFailed, Message: a.message, Effect: a.sent, Retryable: a.sent == EffectNone}
	}
	e.Tool = c.tool.ID
	if c.tool.Operation == Read {
		e.Effect = EffectNone
		e.Retryable = e.Retryable || e.Code == CodeTimeout || a.sent != "" // the network may do better
	}
	return e
}
