// Package local makes tools of Go functions.
//
// [Func] makes a [catalog.Tool] of a typed function: the JSON Schemas of its
// input and output are derived from the Go types, an input is checked and its
// defaults are filled in before the function sees it, and its result is written
// so that it fits the schema. [New] makes a source of such tools.
//
// A mistake in a definition, such as a field of a type that JSON has no form for
// or a misspelt struct tag, is an error of Func and never a surprise in a call.
package local
