// Package undo says how a write is undone by a tool that is declared, with expressions
// in CEL that make its input of what the write was called with and returned.
//
// A [Declaration] is what an application says, an [Undo] that, compiled: what
// [catalog.Broker.Undo] takes.
package undo
