// Package blobs is the content-addressed store that all workers of a fleet
// share: values that are too long for a thread's history live here, and the
// history holds a reference of a hundred bytes.
//
// [Open] takes a folder or the URL of a bucket. [Store.Put] writes a value under
// its SHA-256 sum, [Store.Get] reads it back and checks that it is the one that
// was written. Values are never changed and never deleted.
package blobs
