// Package engine runs snippets of TypeScript, each in a child process that can
// reach nothing and that costs nobody else anything when it dies.
//
//	e, err := engine.New(engine.Options{})
//	x, step, err := e.Start(ctx, program)
//	for step.End == nil {
//		// carry out step.Calls, then give the outcomes as they come
//		step, err = x.Deliver(ctx, delivery)
//	}
//	x.Close()
//
// The parent never parses or runs snippet text: it sends it to a child, watches
// the child's processor time and memory, and kills it past a limit. That is an
// ordinary end of the snippet, with an error that names the limit. Errors of Go
// are left for what the caller did wrong or gave up, and for [DivergenceError].
//
// A child is this program run again, locked in by codemode/sandbox; main must call
// sandbox.ChildMain first thing. Children are warm and used again, within one
// tenant only.
package engine
