//go:build !cgo

package durability

// sandboxMode is how workers run snippets.
const sandboxMode = "hardened"
