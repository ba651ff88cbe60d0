// Package contract is the wire contract of an agent thread: the workflow type,
// the names of its signals, updates and queries, and the JSON payload of each.
//
// It imports the standard library alone, so that the workflow, the activities
// and a backend can share it. A backend in Go uses [signals.Client], which
// speaks this contract; a backend in another language does the same with its
// own Temporal client and the JSON shown in docs/contract.md.
//
// Where to start: [Start] opens a thread, [Submission] gives it a message,
// [Part] is a row of its timeline, [Approval] is what it asks a person and
// [Decision] is the answer.
//
// Every type here is plain JSON. Fields are only ever added: a reader must
// ignore a field that it does not know.
//
// [signals.Client]: https://pkg.go.dev/github.com/heddle-dev/heddle/signals#Client
package contract
