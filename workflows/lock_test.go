package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/signals/contract"
	"github.com/heddle-dev/heddle/workflows"
)

// lockHarness runs the lock of order/1 in Temporal's test environment.
type lockHarness struct {
	*testsuite.TestWorkflowEnvironment
	t *testing.T
	// holds is what is known of the owners whose lease ended, and asked who they were.
	holds func(contract.LockOwner) (bool, error)
	asked []string
	// told are the notices to threads, as thread:status; gone are threads that have
	// ended.
	told []string
	gone map[string]bool
	mu   sync.Mutex // the environment tells threads from goroutines of their own
}

func newLockHarness(t *testing.T) *lockHarness {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	h := &lockHarness{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment(), t: t, gone: map[string]bool{}}
	h.RegisterWorkflowWithOptions(workflows.Lock, workflow.RegisterOptions{Name: contract.LockType})
	h.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: contract.LockID("acme", "order/1")})
	h.SetTestTimeout(2 * time.Minute)
	h.SetWorkerOptions(patient)
	var a *activities.Activities
	h.RegisterActivity(a)
	h.OnActivity(a.Holds, mock.Anything, mock.Anything).Return(func(_ context.Context, o contract.LockOwner) (bool, error) {
		h.mu.Lock()
		h.asked = append(h.asked, o.Thread)
		h.mu.Unlock()
		return h.holds(o)
	}).Maybe()
	h.OnSignalExternalWorkflow(mock.Anything, mock.Anything, mock.Anything, contract.SignalLock, mock.Anything).Return(
		func(_, id, _, _ string, arg any) error {
			notice := arg.(contract.LockNotice)
			thread := strings.TrimPrefix(id, "thread/acme/")
			if h.gone[thread] {
				return errors.New("the thread has ended")
			}
			if notice.Key != keyOf(thread) || notice.Resource != "order/1" {
				t.Errorf("thread %s was told %+v", thread, notice)
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			h.told = append(h.told, thread+":"+string(notice.Status))
			return nil
		}).Maybe()
	return h
}

func keyOf(thread string) string { return "key-" + thread }

func ownerOf(thread string) contract.LockOwner {
	return contract.LockOwner{
		Key: keyOf(thread), ThreadRef: contract.ThreadRef{Tenant: "acme", Thread: thread}, Call: "t1-s1-c1", Tool: "orders.refund",
	}
}

// acquire asks for the lock and checks the answer, as status or status:holder:ahead.
func (h *lockHarness) acquire(thread, want string) {
	h.t.Helper()
	h.UpdateWorkflow(contract.UpdateAcquire, "", &testsuite.TestUpdateCallback{
		OnAccept: func() {},
		OnReject: func(err error) { h.t.Errorf("%s is refused: %v", thread, err) },
		OnComplete: func(answered any, err error) {
			answer, _ := answered.(contract.LockAnswer)
			got := string(answer.Status)
			if answer.Lock != nil {
				got += fmt.Sprintf(":%s:%d", strings.TrimPrefix(answer.Lock.Holder, "acme/"), answer.Lock.Ahead)
			}
			if got != want || err != nil {
				h.t.Errorf("%s is answered %s, %v; want %s", thread, got, err, want)
			}
		},
	}, ownerOf(thread))
}

// later is so long that a notice is told meanwhile on any machine, since the
// environment's clock goes on as others do until it is; and a lease lasts longer.
const later = 9 * time.Second

func (h *lockHarness) at(d time.Duration, do func()) { h.RegisterDelayedCallback(do, d) }

