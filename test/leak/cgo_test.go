//go:build cgo

package leak

// sandboxMode is how workers run snippets: a program that was built with cgo, as the
// race detector needs, cannot lock their processes in.
const sandboxMode = "unhardened"
