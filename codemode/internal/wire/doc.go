// Package wire is how an engine and its child processes talk: messages,
// each preceded by its length, over the child's standard input and output, and over a
// pipe for what interrupts it. A message is JSON, but for the two that each call of a
// snippet takes: those have a compact form.
//
// [Write] and [Read] refuse messages over [MaxMessage] before they allocate for
// them, so that neither side can make the other run out of memory.
package wire
