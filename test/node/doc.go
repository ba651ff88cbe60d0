// Package node tests the wire contract from outside: a backend in Node, with the
// public Temporal client and the words of docs/contract.md, opens a thread, reads
// its timeline, approves a refund by signal and gets the answer.
//
//	thread.js        the backend's side of a thread, to be copied
//	thread.test.js   the test, which runs anywhere: see what it needs in its head
//	node_test.go     starts a Temporal server and a worker for it
package node
