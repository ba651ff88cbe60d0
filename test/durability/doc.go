// Package durability tests what Heddle promises, on a real Temporal server and
// with real worker processes that are killed: that nothing is lost, and nothing
// is done twice.
//
// The worker is the test binary itself with a model that plays what the user's
// message says, see play_test.go. It remembers nothing, so a new worker goes on
// where a killed one was. Where a test wants to strike at a certain moment, the
// worker waits at a gate, which is a file.
package durability
