//go:build !cgo

package threads

// sandboxMode is how workers run snippets.
const sandboxMode = "hardened"
