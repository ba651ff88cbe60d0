// Command child is a sandbox and nothing else.
//
// Tests run it as the child of their engines when their own program cannot be
// one: the race detector needs cgo, which a child must not have.
package main
