// Package policy decides about calls of tools by ordered rules.
//
// A [Rule] says which calls it takes (by tool, namespace, operation, capability,
// tag, mode, and a condition in CEL) and what becomes of them: allow, ask or
// block. Rules stand in a [Scope]: the application's, an agent's, a thread's or a
// prompt's. Within a scope the first rule that takes a call decides; of what the
// scopes decide, the strictest holds. So an inner scope can tighten what an outer
// one says, and never loosen it: an agent's allow changes nothing about an
// application's block.
//
// [New] compiles a [Set] of rules and refuses what could not work, with the place
// of each fault: a condition that does not compile, a rule that could never take
// a call, such as one that stands behind another which takes all of its calls.
// What it makes is a [catalog.Policy]; [Policy.Explain] tells for one call which
// rules were looked at, which decided and why.
//
// # Conditions
//
// A condition is an expression of CEL, the Common Expression Language, over
//
//	input           the input of the call, as a map
//	tenant, user    on whose behalf the call is made
//	roles           of the user, a list
//	agent, thread   who calls
//	mode            the mode of the thread, or ""
//	now             the time, such as now.getHours("Europe/Berlin") < 8
//
//	input.cents > 10000 && !("manager" in roles)
//
// Numbers compare across types. A field that an input may lack is asked for with
// has(input.note), or input.?note.orValue(""). A condition that fails, such as on
// a field that is not there, or that costs too much, never lets a call pass: a
// rule that would block blocks, and any other asks.
package policy
