// Command starter is a backend's side of agent threads on the command line: it
// opens threads, sends messages, follows what happens, and decides what waits
// for a person.
//
// Each command is a file of its own. What they share: cli.go (flags, connection),
// exit.go (exit codes), timeline.go and text.go (what is shown), conversation.go
// (a message and what follows it, with the questions on a terminal).
package main
