//go:build !cgo

package bench

// sandboxMode is how snippets run.
const sandboxMode = "hardened"
