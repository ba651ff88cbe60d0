package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/codemode/engine"
	"github.com/heddle-dev/heddle/codemode/internal/wire"
	"github.com/heddle-dev/heddle/codemode/snippet"
)

// visit runs a snippet for a tenant and returns the process that ran it.
func visit(t *testing.T, e *engine.Engine, tenant, source string) int {
	t.Helper()
	p := program(source)
	p.Tenant = tenant
	x, _, err := e.Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	return x.PID()
}

func TestChildrenServeOneTenantOnly(t *testing.T) {
	e := newEngine(t, engine.Options{Concurrency: 4})
	owner := map[int]string{}
	processes := map[string]map[int]bool{"a": {}, "b": {}, "c": {}}
	for _, tenant := range strings.Split("a a b a c b a c c b a b", " ") {
		pid := visit(t, e, tenant, "return 1")
		if before, known := owner[pid]; known && before != tenant {
			t.Fatalf("process %d ran a snippet of %s, then one of %s", pid, before, tenant)
		}
		owner[pid] = tenant
		processes[tenant][pid] = true
	}
	for tenant, pids := range processes {
		if len(pids) != 1 {
			t.Errorf("tenant %s was served by %d processes one after another, want one used again", tenant, len(pids))
		}
	}
}

func TestNothingOfASnippetIsLeftForTheNext(t *testing.T) {
	e := newEngine(t, engine.Options{})
	leave := `(globalThis as any).secret = 1; (Object.prototype as any).isAdmin = true; (Array.prototype as any).map = () => "mine"; (tools as any).x = 1`
	if first, second := visit(t, e, "a", "try { "+leave+" } catch {}"), visit(t, e, "a", "return 1"); first != second {
		t.Fatalf("processes %d and %d, want one used again", first, second)
	}
	end, _, _ := play(t, e, program(`return [(globalThis as any).secret, ({} as any).isAdmin, [1].map((x) => x), Object.keys(tools).length]`), echo)
	if string(end.Result) != `[null,null,[1],5]` {
		t.Errorf("the next snippet sees %s", end.Result)
	}
}

func TestChildrenAreReplaced(t *testing.T) {
	e := newEngine(t, engine.Options{Reuse: 3})
	var pids []int
	for range 6 {
		pids = append(pids, visit(t, e, "a", "return 1"))
	}
	if pids[0] != pids[2] || pids[2] == pids[3] || pids[3] != pids[5] {
		t.Errorf("processes %v, want a new one after three snippets", pids)
	}
	grown := newEngine(t, engine.Options{})
	first := visit(t, grown, "a", `const a = []; for (let i = 0; i < 12; i++) a.push(new Uint8Array(1e7).fill(1)); return a.length`)
	if second := visit(t, grown, "a", "return 1"); first == second {
		t.Error("a process that had grown large was used again")
	}
}

func TestConcurrencyIsBounded(t *testing.T) {
	e := newEngine(t, engine.Options{Concurrency: 2})
	one, two := start(t, e, program("await orders.get({})")), start(t, e, program("await orders.get({})"))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := e.Start(ctx, program("return 3")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a third execution: %v, want it to wait", err)
	}
	third := make(chan error)
	go func() {
		x, _, err := e.Start(t.Context(), program("return 3"))
		if err == nil {
			x.Close()
		}
		third <- err
	}()
	one.x.Close()
	if err := <-third; err != nil {
		t.Errorf("after one was closed: %v", err)
	}
	two.give(1, "1")
}

func TestAHundredAtOnce(t *testing.T) {
	e := newEngine(t, engine.Options{Concurrency: 4})
	var group sync.WaitGroup
	problems := make(chan string, 100)
	for n := range 100 {
		group.Go(func() {
			p := program(fmt.Sprintf("const r: any = await orders.get({ n: %d }); return (await orders.get({ n: r.n + 1 }) as any).n", n))
			p.Tenant = fmt.Sprintf("tenant-%d", n%3)
			end, _, _ := play(t, e, p, echo)
			if want := fmt.Sprint(n + 1); end.Error != nil || string(end.Result) != want {
				problems <- fmt.Sprintf("snippet %d gave %s, %v", n, end.Result, end.Error)
			}
		})
	}
	group.Wait()
	close(problems)
	for problem := range problems {
		t.Error(problem)
	}
	// As many idle as may run, one warm, and those on their way out.
	waitFor(t, "children to go", func() bool { return len(e.Children()) <= 4+1 })
}

