//go:build !cgo

package main

// sandboxMode is how workers run snippets.
const sandboxMode = "hardened"
