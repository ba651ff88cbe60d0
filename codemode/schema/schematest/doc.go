// Package schematest makes JSON Schemas, and values for them, for tests that must
// hold for any of them.
//
// A [Generator] is made from a seed, so that a failure can be looked at again. Its
// schemas use all of the vocabulary: references of every kind, compositions,
// tuples, constants. Its values mostly fit the schema that they are made for, and
// now and then do not. With Hostile set, its schemas also hold what only a bug or
// an attacker writes: keywords with the wrong values, references to nowhere, names
// and texts that try to end a string or a comment.
package schematest
