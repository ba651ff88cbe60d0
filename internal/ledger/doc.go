// Package ledger keeps the claims of writes, the locks of what they work on, and what
// tenants use in Temporal itself, so that no second database is needed.
//
// A claim is a workflow whose id is made from the write's idempotency key. That the
// server starts no two of the same id is what makes it a claim. It is started with
// a delay, so that it takes no worker: how the write ended is a signal, which
// simply stands in its history. When the delay is over it completes, if it has
// been told. A claim that is terminated was taken back: nothing was applied, and
// the key is free again.
//
// The server keeps a claim for [contract.ClaimKept], and then for as long as the
// namespace retains workflows that have ended.
//
// A lock is a workflow per resource key, see package workflows; it is asked with
// update-with-start from within the activity of a write, so that a lock that is free
// costs the thread nothing.
//
// What a tenant uses is counted by a workflow per tenant, see package workflows, where
// the configuration limits the tenant's totals. It is asked likewise, before a model is
// asked and before a tool is called, by a [Meter].
package ledger
