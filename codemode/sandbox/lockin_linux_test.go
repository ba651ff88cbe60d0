package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/heddle-dev/heddle/codemode/internal/wire"
)

// insideEnv names the probe that a process of this test is to make once it has
// locked itself in.
const insideEnv = "HEDDLE_SANDBOX_PROBE"

// parentEnv carries the id of the process that the probes try to reach.
const parentEnv = "HEDDLE_SANDBOX_PARENT"

// probes try what a snippet that had taken over its process would. Each tells
// what it got.
var probes = map[string]func(parent int) error{
	"open a file":          func(int) error { _, err := os.Open("/etc/passwd"); return err },
	"create a file":        func(int) error { return os.WriteFile("/tmp/heddle-probe", []byte("x"), 0o600) },
	"list a folder":        func(int) error { _, err := os.ReadDir("/"); return err },
	"the parent's secrets": func(parent int) error { _, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", parent)); return err },
	"signal the parent":    func(parent int) error { return syscall.Kill(parent, syscall.SIGUSR1) },
	"signal its threads":   func(parent int) error { return unix.Tgkill(parent, parent, unix.SIGUSR1) },
	"raise a limit":        func(int) error { return unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: 1 << 40, Max: 1 << 40}) },
	"executable memory": func(int) error {
		_, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_ANON|unix.MAP_PRIVATE)
		return err
	},
	"fork": func(int) error {
		_, _, e := syscall.RawSyscall(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0)
		return errnoError(e)
	},
	"a socket":              func(int) error { _, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0); return err },
	"a local socket":        func(int) error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err },
	"run a program":         func(int) error { return syscall.Exec("/bin/true", []string{"true"}, nil) },
	"trace the parent":      func(parent int) error { return syscall.PtraceAttach(parent) },
	"read the parent":       func(parent int) error { _, err := unix.ProcessVMReadv(parent, nil, nil, 0); return err },
	"mount":                 func(int) error { return unix.Mount("none", "/tmp", "tmpfs", 0, "") },
	"new namespaces":        func(int) error { return unix.Unshare(unix.CLONE_NEWUSER) },
	"too much memory":       func(int) error { b := make([]byte, 1<<30); b[1<<29] = 1; return nil },
	"too much stack":        func(int) error { return recurse(1 << 30) },
	"nothing (and survive)": func(int) error { return nil },
}

func errnoError(e syscall.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}

//go:noinline
func recurse(n int) error {
	var room [1 << 10]byte
	room[n%len(room)] = 1
	if n == 0 {
		return nil
	}
	return errors.Join(recurse(n-1), nil)
}

func TestMain(m *testing.M) {
	name := os.Getenv(insideEnv)
	if name == "" {
		os.Exit(m.Run())
	}
	parent, _ := strconv.Atoi(os.Getenv(parentEnv))
	debug.SetTraceback("none")
	said := map[string]any{"missing": lockIn(wire.Setup{Data: 256 << 20, CPUSeconds: 10})}
	if err := probes[name](parent); err != nil {
		said["refused"] = err.Error()
	}
	_ = json.NewEncoder(os.Stdout).Encode(said)
	os.Exit(0)
}

// TestALockedInProcessCanReachNothing locks a process in for each probe and sees
// that it is refused, or dies of it.
func TestALockedInProcessCanReachNothing(t *testing.T) {
	program := withoutCgo(t)
	for name := range probes {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(program)
			cmd.Env = []string{insideEnv + "=" + name, parentEnv + "=" + strconv.Itoa(os.Getpid())}
			var out, problems bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &problems
			err := cmd.Run()
			if name == "too much memory" || name == "too much stack" {
				if cmd.ProcessState.ExitCode() != 2 {
					t.Errorf("it ended with %v, want the runtime to give up: %s", err, out.String())
				}
				return
			}
			if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signal() == syscall.SIGSYS {
				return
			}
			var said struct {
				Missing []string
				Refused string
			}
			if err := json.Unmarshal(out.Bytes(), &said); err != nil {
				t.Fatalf("it said %q, %s, and ended with %v", out.String(), problems.String(), cmd.ProcessState)
			}
			if len(said.Missing) > 0 {
				t.Errorf("not in force: %v", said.Missing)
			}
			if (said.Refused == "") != (name == "nothing (and survive)") {
				t.Errorf("refused = %q", said.Refused)
			}
		})
	}
}

// withoutCgo gives this test as a program without cgo, which it is not under the
// race detector.
func withoutCgo(t *testing.T) string {
	t.Helper()
	if !usesCgo {
		return os.Args[0]
	}
	path := filepath.Join(t.TempDir(), "sandbox.test")
	build := exec.Command("go", "test", "-c", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build without cgo: %v\n%s", err, out)
	}
	return path
}