func (h *lockHarness) run(tell string) {
	h.t.Helper()
	h.ExecuteWorkflow(contract.LockType, activities.LockInput{Tenant: "acme", Resource: "order/1"})
	if err := h.GetWorkflowError(); err != nil || !h.IsWorkflowCompleted() {
		h.t.Errorf("the lock ends with %v", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	want := strings.Fields(tell) // of those told at once the order is not known
	slices.Sort(want)
	if told := slices.Sorted(slices.Values(h.told)); !slices.Equal(told, want) {
		h.t.Errorf("told %q, want %q", told, want)
	}
}

func TestLockIsGivenInOrder(t *testing.T) {
	h := newLockHarness(t)
	h.at(0, func() { h.acquire("a", "granted") })
	h.at(later, func() {
		h.acquire("b", "waiting:a:0")
		h.acquire("c", "waiting:a:1")
		h.acquire("b", "waiting:a:0") // who asks again keeps its place
		h.acquire("d", "waiting:a:2")
		h.acquire("a", "granted")
	})
	h.at(2*later, func() { h.SignalWorkflow(contract.SignalRelease, ownerOf("c")) }) // leaves the queue
	h.at(3*later, func() { h.SignalWorkflow(contract.SignalRelease, ownerOf("a")) })
	h.at(4*later, func() {
		h.acquire("b", "granted")
		h.acquire("d", "waiting:b:0")
		h.SignalWorkflow(contract.SignalRelease, ownerOf("a")) // is nobody now
	})
	h.at(5*later, func() { h.SignalWorkflow(contract.SignalRelease, ownerOf("b")) })
	h.at(6*later, func() { h.SignalWorkflow(contract.SignalRelease, ownerOf("d")) })
	h.run("b:granted d:granted")
}

// A thread that has ended is passed over.
func TestLockPassesOverThreadsThatHaveEnded(t *testing.T) {
	h := newLockHarness(t)
	h.gone["b"] = true
	h.at(0, func() { h.acquire("a", "granted") })
	h.at(later, func() { h.acquire("b", "waiting:a:0"); h.acquire("c", "waiting:a:1") })
	h.at(2*later, func() { h.SignalWorkflow(contract.SignalRelease, ownerOf("a")) })
	h.at(3*later, func() { h.SignalWorkflow(contract.SignalRelease, ownerOf("c")) })
	h.run("c:granted")
}

// An owner that does not release the lock is asked after when its lease ends, and
// keeps it for as long as it needs it.
func TestLockAsksAfterItsOwner(t *testing.T) {
	h := newLockHarness(t)
	asked := 0
	h.holds = func(o contract.LockOwner) (bool, error) {
		asked++
		return o.Thread == "b" || asked < 3, nil
	}
	h.at(0, func() { h.acquire("a", "granted") })
	h.at(later, func() { h.acquire("b", "waiting:a:0") })
	h.at(contract.LockLease+2*time.Second, func() { h.acquire("b", "waiting:a:0") })
	h.at(10*time.Minute, func() { h.SignalWorkflow(contract.SignalRelease, ownerOf("b")) })
	h.run("b:granted")
	if got := strings.Join(h.asked, " "); !strings.HasPrefix(got, "a a a b") {
		t.Errorf("asked after %s", got)
	}
}

// While nobody can say whether an owner needs the lock, it keeps it.
func TestLockIsKeptWhileItsOwnerCannotBeAskedAfter(t *testing.T) {
	h := newLockHarness(t)
	h.holds = func(contract.LockOwner) (bool, error) { return false, errors.New("no answer") }
	h.at(0, func() { h.acquire("a", "granted") })
	h.at(3*time.Minute, func() { h.acquire("b", "waiting:a:0") })
	h.at(3*time.Minute+later, func() { h.SignalWorkflow(contract.SignalRelease, ownerOf("a")) })
	h.at(3*time.Minute+2*later, func() { h.SignalWorkflow(contract.SignalRelease, ownerOf("b")) })
	h.run("b:granted")
}

// While nobody knows whether the owner's write was applied, others are refused.
func TestHeldLockRefusesOthers(t *testing.T) {
	h := newLockHarness(t)
	h.holds = func(contract.LockOwner) (bool, error) { return true, nil }
	h.at(0, func() { h.acquire("a", "granted") })
	h.at(later, func() { h.acquire("b", "waiting:a:0"); h.acquire("c", "waiting:a:1") })
	h.at(2*later, func() { h.SignalWorkflow(contract.SignalHold, ownerOf("b")) }) // has nothing to hold
	h.at(3*later, func() { h.SignalWorkflow(contract.SignalHold, ownerOf("a")) })
	h.at(time.Hour, func() { h.acquire("d", "refused:a:0"); h.acquire("a", "granted") })
	h.at(2*time.Hour, func() { h.SignalWorkflow(contract.SignalRelease, ownerOf("a")) })
	h.at(2*time.Hour+later, func() { h.acquire("d", "granted") })
	h.at(2*time.Hour+2*later, func() { h.SignalWorkflow(contract.SignalRelease, ownerOf("d")) })
	h.run("b:refused c:refused")
}

func TestLockRefusesWhatCannotBeRight(t *testing.T) {
	for name, spoil := range map[string]func(*contract.LockOwner){
		"key":    func(o *contract.LockOwner) { o.Key = "" },
		"tenant": func(o *contract.LockOwner) { o.Tenant = "other" },
		"thread": func(o *contract.LockOwner) { o.Thread = "a/b" },
		"call":   func(o *contract.LockOwner) { o.Call = strings.Repeat("x", 300) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newLockHarness(t)
			owner := ownerOf("a")
			spoil(&owner)
			refused := false
			h.at(0, func() {
				h.UpdateWorkflow(contract.UpdateAcquire, "", &testsuite.TestUpdateCallback{
					OnAccept:   func() { t.Error("it is taken") },
					OnReject:   func(err error) { refused = strings.Contains(err.Error(), name+":") },
					OnComplete: func(any, error) {},
				}, owner)
				h.SignalWorkflow(contract.SignalRelease, "nonsense")
				h.SignalWorkflow(contract.SignalHold, owner)
			})
			h.run("")
			if !refused {
				t.Errorf("it is not refused for its %s", name)
			}
		})
	}
}

// A lock that nobody wants ends by itself.
func TestIdleLockEnds(t *testing.T) {
	h := newLockHarness(t)
	began := h.Now()
	h.at(0, func() { h.acquire("a", "granted") })
	h.at(time.Second, func() { h.SignalWorkflow(contract.SignalRelease, ownerOf("a")) })
	h.run("")
	if took := h.Now().Sub(began); took > time.Minute {
		t.Errorf("the lock ends after %s", took)
	}
}
