// Package signals is a backend's side of agent threads: it opens a thread,
// sends it messages, follows what it does and decides what it asks.
//
//	threads := signals.NewClient(temporal, nil)
//	start := contract.Start{
//		ThreadRef: contract.ThreadRef{Tenant: "acme", Thread: "thr-1"},
//		Agent:     "support",
//		User:      "ann",
//	}
//	sent, err := threads.Send(ctx, start, contract.Submission{ID: "m-1", Text: "Refund order 4711."})
//	...
//	for part, err := range threads.Watch(ctx, start.ThreadRef, 0) {
//		... // a part of kind approval: show it, then call threads.Approve
//	}
//	turn, err := threads.Wait(ctx, start.ThreadRef, sent.Turn)
//
// [Client] speaks the wire contract of package contract over the public Temporal
// client and needs nothing else; docs/contract.md says how to do the same in
// another language. [Reader] reads one run of a thread, which is what a worker's
// own activities need.
//
// # What needs a worker
//
// Open, Approve, Deny, Cancel and Close are taken by the Temporal server, whether
// or not a worker runs. Send and Decide are answered by a worker, and whatever
// reads a thread asks a worker too: they wait for one until the context ends. No
// read adds anything to a thread's history.
//
// # Errors
//
// What a thread refuses comes as an [*Error] with one of the codes of package
// contract. A read goes on through a restart of the worker or the server; when
// the context ends meanwhile, the error wraps the context's and tells the last
// obstacle.
package signals
