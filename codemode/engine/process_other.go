//go:build !linux

package engine

import (
	"os"
	"syscall"
)

// ownProgram is this program.
func ownProgram() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

func childAttributes() *syscall.SysProcAttr { return nil }

// usageOf knows nothing here: only the time that a step takes is limited.
func usageOf(int) (usage, bool) { return usage{}, false }
