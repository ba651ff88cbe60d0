//go:build !linux

package engine

import (
	"os"
	"syscall"
	"time"
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

// usageOf and cpuOf know nothing here: only the time that a step takes is limited.
func usageOf(int) (usage, bool) { return usage{}, false }

func cpuOf(int) (time.Duration, bool) { return 0, false }
