// Package support is an example: a support agent over a shop's orders.
//
// The tools are Go functions over a small SQLite database: three reads and one
// write, a refund, which waits for a person's approval and is made once however
// often it is tried.
//
//	tools.go    the tools, as the model sees them
//	store.go    the database behind them
//	seed.go     what is in it
//	worker/     the worker's main function
//	demo/       starts a Temporal server and the worker, and asks for a refund
//
// heddle.yaml says which model the agent asks: support.yaml, which plays a script
// and needs no key, or with SUPPORT_MODEL=live a vendor's.
package support
