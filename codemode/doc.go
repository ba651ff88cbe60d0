// Package codemode runs the snippets of agent threads, one segment at a time.
//
//	runner, err := codemode.New(codemode.Options{Broker: broker, Blobs: store})
//	activities := &activities.Activities{Snippets: runner, ...}
//
// A segment takes a snippet up where its journal ends. It answers searches,
// descriptions and results, and carries out the reads that need no approval, right
// there and many at once; every call goes to the broker, as any other. It ends when
// the snippet can move no further without an effect, which it hands to the thread,
// or is done, with a report for the agent. It keeps nothing: whatever it did can be
// done again.
//
// What is wrong with a snippet is found before its first call is carried out, as far
// as it can be read off its source (codemode/check).
//
// The package never looks at snippet text: codemode/engine has child processes do
// that, which main must let it start with sandbox.ChildMain.
package codemode
