//go:build !cgo

package leak

// sandboxMode is how workers run snippets.
const sandboxMode = "hardened"
