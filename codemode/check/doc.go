// Package check finds the calls of a snippet that cannot succeed before any of
// them is made: of tools that do not exist, with arguments that cannot fit, and
// calls whose promise is dropped. All that is wrong is said at once:
//
//	findings := check.Check(calls, catalog)
//
// It works on data, never on source: the process that holds a snippet's syntax
// tree, the sandbox's child, delivers its call sites as [Call] values. They come
// from there unchecked, so nothing here trusts their shape, size or depth.
//
// No finding is a false alarm. What is not written out in the source fits
// anything; a value fits a union if it may fit one member; what a schema says in
// words that are not understood here, it does not say. A property with a default,
// or that is readOnly, is never missed. So a call without findings can still be
// refused when it is made, and one with a finding always would be.
//
// # What the child delivers
//
// One [Call] for each call expression, in any function and any branch, whose
// callee is a chain of names that begins with a global:
//
//   - The first name is not declared in the snippet at that place: no variable,
//     parameter, function, class, import or enum. It is tools, a namespace of the
//     snippet, or a name that no global has at all; never one of JavaScript's or
//     the snippet API's other globals, such as Math, JSON, console or Promise.
//   - Each further name is .name, ?.name, ["name"] or [`name`]. A callee with any
//     other part (a computed name, a call, this) is not delivered.
//   - Brackets, as, satisfies, ! and type arguments change nothing. new is no call.
//   - Path holds the names as they were written, so tools.call comes as it is, and
//     the child looks neither into its argument nor at what a namespace holds.
//
// Dropped is set where nothing can notice the promise: the call, or the call with
// .then, .catch or .finally on it and so on, is an expression statement that is
// not the snippet's result, or all that an arrow function which is passed to
// forEach gives back, or the left of a comma. It is not set under await, void,
// return, yield, in an argument, an assignment, an operand or a literal; where in
// doubt it is not set.
//
// Args are the arguments in order, each a [Node]:
//
//   - Literal: null, true, false, a number, a string or a template without
//     substitutions, as JSON. A number is written as JSON.stringify does, after a
//     sign in front of it was applied: -0x10 is -16. A string with half a surrogate
//     pair is Unknown.
//   - Undefined: the name undefined, or void before a literal.
//   - Object: an object literal. Members come in order. A property has its name as
//     a string, also where the source has a number or a computed literal; shorthand
//     {a} is a member with an Unknown value. A spread, a computed name, a method, a
//     getter or setter, and __proto__ are a Spread without a name.
//   - Array: an array literal. A hole is Undefined, ...x is a Spread.
//   - Spread: also among the arguments.
//   - Unknown: all else, such as names, calls, operators, new, functions, regular
//     expressions and BigInts. Type says what the value certainly is, if it is
//     certain: string for a template with substitutions and typeof, boolean for !
//     and comparisons. Never follow a variable to its value.
//
// Positions are those of the expression, for a member those of its name. What is
// over a bound ([MaxCalls], [MaxNodes], [MaxDepth]) may be left out: a node becomes
// Unknown, a list gets a Spread.
package check
