// Package lookup finds out what became of a write by a read that is declared: which
// tool to read with, what to give it, and what its answer says. What differs from
// service to service is said in CEL, the language of the conditions of a policy.
//
// A [Declaration] is what an application says, a [Lookup] that, compiled: a
// [catalog.Lookup].
package lookup