func TestAChildThatIsKilledIsACrash(t *testing.T) {
	e := newEngine(t, engine.Options{})
	s := start(t, e, program("await orders.get({}); for (let i = 0; i < 1e9; i++);"))
	if err := syscall.Kill(s.x.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.give(1, "1")
	if problem := s.step.End.Error; problem == nil || problem.Code != snippet.CodeCrashed || !problem.Retryable {
		t.Errorf("error = %+v, want a crash that may be tried again", problem)
	}
	if _, err := s.x.Deliver(t.Context(), snippet.Delivery{Call: 1, At: epoch}); !errors.Is(err, engine.ErrEnded) {
		t.Errorf("after the crash: %v, want ErrEnded", err)
	}
	s.x.Close()
	end, _, _ := play(t, e, program("return 1"), echo)
	if string(end.Result) != "1" {
		t.Errorf("the next snippet ended with %+v", end)
	}
}

// A child that is killed over a limit while its last reply is on the way does not run
// the next snippet.
func TestAChildThatWasKilledIsNotUsedAgain(t *testing.T) {
	e := newEngine(t, engine.Options{Concurrency: 1})
	for range 20 {
		s := start(t, e, program("return 1"))
		s.x.Kill(snippet.CodeCPU)
		s.x.Close()
		if end, _, _ := play(t, e, program("return 2"), echo); end.Error != nil || string(end.Result) != "2" {
			t.Fatalf("the next snippet ended with %s, %v", end.Result, end.Error)
		}
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	e := newEngine(t, engine.Options{Warm: 2})
	waitFor(t, "two warm children", func() bool { return len(e.Children()) == 2 })
	var open []*script
	for range 3 {
		open = append(open, start(t, e, program("await orders.get({})")))
	}
	stuck := make(chan error)
	go func() {
		x, _, err := e.Start(t.Context(), program("for (;;) {}"))
		if err == nil {
			x.Close()
		}
		stuck <- err
	}()
	pids := e.Children()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	<-stuck
	for _, pid := range append(pids, e.Children()...) {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d is still there: %v", pid, err)
		}
	}
	for _, s := range open {
		s.x.Close()
	}
	if _, _, err := e.Start(t.Context(), program("return 1")); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("start after close: %v, want ErrClosed", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	waitFor(t, "goroutines to end", func() bool { return runtime.NumGoroutine() <= goroutines+1 })
}

func TestFailsClosed(t *testing.T) {
	for name, tt := range map[string]struct {
		command []string
		want    string
	}{
		"not a sandbox":    {[]string{"/bin/false"}, "does main call sandbox.ChildMain first?"},
		"no such program":  {[]string{"/nonexistent/program"}, "start sandbox"},
		"not locked in":    {[]string{os.Args[0], fakeChild, "no landlock"}, "snippets cannot run safely here: no landlock"},
		"of another build": {[]string{os.Args[0], fakeChild, ""}, "of another version"},
	} {
		t.Run(name, func(t *testing.T) {
			if e, err := engine.New(engine.Options{Command: tt.command}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q in it", err, tt.want)
				_ = e
			}
		})
	}
	e, err := engine.New(engine.Options{Command: []string{os.Args[0], fakeChild, "no landlock"}, AllowUnhardened: true})
	if err != nil {
		t.Fatalf("with AllowUnhardened: %v", err)
	}
	_ = e.Close()
}

func TestRefusesOptionsThatMakeNoSense(t *testing.T) {
	for want, options := range map[string]engine.Options{
		"option Concurrency is -1":    {Concurrency: -1},
		"option Warm is -1":           {Warm: -1},
		"option limits.wall is -1":    {Limits: snippet.Limits{Wall: -1}},
		"option Limits.Memory is 100": {Limits: snippet.Limits{Memory: 100}},
	} {
		if _, err := engine.New(options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want %q in it", err, want)
		}
	}
}

// TestAChildDiesWithItsParent closes the pipes that a parent's death would close,
// while the child is busy.
func TestAChildDiesWithItsParent(t *testing.T) {
	command := slices.Concat(childCommand, []string{wire.ChildArg, `{"data":268435456,"cpuSeconds":60}`})
	if len(childCommand) == 0 {
		command = append([]string{os.Args[0]}, command...)
	}
	cmd := exec.Command(command[0], command[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	theirs, interrupts, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.ExtraFiles = []*os.File{theirs}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	var ready wire.Reply
	if err := wire.Read(out, &ready); err != nil {
		t.Fatal(err)
	}
	p := program("for (;;) {}")
	if err := wire.Write(in, wire.Request{Start: &p}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the child to be busy", func() bool { return processTime(t, cmd.Process.Pid) > 100*time.Millisecond })
	_, _ = in.Close(), interrupts.Close()
	died := make(chan error, 1)
	go func() { died <- cmd.Wait() }()
	select {
	case err := <-died:
		if err != nil {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(3 * time.Minute):
		_ = cmd.Process.Kill()
		t.Error("it lives on")
	}
}

// waitFor waits until something outside this process is so.
func waitFor(t *testing.T, what string, so func() bool) {
	t.Helper()
	deadline := time.Now().Add(3 * time.Minute)
	for !so() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
