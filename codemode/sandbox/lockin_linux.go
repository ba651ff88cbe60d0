//go:build linux && !cgo

package sandbox

import (
	"fmt"
	"os"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/landlock-lsm/go-landlock/landlock"
	landlocksys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/heddle-dev/heddle/codemode/internal/wire"
)

// lockInProcess limits memory and processor time and gives up files, network and
// all system calls but those of the Go runtime. The order matters: what comes
// last forbids the rest.
func lockInProcess(setup wire.Setup) (missing []string) {
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"limits of memory and processor time (setrlimit)", func() error { return setLimits(setup) }},
		{"no files and no network (landlock)", restrictFiles},
		{"no system calls (seccomp)", restrictSystemCalls},
	} {
		if err := step.do(); err != nil {
			missing = append(missing, fmt.Sprintf("%s: %v", step.what, err))
		}
	}
	return missing
}

func setLimits(setup wire.Setup) error {
	for _, limit := range []struct {
		resource int
		value    uint64
	}{
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_FSIZE, 0},
		{unix.RLIMIT_DATA, setup.Data},
		{unix.RLIMIT_CPU, setup.CPUSeconds}, // hard as soft, so that the kernel kills at once
	} {
		if err := unix.Setrlimit(limit.resource, &unix.Rlimit{Cur: limit.value, Max: limit.value}); err != nil {
			return err
		}
	}
	return nil
}

func restrictFiles() error {
	// On a kernel without landlock the best effort is none, and no error.
	if version, err := landlocksys.LandlockGetABIVersion(); err != nil || version < 1 {
		return fmt.Errorf("the kernel has it not: %w", err)
	}
	return landlock.V6.BestEffort().Restrict()
}

// restrictSystemCalls allows what the Go runtime takes to run goroutines on
// memory and two pipes. Anything else fails, and what no accident would lead to
// kills the process.
func restrictSystemCalls() error {
	info, err := arch.GetInfo("")
	if err != nil {
		return err
	}
	known := func(names []string) []string {
		var those []string
		for _, name := range names {
			if _, ok := info.SyscallNames[name]; ok {
				those = append(those, name)
			}
		}
		return those
	}
	noCode := seccomp.ArgumentConditions{{Argument: 2, Operation: seccomp.BitsNotSet, Value: unix.PROT_EXEC}}
	thread := seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.BitsSet, Value: unix.CLONE_THREAD | unix.CLONE_VM}}
	self := seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.Equal, Value: uint64(os.Getpid())}} //nolint:gosec // positive
	return seccomp.LoadFilter(seccomp.Filter{
		NoNewPrivs: true,
		Flag:       seccomp.FilterFlagTSync,
		Policy: seccomp.Policy{
			DefaultAction: seccomp.ActionErrno,
			Syscalls: []seccomp.SyscallGroup{
				{Action: seccomp.ActionKillProcess, Names: known(fatalCalls)},
				{
					Action: seccomp.ActionAllow, Names: known(runtimeCalls),
					NamesWithCondtions: []seccomp.NameWithConditions{
						{Name: "mmap", Conditions: noCode},
						{Name: "mprotect", Conditions: noCode},
						{Name: "clone", Conditions: thread},
						{Name: "tgkill", Conditions: self},
					},
				},
			},
		},
	})
}

var runtimeCalls = []string{
	"read", "write", "close", "fcntl", "pipe2", "eventfd2",
	"epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2",
	"munmap", "madvise", "mincore",
	"futex", "nanosleep", "clock_nanosleep", "clock_gettime", "gettimeofday", "sched_yield", "sched_getaffinity",
	"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall",
	"getpid", "gettid", "getrandom", "set_robust_list", "rseq", "exit", "exit_group",
}

var fatalCalls = []string{
	"execve", "execveat", "fork", "vfork", "ptrace", "process_vm_readv", "process_vm_writev",
	"socket", "socketpair", "connect", "bind", "listen", "accept", "accept4",
	"mount", "umount2", "pivot_root", "chroot", "unshare", "setns",
	"init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "bpf", "perf_event_open",
	"keyctl", "add_key", "request_key", "userfaultfd", "io_uring_setup", "open_by_handle_at",
}
