//go:build !naive

package activities

// WriteAttempts is how often Temporal carries out a write that was scheduled: once.
// Whether it is made again is decided by what is known of it.
const WriteAttempts = 1
