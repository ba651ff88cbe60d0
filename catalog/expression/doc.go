// Package expression evaluates CEL about calls: what the conditions of a policy, the
// declared lookups and the declared undos share. Values go in and come out as JSON.
//
// An [Expression] is one that was compiled, a [Mapping] one for each member of an
// input. What is known of the value beforehand is its [Shape].
package expression
