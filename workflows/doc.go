// Package workflows holds the deterministic story of an agent thread.
//
// [Worker.AgentThread] is the workflow: it waits for messages, and answers each
// with a turn. A turn is model turn, tool calls, model turn, ... up to the
// agent's answer; the files follow that order:
//
//	thread.go     the thread: set up, wait, turn, roll over, close
//	turn.go       one turn: model turns and their calls, within limits
//	calls.go      the calls of one model turn: reads together, writes in order
//	effect.go     one write: its attempts, and what is known of them
//	reconcile.go  writes that may have been applied: the tool is asked, then a person
//	approval.go   what waits for a person, and the decision
//	question.go   what a call asks a person, and the answer
//	lock.go       the lock of a resource key, a workflow of its own
//	lockplace.go  a write's place at it
//	usage.go      what a tenant uses, counted by a workflow of its own
//	undo.go       a turn that undoes what another one did
//	inbox.go      updates and signals     queries.go   queries
//	timeline.go   the public face         show.go      the Temporal UI
//	carry.go      what the next run gets  options.go   timeouts and retries
//
// The thread's state is one struct; all of it that outlives a run is one other,
// [Carried]. Nothing here touches the world or looks at a clock: what happens
// outside is an activity, named through a nil pointer so that the compiler
// checks it. No call goes through an interface, or through a function value
// other than a literal of this package, since the determinism checker looks into
// neither.
//
// # Changing a workflow
//
// Threads live for months, and their histories are replayed by whatever code
// runs then. A change that alters the commands of a recorded path goes behind
// workflow.GetVersion, with a change id that says what changed; the histories in
// testdata/histories stay as they are, and a new one is recorded for the new
// path. The replay test fails otherwise.
package workflows
