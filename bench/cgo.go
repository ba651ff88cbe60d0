//go:build cgo

package bench

// sandboxMode is how snippets run: a program that was built with cgo cannot lock
// their processes in.
const sandboxMode = "unhardened"
