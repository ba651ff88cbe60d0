//go:build unix

package mcp

import (
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// killGroup ends a process and all that it has started.
func killGroup(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL) // the group may be gone, which is as good
}

// watch has a process end a group of processes when this one is gone, however that
// comes about: the kernel ends with it what it has started, and not what that has. The
// process waits on a pipe of which this one alone holds the other end. The watch is
// over once the returned function was called.
func watch(group int) (stop func()) {
	end, held, err := os.Pipe()
	if err != nil {
		slog.Warn("mcp: a server's processes may outlive this one", "error", err)
		return func() {}
	}
	cmd := exec.Command("/bin/sh", "-c", `read -r _; kill -KILL "-$1"`, "sh", strconv.Itoa(group))
	cmd.Env, cmd.Stdin, cmd.SysProcAttr = []string{}, end, &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Start()
	_ = end.Close()
	if err != nil {
		_ = held.Close()
		slog.Warn("mcp: a server's processes may outlive this one", "error", err)
		return func() {}
	}
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		_ = held.Close()
	}
}
