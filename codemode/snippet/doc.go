// Package snippet says what one snippet of TypeScript is and how its execution
// is told, whoever runs it.
//
// A [Program] is all that an execution starts from. It moves in [Step] values:
// each lists the calls that the snippet made before it could move no further
// without an outcome. One [Delivery] gives the outcome of one call and leads to
// the next step, until a step carries the [End].
//
// An execution is a function of its program and its deliveries: given the same
// ones in the same order, it makes the same calls and ends alike. So it can be
// left at any step and taken up elsewhere from a [Journal] of what happened.
//
// The package holds data only. The engine that runs snippets is
// codemode/engine; what runs inside its child processes is codemode/sandbox.
package snippet
