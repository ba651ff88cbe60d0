package child

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// roleEnv makes the test binary play the child in these tests.
const roleEnv = "CHILD_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "":
		os.Exit(m.Run())
	case "polite": // ends when it is asked to
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		fmt.Println("ready", os.Args[1:], os.Getenv("EXTRA"))
		<-ctx.Done()
		fmt.Println("bye")
	case "stubborn": // does not
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		time.Sleep(time.Hour) // select would be found out to be a deadlock
	case "brief": // ends by itself
		fmt.Println("done")
		os.Exit(3)
	case "server": // finds a port taken
		file, err := os.OpenFile(os.Getenv("EXTRA"), os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = file.WriteString("started\n")
		}
		fmt.Println("port in use", err)
		os.Exit(1)
	case "parent": // starts a stubborn child and is killed
		var log Log
		p, err := Start(Command{Path: os.Args[0], Env: []string{roleEnv + "=stubborn"}, Output: &log})
		if err == nil {
			err = log.Wait(context.Background(), p, "ready")
		}
		if err != nil {
			fmt.Println("failed", err)
			os.Exit(1)
		}
		fmt.Println("child", p.PID())
		time.Sleep(time.Hour)
	}
}

func start(t *testing.T, role string, args ...string) (*Process, *Log) {
	t.Helper()
	log := &Log{}
	p, err := Start(Command{Path: os.Args[0], Args: args, Env: []string{roleEnv + "=" + role, "EXTRA=more"}, Output: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p, log
}

func await(t *testing.T, p *Process, log *Log, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	if err := log.Wait(ctx, p, text); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
}

func TestStopLetsAProcessEnd(t *testing.T) {
	p, log := start(t, "polite", "one", "two")
	await(t, p, log, "ready [one two] more")
	if err := p.Stop(time.Minute); err != nil {
		t.Errorf("Stop: %v", err)
	}
	if !strings.Contains(log.String(), "bye") {
		t.Errorf("the process was not let to its end; it printed %q", log)
	}
	if err := p.Stop(time.Minute); err != nil {
		t.Errorf("Stop of a process that has ended: %v", err)
	}
}

func TestStopKillsAProcessThatDoesNotEnd(t *testing.T) {
	p, log := start(t, "stubborn")
	await(t, p, log, "ready")
	if err := p.Stop(50 * time.Millisecond); err == nil || !strings.Contains(err.Error(), "was killed") {
		t.Errorf("Stop: %v, want that it was killed", err)
	}
	if gone(p.PID()) != nil {
		t.Errorf("process %d is still there", p.PID())
	}
}

func TestWaitTellsAnEndFromAText(t *testing.T) {
	p, log := start(t, "brief")
	await(t, p, log, "done")
	err := log.Wait(context.Background(), p, "something else")
	if err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("Wait: %v, want how the process ended", err)
	}
	var exit *exec.ExitError
	if !errors.As(p.Err(), &exit) || exit.ExitCode() != 3 {
		t.Errorf("Err: %v, want exit status 3", p.Err())
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	p, log := start(t, "stubborn")
	await(t, p, log, "ready")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := log.Wait(ctx, p, "never"); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait: %v, want the context's error", err)
	}
}

func TestStartSaysWhatCannotBeStarted(t *testing.T) {
	_, err := Start(Command{Path: "/no/such/program"})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "/no/such/program") {
		t.Errorf("Start: %v, want the path and that it does not exist", err)
	}
}

func TestServerIsStartedAgain(t *testing.T) {
	starts := filepath.Join(t.TempDir(), "starts")
	if err := os.WriteFile(starts, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(roleEnv, "server")
	t.Setenv("EXTRA", starts)
	var log Log
	_, err := StartTemporal(t.Context(), TemporalOptions{Path: os.Args[0], Output: &log})
	if err == nil || !strings.Contains(err.Error(), "ended before it was ready: exit status 1") {
		t.Errorf("StartTemporal: %v", err)
	}
	if text, err := os.ReadFile(starts); string(text) != strings.Repeat("started\n", startTries) {
		t.Errorf("it was %q, %v", text, err)
	}
}

func TestAChildDiesWithItsParent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends a child whose parent was killed")
	}
	parent, log := start(t, "parent")
	await(t, parent, log, "child ")
	pid, err := strconv.Atoi(strings.Fields(log.String())[1])
	if err != nil {
		t.Fatalf("parent printed %q", log)
	}
	parent.Kill()
	deadline := time.Now().Add(time.Minute)
	for gone(pid) != nil {
		if time.Now().After(deadline) {
			t.Fatalf("process %d has outlived its parent: %v", pid, gone(pid))
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// gone returns nil if there is no process of the id, or only what is left of one
// that nobody has waited for.
func gone(pid int) error {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return nil
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil || strings.Contains(string(stat), ") Z ") {
		return nil
	}
	return errors.New(strings.TrimSpace(string(stat)))
}

func TestLogKeepsTheEnd(t *testing.T) {
	var log Log
	for range 3 {
		if n, err := log.Write(make([]byte, maxLog/2)); n != maxLog/2 || err != nil {
			t.Fatalf("Write: %d, %v", n, err)
		}
	}
	_, _ = log.Write([]byte("the end"))
	if got := log.String(); len(got) != maxLog || !strings.HasSuffix(got, "the end") {
		t.Errorf("the log holds %d bytes ending in %q, want %d ending in the last write", len(got), got[len(got)-7:], maxLog)
	}
	log.Clear()
	if got := log.String(); got != "" {
		t.Errorf("after Clear it holds %q", got)
	}
}

func TestFreePortsDiffer(t *testing.T) {
	ports, err := FreePorts(20)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, port := range ports {
		if seen[port] {
			t.Errorf("port %s twice in %v", port, ports)
		}
		seen[port] = true
	}
}

func TestFindTemporal(t *testing.T) {
	t.Setenv(TemporalEnv, os.Args[0])
	if path, err := FindTemporal(); err != nil || path != os.Args[0] {
		t.Errorf("FindTemporal = %q, %v; want what %s names", path, err, TemporalEnv)
	}
	t.Setenv(TemporalEnv, "")
	t.Setenv("PATH", t.TempDir())
	if _, err := FindTemporal(); err == nil || !strings.Contains(err.Error(), TemporalEnv) {
		t.Errorf("FindTemporal: %v, want what to set", err)
	}
}
