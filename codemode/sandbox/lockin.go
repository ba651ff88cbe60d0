package sandbox

import (
	"runtime/debug"

	"github.com/heddle-dev/heddle/codemode/internal/wire"
)

const (
	// maxStack bounds the Go stack, on which parsers and native functions recurse.
	// Past it the process dies, which is better than to fill the memory.
	maxStack = 64 << 20
	// gcPercent lets garbage pile up: the heap of a snippet is small and short-lived.
	gcPercent = 400
)

// lockIn gives up everything that running a snippet does not take. It returns
// what could not be given up, for the parent to judge.
func lockIn(setup wire.Setup) (missing []string) {
	debug.SetMaxStack(maxStack)
	debug.SetGCPercent(gcPercent)
	// Collect hard before the kernel refuses memory, which nothing survives.
	debug.SetMemoryLimit(int64(setup.Data / 2)) //nolint:gosec // a few hundred megabytes
	return lockInProcess(setup)
}
