//go:build !unix

package mcp

import (
	"os"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr { return nil }

func killGroup(p *os.Process) {
	_ = p.Kill() // it may be gone, which is as good
}

func watch(int) (stop func()) { return func() {} }
