package durability

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heddle-dev/heddle"
)

// targetEnv names the target to the worker.
const targetEnv = "HEDDLE_TEST_TARGET"

// target is what writes of several threads work on. It notes their order and which
// of them overlap.
type target struct {
	server *httptest.Server

	mu sync.Mutex
	// began are the writes in the order in which they came, by the workers' process
	// ids those that brought them.
	began []string
	by    map[string]string
	// busy counts the writes that are under way, by resource.
	busy     map[string]int
	overlaps []string
	gates    map[string]chan struct{}
}

func newTarget(t *testing.T) *target {
	target := &target{by: map[string]string{}, busy: map[string]int{}, gates: map[string]chan struct{}{}}
	target.server = httptest.NewServer(http.HandlerFunc(target.serve))
	t.Cleanup(target.server.Close)
	return target
}

// gate has the write of a name wait at the target until the gate is opened, or its
// caller is gone.
func (g *target) gate(name string) (open func()) {
	gate := make(chan struct{})
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gates[name] = gate
	return sync.OnceFunc(func() { close(gate) })
}

func (g *target) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.by[r.FormValue("name")] == "" {
			w.WriteHeader(http.StatusNotFound)
		}
		return
	}
	resource, name := r.FormValue("resource"), r.FormValue("name")
	gate := g.enter(resource, name, r.FormValue("pid"))
	select {
	case <-gate:
	case <-r.Context().Done():
	}
	time.Sleep(2 * time.Millisecond) // time to overlap in
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy[resource]--
}

func (g *target) enter(resource, name, pid string) <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.began = append(g.began, name)
	g.by[name] = pid
	if g.busy[resource]++; g.busy[resource] > 1 {
		g.overlaps = append(g.overlaps, name)
	}
	if gate, ok := g.gates[name]; ok {
		return gate
	}
	open := make(chan struct{})
	close(open)
	return open
}

// order is the names of the writes in the order in which they came.
func (g *target) order() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return strings.Join(g.began, " ")
}

// worker waits until a write has come, and returns the process id of its worker.
func (g *target) worker(t *testing.T, name string) string {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		g.mu.Lock()
		pid, ok := g.by[name]
		g.mu.Unlock()
		if ok {
			return pid
		}
	}
	t.Fatalf("the target never got %s", name)
	return ""
}

// apart fails the test if writes to one resource overlapped.
func (g *target) apart(t *testing.T) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.overlaps) > 0 {
		t.Errorf("writes that began while another was under way: %v", g.overlaps)
	}
}

// writeToTarget writes to the target what stands after the resource: RESOURCE.NAME.
func writeToTarget(ctx context.Context, in in) (out, error) {
	url := fmt.Sprintf("%s/?resource=%s&name=%s&pid=%d", os.Getenv(targetEnv), resourceOf(in), in.Name, os.Getpid())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
	if err != nil {
		return out{}, err
	}
	reply, err := http.DefaultClient.Do(req)
	if err != nil {
		return out{}, err
	}
	return out{in.Name}, reply.Body.Close()
}

// askTarget finds out whether the target got a write.
func askTarget(ctx context.Context, _ string, in in) (heddle.Reconciled, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, os.Getenv(targetEnv)+"/?name="+in.Name, nil)
	if err != nil {
		return heddle.Reconciled{}, err
	}
	reply, err := http.DefaultClient.Do(req)
	if err != nil {
		return heddle.Reconciled{}, err
	}
	if reply.StatusCode == http.StatusOK {
		return heddle.Applied(out{in.Name + " (asked)"}), reply.Body.Close()
	}
	return heddle.NeverApplied(), reply.Body.Close()
}

func resourceOf(in in) string {
	resource, _, _ := strings.Cut(in.Name, ".")
	return resource
}
