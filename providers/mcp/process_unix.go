//go:build unix

package mcp

import (
	"os"
	"syscall"
)

// killGroup ends a process and all that it has started.
func killGroup(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL) // the group may be gone, which is as good
}
