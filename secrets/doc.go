// Package secrets keeps credentials and keeps them from leaking.
//
// A [Vault] gives a tool the value of a secret for as long as a function runs, and
// overwrites it after. It implements catalog.Secrets: the broker sees to it that a
// tool gets only what its descriptor declares. Where the values lie is a [Store]:
// the environment ([Env]), a file ([OpenFile]), SQLite or PostgreSQL ([OpenSQLite],
// [OpenPostgres]), each of which [Open] opens by its [Location]; a vault asks its stores
// in order. What a [Renew] makes of an expired or refused value it stores where the old
// one lay.
//
// A secret belongs to the application, a tenant, a user of a tenant or a connection
// of a tenant; see [Key]. Tenant and user come from the thread, never from a model.
//
// The [Redactor] takes values in use out of whatever leaves a worker. It looks for
// the exact values: plain, in base64 at any alignment, in hex, and within texts
// that are percent-encoded, JSON- or HTML-escaped or broken into lines, also one
// inside the other. A value that was cut in two is found where a text begins or ends
// with the larger piece, or says behind a colon what begins with it. What merely looks like a secret stays as it is. Three things
// it cannot do: a value of under [MinLength] bytes is not looked for, as it would
// be found in words that it has nothing to do with; one that was cut in three or more,
// or enciphered, cannot be told from other text.
//
// [NewHandler] wraps a log handler so that no value is logged.
package secrets
