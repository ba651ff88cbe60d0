package mcp

import "syscall"

// ownGroup gives a process a group of its own. The kernel ends it with this one.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
