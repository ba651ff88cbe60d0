// Package audit keeps the audit log of a worker: one JSON value a line, each bound
// to the one before by its hash.
//
// A line holds a record and its hash:
//
//	{"hash":"9b1c…","record":{"seq":7,"prev":"4e07…","time":"…","entry":{…}}}
//
// The hash is SHA-256 over the bytes of the record as they stand there; prev is the
// hash of the line before, and empty in the first. Whoever changes, removes or
// inserts a line breaks the chain at that place, which [Verify] names. That lines are
// missing at the end cannot be seen from a file alone: note the last hash elsewhere
// from time to time, and have [Verify] look for it.
//
// Each worker process writes a file of its own: [Open] takes the first in its folder
// that no other process holds (audit-1.jsonl, audit-2.jsonl, …), so that one which
// starts again goes on where it or another has stopped. A last line that was torn by
// a crash is taken away, and the next says so.
package audit
