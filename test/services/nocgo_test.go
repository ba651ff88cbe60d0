//go:build !cgo

package services

// sandboxMode is how workers run snippets.
const sandboxMode = "hardened"
